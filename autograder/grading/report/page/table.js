"use strict";
{
  const table = document.getElementById("table");
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const headings = Array.from(table.tHead.rows[0].cells);
  const find = document.getElementById("find");
  const status = document.querySelector(".filter [role=status]");

  const value = (row, column) => {
    const cell = row.cells[column];
    const text = cell.dataset.value ?? cell.textContent.trim();
    const number = parseFloat(text);
    return column === 0 ? text : Number.isNaN(number) ? null : number;
  };
  const order = (column, direction) => (one, other) => {
    const [a, b] = [value(one, column), value(other, column)];
    if (a === null || b === null) return (a === null) - (b === null);
    return direction * (typeof a === "string" ? a.localeCompare(b, undefined, { numeric: true }) : a - b);
  };

  headings.forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const up = heading.getAttribute("aria-sort") !== "ascending";
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", up ? "ascending" : "descending");
      body.append(...rows.slice().sort(order(column, up ? 1 : -1)));
    });
  });

  const show = () => {
    const wanted = find.value.trim().toLowerCase();
    rows.forEach((row) => { row.hidden = !row.textContent.toLowerCase().includes(wanted); });
    status.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length}`;
  };
  find.addEventListener("input", show);
  window.addEventListener("hashchange", () => {
    if (document.querySelector("tr:target[hidden]")) {
      find.value = "";
      show();
      document.querySelector("tr:target").scrollIntoView();
    }
  });
  document.querySelector(".filter").hidden = false;
  show();
}
