"""``elephan schema``: JSON Schema with which editors complete and check scenario and sweep files."""

from __future__ import annotations

from json import dumps
from typing import Annotated

from elephan.cli import options
from elephan.cli.common import print_lines, say, write_new
from elephan.cli.options import argument
from elephan.schema import schema as document

EXAMPLE = """Example:  elephan schema --out elephan.schema.json
elephan schema sweep --out sweep.schema.json"""


def schema(
    kind: Annotated[str, argument("KIND", "Kind of file: scenario or sweep.")] = "scenario",
    out: options.File = None,
    force: options.ReplaceFile = False,
    json: options.Json = False,  # noqa: ARG001 (it is JSON in any case)
) -> None:
    """Print the JSON Schema of scenario files, or of sweep files, for editors."""
    found = document(kind)
    if out is None:
        # A schema is of JSON Schema's form, and not of elephan's documents.
        print_lines(dumps(found, indent=1))
        return

    write_new(out, dumps(found, indent=1) + "\n", force=force)
    say(f'{out} is written; first line of a file: "#:schema ./{out.name}" (docs/guide/editors.md)')
