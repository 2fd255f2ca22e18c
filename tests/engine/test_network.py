"""The hosts on a course's list are reached through the proxy, and nothing else is, whatever a submission does."""

from __future__ import annotations

import json
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook
from traitlets import TraitError
from traitlets.config import Config

from autograder.engine import Limits, Session, Walls, Zygote, proxy, temporary
from autograder.engine.doctor import TRIALS
from autograder.engine.kernels import walled_kernels
from autograder.engine.outer import KINDS
from autograder.engine.proxy import Refused, addresses, places
from autograder.plugins.sandbox import Sandbox
from tests.support.waiting import until

HERE = "127.0.0.2"  # the machine's loopback, by an address that `no_proxy` does not have
AGES = 300.0
ELSEWHERE = f"not among the hosts that submissions may reach ({proxy.SETTING})"


class Server(BaseHTTPRequestHandler):
    """Says what it was asked for, and sends back what it was sent."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        sent = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        size = int(self.path.partition("size=")[2] or 0)
        names = sorted(map(str.lower, self.headers))
        said = {"asked": f"{self.command} {self.path}", "host": self.headers["Host"], "sent": sent, "names": names}
        body = json.dumps(said).encode() + b" " * size
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def serving(certificate: Path | None = None) -> Iterator[int]:
    """A server of HTTP, or of HTTPS, outside the walls: its port."""
    with ThreadingHTTPServer((HERE, 0), Server) as server:
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("keys") / "certificate.pem"
    asked = f"req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=here -addext subjectAltName=IP:{HERE}".split()
    subprocess.run(["openssl", *asked, "-keyout", path, "-out", path], check=True, capture_output=True)
    return path


@pytest.fixture(scope="module")
def ports(certificate: Path) -> Iterator[dict[str, int]]:
    with serving() as listed, serving() as other, serving(certificate) as safe:
        yield {"listed": listed, "other": other, "safe": safe}


@pytest.fixture(scope="module")
def limits(ports: dict[str, int]) -> Limits:
    return Limits(network=(f"{HERE}:{ports['listed']}", f"{HERE}:{ports['safe']}", "localhost"))


@pytest.fixture(scope="module")
def zygote(limits: Limits, walls: None) -> Iterator[Zygote]:
    with Zygote(walls="both", limits=limits) as running:
        yield running


@pytest.fixture
def session(zygote: Zygote, certificate: Path) -> Iterator[Session]:
    with Session(zygote.place, {"certificate.pem": certificate.read_bytes()}) as begun:
        yield begun


def printed(session: Session, source: str) -> str:
    """What a cell prints, or the error that ends it."""
    run = session.run(source, AGES)
    assert run.end == "finished", run
    if run.reply["status"] == "error":
        return f"{run.reply['ename']}: {run.reply['evalue']}"
    return "".join(content["text"] for kind, content in run.messages if kind == "stream")


ASK = {
    "urllib": (
        "import ssl, urllib.request as asking\n"
        "known = ssl.create_default_context(cafile='certificate.pem')\n"
        "def ask(url, data=None):\n"
        "    return asking.urlopen(url, data, context=known if url.startswith('https') else None).read().decode()\n"
    ),
    "requests": (
        "import requests\n"
        "kept = requests.Session()\n"
        "kept.verify = 'certificate.pem'\n"
        "def ask(url, data=None):\n"
        "    answer = kept.request('POST' if data else 'GET', url, data=data)\n"
        "    answer.raise_for_status()\n"
        "    return answer.text\n"
    ),
}
each_library = pytest.mark.parametrize("library", ASK)


@each_library
@pytest.mark.parametrize("kind", ["http", "https"])
def test_a_listed_host_is_reached(session: Session, ports: dict[str, int], library: str, kind: str) -> None:
    url = f"{kind}://{HERE}:{ports['listed' if kind == 'http' else 'safe']}/page?size=3000000"
    said = printed(
        session,
        f"{ASK[library]}for _ in range(3):\n    said = ask({url!r}, b'told' * 50_000)\n    print(len(said), said.strip())",
    )
    assert len(said.splitlines()) == 3
    for size, line in (line.split(maxsplit=1) for line in said.splitlines()):
        answer = json.loads(line)
        assert int(size) == len(line) + 3_000_000
        assert answer["asked"] == "POST /page?size=3000000"
        assert answer["host"] == url.split("/")[2]
        assert answer["sent"] == "told" * 50_000
        assert "proxy-connection" not in answer["names"]


@each_library
@pytest.mark.parametrize("kind", ["http", "https"])
@pytest.mark.parametrize("where", ["other", "127.0.0.3", "data.example.org", "169.254.169.254"])
def test_what_is_not_listed_is_refused_with_the_settings_name(
    session: Session, ports: dict[str, int], library: str, kind: str, where: str
) -> None:
    place = f"{HERE}:{ports['other']}" if where == "other" else f"{where}:{ports['listed']}"
    said = printed(session, f"{ASK[library]}ask('{kind}://{place}/')")
    assert f"{place} is {ELSEWHERE}" in said


def test_a_connection_that_is_kept_leads_nowhere_else(session: Session, ports: dict[str, int]) -> None:
    there, elsewhere = (f"http://{HERE}:{ports[name]}/" for name in ("listed", "other"))
    both = f"ask({there!r})\ntry:\n    print(ask({elsewhere!r}))\nexcept Exception as error:\n    print(error)\n"
    said = printed(session, f"{ASK['requests']}{both}print(ask({there!r}))")
    assert ELSEWHERE in said.splitlines()[0]
    assert json.loads(said.splitlines()[1])["asked"] == "GET /"


def test_whoever_asks_is_told_that_the_connection_ends_though_the_server_does_not_say_so(
    session: Session, ports: dict[str, int]
) -> None:
    asked = f"print(kept.get('http://{HERE}:{ports['listed']}/').headers['Connection'])"
    assert printed(session, f"{ASK['requests']}{asked}") == "close\n"


def test_nothing_else_of_the_outside_is_reached(session: Session, ports: dict[str, int]) -> None:
    for what, expression in TRIALS.items():
        assert session.run(expression, AGES).messages[0][1]["data"]["text/plain"] == "True", what
    raw = f"import socket\nsocket.create_connection(({HERE!r}, {ports['listed']}))"
    assert "Connection refused" in printed(session, raw)
    assert "gaierror" in printed(session, "socket.getaddrinfo('example.org', 80)")


def test_its_own_servers_need_no_proxy(session: Session) -> None:
    serve = (
        "import http.server, threading, urllib.request\n"
        "server = http.server.HTTPServer(('127.0.0.1', 0), http.server.SimpleHTTPRequestHandler)\n"
        "threading.Thread(target=server.serve_forever, daemon=True).start()\n"
        "print(urllib.request.urlopen(f'http://127.0.0.1:{server.server_port}/certificate.pem').status)"
    )
    assert printed(session, serve).startswith("200\n")


SPEAK = """import socket
def speak(text, wait=5):
    with socket.create_connection(('127.0.0.1', 3128)) as proxy:
        proxy.settimeout(wait)
        proxy.sendall(text)
        said = b''
        while piece := proxy.recv(4096):
            said += piece
    print(said.decode().split('\\r\\n')[0])
"""


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        ("GET / HTTP/1.1\r\n\r\n", " 400 "),
        ("GET https://a.example/ HTTP/1.1\r\n\r\n", " 400 "),
        ("GET http://[::1/ HTTP/1.1\r\n\r\n", " 400 "),
        ("CONNECT nowhere HTTP/1.1\r\n\r\n", " 400 "),
        ("CONNECT a:99999 HTTP/1.1\r\n\r\n", " 400 "),
        (f"CONNECT {'a' * 200}:80 HTTP/1.1\r\n\r\n", " 400 "),
        (f"GET http://{HERE}:LISTED@a.example/ HTTP/1.1\r\n\r\n", " 403 "),
        (f"GET http://a.example\\@{HERE}:OTHER/ HTTP/1.1\r\n\r\n", " 403 "),
        ("CONNECT 2130706434:LISTED HTTP/1.1\r\n\r\n", " 403 "),  # 127.0.0.2 in one number
        (f"CONNECT [::ffff:{HERE}]:LISTED HTTP/1.1\r\n\r\n", " 403 "),
        ("CONNECT localhost:80 HTTP/1.1\r\n\r\n", " 403 localhost is in a private network"),
        (f"POST http://{HERE}:LISTED/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", " 411 "),
        (f"GET http://{HERE}:LISTED/ HTTP/1.1\r\nHost: a.example\r\n\r\n", " 200 "),
        ("BREW http://a.example/ HTTP/1.1\r\n\r\n", " 501 "),
    ],
)
def test_odd_requests_are_answered(session: Session, ports: dict[str, int], request_: str, answer: str) -> None:
    asked = request_.replace("LISTED", str(ports["listed"])).replace("OTHER", str(ports["other"]))
    assert answer in printed(session, f"{SPEAK}speak({asked!r}.encode())")


def test_who_hoards_connections_stands_in_its_own_way_alone(zygote: Zygote, ports: dict[str, int]) -> None:
    hoard = "import socket\nheld = [socket.create_connection(('127.0.0.1', 3128)) for _ in range(60)]"
    ask = f"{ASK['urllib']}print(ask('http://{HERE}:{ports['listed']}/'))"
    with Session(zygote.place) as greedy, Session(zygote.place, {"certificate.pem": b""}) as other:
        printed(greedy, hoard)
        assert "GET /" in printed(other, ask.replace("cafile='certificate.pem'", ""))


def test_a_submission_holds_no_socket_for_the_proxys_sake(zygote: Zygote) -> None:
    count = (
        "import os, stat\n"
        "held = 0\n"
        "for descriptor in range(1024):\n"
        "    try:\n"
        "        held += stat.S_ISSOCK(os.fstat(descriptor).st_mode)\n"
        "    except OSError:\n"
        "        pass\n"
        "print(held)"
    )
    with Zygote(walls="both") as without, Session(without.place) as usual, Session(zygote.place) as session:
        assert printed(session, count) == printed(usual, count)


def test_no_submission_hears_another(zygote: Zygote) -> None:
    """Each has a loopback of its own; what one puts in place of its proxy is nobody else's."""
    listen = "import socket\nears = socket.create_server(('127.0.0.1', 3129))"
    with Session(zygote.place) as one, Session(zygote.place) as other:
        assert printed(one, listen) == printed(other, listen) == ""
        calls = "try:\n    socket.create_connection(('127.0.0.1', 3129), 2)\n    print('itself')\nexcept OSError:\n    print('nobody')"
        assert printed(one, calls) == "itself\n"
        assert printed(other, "ears.close()\n" + calls) == "nobody\n"


def test_what_is_open_ends_with_the_submission(zygote: Zygote) -> None:
    with socket.create_server((HERE, 0)) as far:
        far.settimeout(AGES)
        mine = Limits(network=(f"{HERE}:{far.getsockname()[1]}",))
        with Zygote(walls="both", limits=mine) as own, Session(own.place) as session:
            asked = f"CONNECT {HERE}:{far.getsockname()[1]} HTTP/1.1\r\n\r\n"
            printed(
                session,
                f"import socket\nkept = socket.create_connection(('127.0.0.1', 3128))\nkept.sendall({asked!r}.encode())\nkept.recv(9)",
            )
            connection, _ = far.accept()
            with connection:
                connection.settimeout(AGES)
                session.close()
                assert connection.recv(1) == b""


def test_with_an_empty_list_there_is_no_proxy_and_no_variable(walls: None) -> None:
    with Zygote(walls="both") as zygote:
        assert zygote._way_out is None
        with Session(zygote.place) as session:
            assert (
                printed(session, "import os\nprint([name for name in os.environ if 'proxy' in name.lower()])") == "[]\n"
            )
            assert "Connection refused" in printed(session, f"{SPEAK}speak(b'')")


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "both"])
def test_without_an_inner_wall_the_same_hosts_are_reached(limits: Limits, ports: dict[str, int], kind: Walls) -> None:
    ask = ASK["urllib"].replace("cafile='certificate.pem'", "")
    with Zygote(walls=kind, limits=limits) as zygote, Session(zygote.place) as session:
        assert "GET /" in printed(session, f"{ask}print(ask('http://{HERE}:{ports['listed']}/'))")
        if kind == "outer":
            assert ELSEWHERE in printed(session, f"{ask}print(ask('http://{HERE}:{ports['other']}/'))")


def test_a_real_kernel_reaches_the_same_hosts(limits: Limits, ports: dict[str, int], walls: None) -> None:
    ask = ASK["urllib"].replace("cafile='certificate.pem'", "")
    cells = [new_code_cell(f"{ask}print(ask('http://{HERE}:{ports[name]}/'))") for name in ("listed", "other")]
    with temporary.folder() as place, walled_kernels(place, place, limits=limits) as manager:
        NotebookClient(new_notebook(cells=cells), kernel_manager_class=manager, allow_errors=True).execute()
    assert "GET /" in cells[0].outputs[0].text
    assert ELSEWHERE in cells[1].outputs[0].evalue


HOST = """
import sys, time
from autograder.engine import Limits, Session, Zygote
zygote = Zygote(limits=Limits(network=("data.example.org:{}",)))
with Session(zygote.place) as session:
    session.run("1")
    print("ready", flush=True)
    time.sleep(1000)
"""


def _proxies(mark: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_text()
        except OSError:
            continue
        if "proxy.py" in command and mark in command:
            found.append(path.parent.name)
    return found


@pytest.mark.parametrize("end", ["killed", "closed"])
def test_the_proxy_ends_with_who_wanted_it(walls: None, end: str) -> None:
    mark = str(20_000 + threading.get_native_id() % 40_000)
    host = subprocess.Popen([sys.executable, "-c", HOST.format(mark)], stdout=subprocess.PIPE, text=True)
    assert host.stdout is not None
    assert host.stdout.readline() == "ready\n"
    assert len(_proxies(mark)) == 1
    (host.kill if end == "killed" else host.terminate)()
    host.wait()
    host.stdout.close()
    assert until(lambda: not _proxies(mark))


@pytest.mark.parametrize(
    ("entry", "meant"),
    [
        ("Data.Example.org", [("data.example.org", 80), ("data.example.org", 443)]),
        ("data.example.org.:8443", [("data.example.org", 8443)]),
        ("bücher.example:80", [("xn--bcher-kva.example", 80)]),
        ("127.0.0.1:8000", [("127.0.0.1", 8000)]),
        ("[0:0::1]:80", [("::1", 80)]),
    ],
)
def test_an_entry_is_a_host_or_a_host_and_a_port(entry: str, meant: list[tuple[str, int]]) -> None:
    assert places(entry) == meant


@pytest.mark.parametrize(
    "entry", ["", "https://data.example.org", "data.example.org/x", "*.example.org", "me@example.org", "a:b", "a:70000"]
)
def test_any_other_entry_is_told_with_the_settings_name(entry: str) -> None:
    with pytest.raises(TraitError, match=r"c\.Sandbox\.network"):
        Sandbox(config=Config({"Sandbox": {"network": [entry]}}))


def resolving(monkeypatch: pytest.MonkeyPatch, *found: str) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(0, 0, 0, "", (one, 0)) for one in found])


@pytest.mark.parametrize(
    "address",
    [
        *(
            "127.0.0.1",
            "10.1.2.3",
            "192.168.1.1",
            "172.16.0.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "224.0.0.1",
        ),
        *("::1", "::", "fe80::1%lo", "fc00::1", "ff02::1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::"),
    ],
)
def test_a_name_that_leads_into_a_private_network_leads_nowhere(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    resolving(monkeypatch, address)
    listed = {("data.example.org", 80)}
    with pytest.raises(Refused, match=r"private network.*c\.Sandbox\.network"):
        addresses("data.example.org", 80, listed)
    assert addresses("data.example.org", 80, {*listed, (address, 80)}) == [address]  # the list has that very address
    with pytest.raises(Refused):
        addresses("data.example.org", 80, {*listed, (address, 443)})


def test_of_several_addresses_only_public_ones_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, "10.0.0.1", "1.1.1.1", "1.1.1.1", "64:ff9b::101:101", "2606:4700::1")
    found = addresses("data.example.org", 80, {("data.example.org", 80)})
    assert found == ["1.1.1.1", "64:ff9b::101:101", "2606:4700::1"]


def test_what_was_checked_is_what_is_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that means another address the next time it is asked for is not asked for again."""
    asked: list[str] = []
    met: list[tuple[str, int]] = []

    def look_up(host: str, *_: Any, **__: Any) -> list[Any]:
        asked.append(host)
        return [(0, 0, 0, "", ("1.1.1.1", 0))]

    def connect(place: tuple[str, int], *_: Any) -> socket.socket:
        met.append(place)
        return socket.socket()

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setattr(socket, "create_connection", connect)
    request = proxy.Request.__new__(proxy.Request)
    request._submission = proxy.Submission({("data.example.org", 80)})
    request._connect("data.example.org", 80).close()
    assert (asked, met) == (["data.example.org"], [("1.1.1.1", 80)])
