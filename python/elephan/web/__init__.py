"""`elephan web`: a web page, served on this machine, that answers questions about TCP and buffers with simulations.

The server is Starlette on uvicorn; the page's own script draws figures. The page does not load files from other hosts.
"""

from __future__ import annotations

import secrets
import socket
import webbrowser
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import uvicorn

from elephan.errors import InputError
from elephan.runs.parallel import default_workers
from elephan.web.app import Server, guarded
from elephan.web.results import Results
from elephan.web.work import warm

LOOPBACK = "127.0.0.1"

PORT = 8460
"""Port that is tried first; another one is taken if it is in use."""


def listen(host: str, port: int | None) -> socket.socket:
    """Return a listening socket.

    Parameters
    ----------
    port : int or None
        None for `PORT`, or any free port if `PORT` is in use.

    Raises
    ------
    InputError
        If the address cannot be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    wanted = (PORT, 0) if port is None else (port,)
    for number in wanted:
        made = socket.socket(family, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((host, number))
            # The kernel queues connections from now on, so a browser may be opened before the server runs.
            made.listen()
        except OSError as error:
            made.close()
            reason = (error.strerror or str(error)).lower()
        else:
            return made
    raise InputError(f"--port: {host} port {wanted[-1]}: {reason}; give another port")


def hosts_of(host: str, port: int) -> list[str]:
    """Return the values of the header Host that are valid for this server.

    Examples
    --------
    >>> hosts_of("127.0.0.1", 8460)
    ['127.0.0.1:8460', 'localhost:8460']
    """
    named = f"[{host}]" if ":" in host else host.lower()
    return [f"{named}:{port}", *([f"localhost:{port}"] if host in (LOOPBACK, "::1") else [])]


def serve(*, host: str, port: int | None, store: Path | None, browser: bool, say: Callable[[str], None]) -> None:
    """Serve the page until a signal ends the server; `say` is called with the address.

    Raises
    ------
    InputError
        If the port or the store cannot be used.
    """
    sock = listen(host, port)
    results = Results(store)
    number = sock.getsockname()[1]
    token = secrets.token_urlsafe(24)
    names = hosts_of(host, number)
    address = f"http://{names[0]}/{token}/"
    page = Server(results, default_workers())
    config = uvicorn.Config(
        guarded(page, token, names),
        log_level="critical",  # Defects are logged by the page itself.
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=1,
        lifespan="on",
        ws="none",
    )
    warm()
    say(address)
    if browser:
        webbrowser.open(address)
    _EndingServer(config, page).run(sockets=[sock])


class _EndingServer(uvicorn.Server):
    """Server that cancels all jobs at the first signal, so that it does not need to wait for their event streams."""

    def __init__(self, config: uvicorn.Config, page: Server) -> None:
        super().__init__(config)
        self.page = page

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Handle a signal."""
        super().handle_exit(sig, frame)
        self.page.cancel_all()
