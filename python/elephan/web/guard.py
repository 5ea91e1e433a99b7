"""Checks of requests (token, host, origin, method, size), and security headers of answers.

A page of another site can send requests to this machine, and a name of another site can resolve to this machine (DNS
rebinding). The token in the address, and the checks of the headers Host and Origin, prevent both.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 256 * 1024
"""Maximum size of the body of a request [bytes]."""

METHODS = ("GET", "HEAD", "POST")

POLICY = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Headers of every answer."""


class TooLargeError(Exception):
    """Raised while the body of a request is read; the application answers 413."""


class Guard:
    """Refuses requests that do not come from the page itself, and adds `POLICY` to every answer.

    Parameters
    ----------
    app : ASGI application
        Application; it gets paths without the token.
    token : str
        First part of every path.
    hosts : collection of str
        Valid values of the header Host: name and port.
    """

    def __init__(self, app: ASGIApp, token: str, hosts: Collection[str]) -> None:
        self.app, self.token, self.hosts = app, token, frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def with_policy(message: Message) -> None:
            if message["type"] == "http.response.start":
                there = {name.lower() for name, _ in message["headers"]}
                more = [(k.lower().encode(), v.encode()) for k, v in POLICY.items() if k.lower().encode() not in there]
                message = {**message, "headers": [*message["headers"], *more]}
            await send(message)

        refused = self._refusal(scope)
        if refused is not None:
            await refused(scope, receive, with_policy)
            return
        _, _, rest = scope["path"].removeprefix("/").partition("/")
        inner = {**scope, "path": f"/{rest}", "raw_path": f"/{rest}".encode("utf-8", "surrogateescape")}
        read = 0

        async def bounded() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > MOST_BYTES:
                raise TooLargeError
            return message

        await self.app(inner, bounded, with_policy)

    def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        """Return the answer to a request that does not come from the page; None if it does."""
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.lower(), []).append(value)
        hosts = [value.decode("latin-1").lower() for value in headers.get(b"host", [])]
        if len(hosts) != 1 or hosts[0] not in self.hosts:
            return _refuse(421, "this server answers to the address that `elephan web` printed, and to no other name")
        origins = [value.decode("latin-1").lower() for value in headers.get(b"origin", [])]
        if any(origin != f"http://{hosts[0]}" for origin in origins):
            return _refuse(403, "the request comes from another page")
        sites = headers.get(b"sec-fetch-site", [])
        if any(site not in (b"same-origin", b"none") for site in sites):
            return _refuse(403, "the request comes from another page")
        given, slash, _ = scope["path"].removeprefix("/").partition("/")
        if not secrets.compare_digest(given.encode("utf-8", "surrogateescape"), self.token.encode()) or not slash:
            return _refuse(404, "the address lacks its token; use the one that `elephan web` printed")
        if scope["method"] not in METHODS:
            return _refuse(405, "use GET or POST")
        length = b"".join(headers.get(b"content-length", []))
        if length.isdigit() and int(length[:20]) > MOST_BYTES:
            return _refuse(413, f"the request has more than {MOST_BYTES} bytes")
        if scope["method"] == "POST" and not b"".join(headers.get(b"content-type", [])).startswith(b"application/json"):
            return _refuse(415, "send application/json")
        return None


def _refuse(status: int, reason: str) -> PlainTextResponse:
    return PlainTextResponse(f"{reason}\n", status)
