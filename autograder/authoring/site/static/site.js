// What scrolls can be reached by the keyboard, as long as it scrolls.
function reach() {
    for (const part of document.querySelectorAll(".formula")) {
        if (part.scrollWidth > part.clientWidth) {
            part.tabIndex = 0;
        } else {
            part.removeAttribute("tabindex");
        }
    }
}

addEventListener("load", reach);
addEventListener("resize", reach);
addEventListener("toggle", reach, true);
