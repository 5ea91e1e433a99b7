"""``elephan new``: a commented scenario file to start from."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Annotated

from elephan.cli import options
from elephan.cli.common import print_json, say, write_new
from elephan.cli.options import argument, option
from elephan.errors import InputError, suggest
from elephan.scenario import Scenario
from elephan.templates import DEFAULTS, example_path, examples, template

EXAMPLE = """Example:  elephan new dumbbell --rate "1 Gbit/s" --rtt "120 ms" --out mine.toml
elephan new bufferbloat --rate "20 Mbit/s" --out bloat.toml"""

SCHEMA = "elephan.schema.json"
"""Name of the schema file in the guide (`elephan schema`). A scenario written beside this file refers to it in its
first line."""


def new(
    kind: Annotated[
        str,
        argument("KIND", f"One of {', '.join(DEFAULTS)}; or a complete scenario such as hstcp-1g or web-1g"),
    ],
    rate: Annotated[str | None, option("--rate", "Rate of the links that are shared.")] = None,
    rtt: Annotated[str | None, option("--rtt", "Base round-trip time of the flows.")] = None,
    flows: Annotated[int | None, option("--flows", "Number of flows of each group (see the file).", min=1)] = None,
    hops: Annotated[int | None, option("--hops", "Number of hops of the parking lot.", min=1, max=1000)] = None,
    buffer: Annotated[str | None, option("--buffer", 'Buffer, such as "0.1 bdp" or "500 packets".')] = None,
    out: options.File = None,
    force: options.ReplaceFile = False,
    json: options.Json = False,
) -> None:
    """Write a commented scenario file: dumbbell, two-way, parking-lot, two-hops, web.

    It also writes well-known tests (rrul, bufferbloat, sawtooth, rtt-fair), and copies of the scenarios that come with
    elephan, such as hstcp-1g.
    """
    choices = {"rate": rate, "rtt": rtt, "flows": flows, "hops": hops, "buffer": buffer}
    text = template(kind, choices) if kind in DEFAULTS else _whole(kind, choices)
    # A value given by an option can be invalid.
    Scenario.from_text(text, kind)
    if out is not None:
        if (out.parent / SCHEMA).exists():
            # An editor reports an error if it does not find the schema.
            text = f"#:schema ./{SCHEMA}\n{text}"
        write_new(out, text, force=force)
        say(f"{out} is written; next: elephan run {out}")
    if json:
        print_json({"kind": kind, "file": None if out is None else str(out), "text": text})
    elif out is None:
        sys.stdout.write(text)


def _whole(name: str, choices: Mapping[str, str | int | None]) -> str:
    """Return the text of a scenario that is part of elephan."""
    known = examples()
    if name not in known:
        if name in ("law", "laws"):
            raise InputError(
                "new writes scenarios only; a law of your own is a Python class or a Rust library, which size, run "
                "and sweep take with --law NAME=FILE.py:CLASS (docs/guide/law-in-python.md)"
            )
        names = [*DEFAULTS, *known]
        kinds = f"kinds: {', '.join(names)}"
        raise InputError(f'there is no kind "{name}"; {suggest(name, names, kinds)}')
    given = next((option for option, value in choices.items() if value is not None), None)
    if given is not None:
        raise InputError(
            f"--{given}: does not apply to {name}, a complete scenario; write it to a file and edit it, or change it "
            "with --set of run, size or sweep"
        )
    return example_path(name).read_text(encoding="utf-8")
