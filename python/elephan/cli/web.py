"""``elephan web``: a page on this machine that answers questions with simulations."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from elephan.cli.common import Interrupted, check_out, say, writing
from elephan.cli.options import option
from elephan.errors import InputError
from elephan.extras import require
from elephan.units import count

EXAMPLE = """Example:  elephan web
          elephan web --no-browser --port 8000
          elephan web --export site/"""

LOCAL = ("127.0.0.1", "localhost", "::1")
"""Names of this machine, which only its own programs reach."""

ANY = ("", "0.0.0.0", "::")
"""Addresses that mean all interfaces. The server could not check the host name of a request, so it refuses them."""

OTHERS = "--others-may-connect"


def web(
    port: Annotated[
        int | None, option("--port", "Port of the server.", min=1, max=65535, show_default="8460, or a free one")
    ] = None,
    no_browser: Annotated[bool, option("--no-browser", "Print the address, and do not open a browser.")] = False,
    store: Annotated[
        Path | None, option("--store DIR", "Store of the results.", show_default="$ELEPHAN_STORE or .elephan")
    ] = None,
    host: Annotated[
        str, option("--host", f"Name or address of this machine; all but the local ones need {OTHERS}.")
    ] = "127.0.0.1",
    others_may_connect: Annotated[
        bool,
        option(OTHERS, "Let other machines connect over --host: whoever has the address can run simulations here."),
    ] = False,
    export: Annotated[
        Path | None, option("--export DIR", "Write a static edition with measured points (minutes), and serve nothing.")
    ] = None,
) -> None:
    """Answer questions about TCP and buffers on a page, with sliders and live simulations.

    The page is served to this machine alone, at an address with a random token. Results are kept in the store.
    """
    require("web", "starlette", "uvicorn", "bokeh", "jinja2", "pyarrow")
    if host not in LOCAL and not others_may_connect:
        raise InputError(f"--host {host}: other machines could connect; say {OTHERS} as well if they may")
    if host in ANY:
        raise InputError(
            f"--host {host}: give the name or address that others will use; the server answers to no other"
        )
    if export is not None:
        from elephan.web.export import export_site  # noqa: PLC0415 (the server's packages are optional)

        check_out(export, "--export")
        with writing(export, "--export"):
            written = export_site(export, say=say)
        say(f"wrote {count(written, 'file')} to {export}; open {export / 'index.html'}")
        return
    from elephan.web import serve  # noqa: PLC0415 (as above)

    try:
        serve(host=host, port=port, store=store, browser=not no_browser, say=_print)
    except KeyboardInterrupt:
        raise Interrupted("stopped; finished results are in the store") from None


def _print(address: str) -> None:
    typer.echo(address)
    say("Ctrl-C ends it; results stay in the store")
