"""Hostile requests of `elephan web`: broken JSON, wrong types, cards, hosts, origins and tokens, paths, cut bodies.

The application is called in the process, as a server would call it. A request fails if its answer is 500 or none, if it
gets past the guard without the right token and host, or if the answer lacks the page's policy.
"""

import asyncio
import json
import random
import tempfile
from copy import deepcopy
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import elephan
from fuzz import mutate
from fuzz.kinds import FoundError, Kind

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

HOST, TOKEN = "127.0.0.1:8460", "a-token"

SECRET = "root:x:0:0"
"""Text of an answer that shows that a request has read a file of the machine."""

SHORT = """title = "Short"
duration = "1 s"
warmup = "0.2 s"
replications = 1
[[links]]
name = "core"
rate = "1 Mbit/s"
buffer = "5 packets"
[[flows]]
path = ["core"]
rtt = "80 ms"
"""

DEEP = "[" * 90_000 + "]" * 90_000
LARGE = (DEEP, f'{{"kind": {DEEP}}}', '{"a":' * 40_000, "9" * 60_000, " " * 300_000, f'{{"text": "{"x" * 280_000}"}}')
ODD: list[Any] = [
    *(None, True, False, 0, -1, 1.5, 10**400, -(10**400), 1e308, 5e-324, float("nan"), float("inf"), 2**53, 2**63),
    *("", " ", "\0", "\ud800", "\U0010ffff", "../../../etc/passwd", "/etc/passwd", "file:///etc/passwd", "${rate}"),
    *("$rate", "%s", "{0}", "nan", "1e999", "f" * 64, "0" * 64, "__proto__", "constructor", "x" * 70_000, "λ" * 300),
    *("utilization=0.9", "utilization=", "loss=nan", [], {}, [[]], [{}], {"": ""}, [0] * 500, {"a": {"b": {"c": []}}}),
]
"""Values in the place of others."""

SEGMENTS = (
    *("", ".", "..", "%2e%2e", "..%2f..%2fetc%2fpasswd", "%00", "%ff", "%", "api", "fill", "check", "jobs", "results"),
    *("files", "page", "schema", "cancel", "index.html", "app.js", "app.py", "etc", "passwd", "f" * 64, "0" * 64),
    *("report.html", "result.json", "flows.parquet", "\ud83d\udc18", "a" * 5000, "//", "\\..\\", "a-token"),
)
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "get", "", "\N{ELEPHANT}")
HEADERS: tuple[tuple[bytes, tuple[bytes, ...]], ...] = (
    (b"host", (b"", b"evil.example", b"127.0.0.1", b"127.0.0.1:84600", b"localhost:8460", b"\xff\xfe", b"a" * 9000)),
    (b"origin", (b"", b"null", b"http://evil.example", b"https://127.0.0.1:8460", b"http://127.0.0.1:8460\0")),
    (b"sec-fetch-site", (b"cross-site", b"same-site", b"", b"\xff")),
    (b"content-type", (b"", b"text/plain", b"application/json; charset=utf-7", b"application/jsonp", b"\xff")),
    (b"content-length", (b"", b"-1", b"0", b"9" * 400, b"1e9", "\u0663".encode(), b"10, 10")),
    (b"cookie", (b"a=b; " * 2000,)),
    (b"transfer-encoding", (b"chunked",)),
)
ENDPOINTS = ("api/fill", "api/check", "api/jobs")


class WebKind(Kind):
    """Requests of the page's endpoints."""

    name = "web"
    ending = ".json"

    @cached_property
    def bodies(self) -> list[dict[str, Any]]:
        """Valid bodies, each near many that are not."""
        from elephan.web.cards import cards, lessons  # noqa: PLC0415 (the extra may be missing)

        found: list[dict[str, Any]] = [
            {"kind": card.view, "card": card.id, "values": {each.name: each.value for each in card.controls}}
            for card in cards().values()
        ]
        found += [{"kind": "run", **body} for body in found if body["kind"] != "run"]
        found += [{**body, "kind": "run", "slider": 25} for body in found if body["card"] == "buffer"]
        found += [{"kind": "compare", "lesson": name} for name in lessons()]
        other = SHORT.replace("80 ms", "90 ms")
        mapping = dict(elephan.Scenario.from_text(SHORT).source)
        found += [{"kind": "run", "text": SHORT}, {"kind": "curve", "text": SHORT, "target": "utilization=0.9"}]
        found += [{"kind": "compare", "texts": {"A": SHORT, "B": other}}, {"mapping": mapping}, {"text": SHORT}]
        return [{**body, "tab": "a-tab-00"} for body in found]

    def make(self, chance: random.Random) -> bytes:
        endpoint = chance.choice(ENDPOINTS)
        body = self._body(chance, endpoint)
        path = f"/{TOKEN}/{endpoint}"
        method = "POST"
        if chance.random() < 0.15:
            path, method = self._path(chance), chance.choice(("GET", "POST", *METHODS))
        headers = [(b"host", HOST.encode()), (b"content-type", b"application/json")]
        for name, values in HEADERS:
            if chance.random() < 0.03:
                if chance.random() < 0.7:
                    headers = [each for each in headers if each[0] != name]
                if chance.random() < 0.8:
                    headers.append((name, chance.choice(values)))
        made = {
            "method": method,
            "path": path,
            "headers": [[part.decode("latin-1") for part in each] for each in headers],
            "body": body.decode("latin-1"),
            "parts": chance.choice((1, 1, 1, 2, 7)),
            "is_cut": chance.random() < 0.02,
        }
        return json.dumps(made).encode()

    def _body(self, chance: random.Random, endpoint: str) -> bytes:
        # Scenarios are the largest part of what is read, and the only one that api/check reads.
        is_check = endpoint == "api/check"
        is_scenario = chance.random() < (0.9 if is_check else 0.4)
        near = [body for body in self.bodies if is_check or "kind" in body]
        near = [body for body in near if not is_scenario or not {"text", "texts", "mapping"}.isdisjoint(body)]
        body: Any = json.loads(json.dumps(chance.choice(near)))
        for _ in range(chance.choice((0, 1, 1, 2, 4))):
            body = _changed(chance, body)
        text = json.dumps(body, ensure_ascii=chance.random() < 0.7)
        how = chance.random()
        if how < 0.08:
            text = mutate.text(chance, [text])
        elif how < 0.1:
            text = chance.choice(
                (DEEP, f'{{"kind": {DEEP}}}', "9" * 60_000, " " * 300_000, f'{{"a": "{"x" * 280_000}"}}')
            )
        raw = text.encode("utf-8", "surrogatepass")
        return mutate.raw(chance, [raw]) if 0.1 < how < 0.18 else raw

    def _path(self, chance: random.Random) -> str:
        parts = [chance.choice(SEGMENTS) for _ in range(chance.randrange(6))]
        token = TOKEN if chance.random() < 0.8 else chance.choice(SEGMENTS)
        return "/".join(("", token, *parts))

    def attempt(self, given: bytes) -> None:
        self._site.request(json.loads(given))

    @cached_property
    def _site(self) -> "Site":
        return Site()


def _changed(chance: random.Random, thing: Any) -> Any:
    """Replace, remove, rename or add one value somewhere in a document."""
    if isinstance(thing, str) and len(thing) > 20 and chance.random() < 0.8:
        return mutate.text(chance, [thing])
    if not thing or not isinstance(thing, dict | list) or chance.random() < 0.04:
        return deepcopy(chance.choice(ODD))
    keys: list[Any] = list(thing) if isinstance(thing, dict) else list(range(len(thing)))
    key, how = chance.choice(keys), chance.random()
    if how < 0.1:
        del thing[key]
    elif how < 0.2 and isinstance(thing, dict):
        thing[str(chance.choice((*keys, "x", "", "\ud800", "links[0]", "__class__")))] = thing.pop(key)
    elif how < 0.25 and isinstance(thing, list):
        thing.append(deepcopy(chance.choice(ODD)))
    else:
        thing[key] = _changed(chance, thing[key])
    return thing


class Site:
    """The guarded application with a store, called in a loop of its own."""

    def __init__(self) -> None:
        from elephan.web.app import Server, guarded  # noqa: PLC0415 (the extra may be missing)
        from elephan.web.results import Results  # noqa: PLC0415 (as above)

        self._folder = tempfile.TemporaryDirectory(prefix="fuzz-web-")
        self.server = Server(Results(Path(self._folder.name) / "store"), 1)
        self.app: Callable[..., Awaitable[None]] = guarded(self.server, TOKEN, [HOST])
        self.loop = asyncio.new_event_loop()

    def request(self, made: dict[str, Any]) -> None:
        """Send a request, and judge its answer."""
        status, headers, content = self.loop.run_until_complete(self._answer(made))
        hosts = [value for name, value in made["headers"] if name.lower() == "host"]
        if status != 503 and not 200 <= status < 500:
            message = f"status {status}: {content[:200]!r}"
            raise FoundError(message)
        is_ours = hosts == [HOST] and made["path"].startswith(f"/{TOKEN}/")
        if status == 200 and not is_ours:
            message = "the guard lets a stranger in"
            raise FoundError(message)
        if SECRET.encode() in content:
            message = "a file of the machine is read"
            raise FoundError(message)
        if b"content-security-policy" not in headers and status:
            message = "the answer lacks its policy"
            raise FoundError(message)
        if status in (200, 503) and headers.get(b"content-type") == b"application/json" and made["method"] != "HEAD":
            found = json.loads(content, parse_constant=_no_number)
            if "job" in found:
                self._forget(found["job"])

    def _forget(self, job: str) -> None:
        """Cancel a job, and read its events to the end, as a page does that is left."""
        address = f"/{TOKEN}/api/jobs/{job}"
        headers = [["host", HOST], ["content-type", "application/json"]]
        plain = {"headers": headers, "body": "{}", "parts": 1, "is_cut": False}
        self.loop.run_until_complete(self._answer({**plain, "method": "POST", "path": f"{address}/cancel"}))
        status, _, content = self.loop.run_until_complete(self._answer({**plain, "method": "GET", "path": address}))
        if status != 200 or b'"is_last": true' not in content:
            message = f"a job does not end: {content[-200:]!r}"
            raise FoundError(message)

    async def _answer(self, made: dict[str, Any]) -> tuple[int, dict[bytes, bytes], bytes]:
        body = made["body"].encode("latin-1")
        size = max(1, -(-len(body) // made["parts"]))
        pieces = [body[at : at + size] for at in range(0, len(body), size)] or [b""]
        incoming: list[dict[str, Any]] = [
            {"type": "http.request", "body": piece, "more_body": made["is_cut"] or at < len(pieces) - 1}
            for at, piece in enumerate(pieces)
        ]
        sent: list[dict[str, Any]] = []
        never = asyncio.Event()

        async def receive() -> dict[str, Any]:
            if incoming:
                return incoming.pop(0)
            if not made["is_cut"]:
                await never.wait()
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        raw = made["path"].encode("utf-8", "surrogatepass")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": made["method"],
            "scheme": "http",
            "path": made["path"],
            "raw_path": raw,
            "query_string": b"",
            "root_path": "",
            "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in made["headers"]],
            "client": ("127.0.0.1", 50000),
            "server": ("127.0.0.1", 8460),
        }
        await self.app(scope, receive, send)
        begun = [message for message in sent if message["type"] == "http.response.start"]
        if len(begun) != 1:
            message = f"{len(begun)} answers"
            raise FoundError(message)
        content = b"".join(message.get("body", b"") for message in sent if message["type"] == "http.response.body")
        return begun[0]["status"], dict(begun[0]["headers"]), content


def _no_number(name: str) -> None:
    message = f"{name} is no JSON"
    raise FoundError(message)
