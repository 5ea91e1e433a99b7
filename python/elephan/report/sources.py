"""Reading what a folder holds, and what all kinds of pages say of a scenario and of where numbers come from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from elephan import _native
from elephan.errors import InputError
from elephan.pictures.words import count, number
from elephan.scenario import Scenario
from elephan.units import format_rate, format_time

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def read_json(path: Path) -> dict[str, Any]:
    """Read a document.

    Raises
    ------
    InputError
        If it cannot be read, or is no document.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        message = f"{path}: {(error.strerror or 'cannot be read').lower()}"
        raise InputError(message) from None
    except ValueError as error:
        message = f"{path}: not JSON: {error}; write the folder again"
        raise InputError(message) from None
    if not isinstance(document, dict):
        message = f"{path}: not a document of elephan, which is a JSON object"
        raise InputError(message)
    return document


def read_scenario(path: Path) -> Scenario:
    """Read the scenario beside a document.

    Returns
    -------
    Scenario
        Its origin is the file's bare name, so that a page does not depend on where the folder lies.

    Raises
    ------
    InputError
        If it is missing or no scenario.
    """
    return Scenario.from_text(Scenario.from_file(path).text, path.name)


def read_parquet(path: Path, columns: list[str] | None = None) -> Any:
    """Read a table of columns.

    Parameters
    ----------
    columns : list of str, optional
        Only these.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    import pyarrow as pa  # noqa: PLC0415 (slow to import)
    import pyarrow.parquet as pq  # noqa: PLC0415 (as above)

    try:
        # Not `read_table`, which loads pandas where that is installed.
        return pq.ParquetFile(path).read(columns)
    except (OSError, pa.ArrowException) as error:
        reason = str(error).splitlines()[0]
        message = f"{path}: cannot be read as Parquet: {reason}; write the folder again"
        raise InputError(message) from None


def set_up(scenario: Scenario, facts: Mapping[str, Any]) -> str:
    """Say what a link is and what crosses it.

    Parameters
    ----------
    facts : mapping
        Of the link.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE
    >>> small = Scenario.from_text(EXAMPLE)
    >>> set_up(small, small.links[0])
    'Link core: 10 Mbit/s, drop-tail queue, mean base RTT 80 ms, bandwidth-delay product 100 packets; 2 reno flows.'
    """
    words = [format_rate(facts["rate_bps"]), f"{facts['discipline']} queue"]
    if facts["mean_rtt_s"]:
        words.append(f"mean base RTT {format_time(facts['mean_rtt_s'])}")
        words.append(f"bandwidth-delay product {number(round(facts['bdp_packets']))} packets")
    index = [link["name"] for link in scenario.links].index(facts["name"])
    groups = [
        count(group["flows"], f"{group['law'] or group['traffic']} flow")
        for group in scenario.groups
        if index in group["path"]
    ]
    crossed = f"; {', '.join(groups)}" if groups else ""
    return f"Link {facts['name']}: {', '.join(words)}{crossed}."


def origin(run: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Say what identifies a run, and what this page was made with.

    Parameters
    ----------
    run : mapping
        Part ``run`` of a document.
    """
    found = [("run", str(run["id"])), ("seed", str(run["seed"]))]
    if "engine_version" in run:
        found.append(("elephan that ran it", str(run["engine_version"])))
    return (*found, made_by())


def made_by() -> tuple[str, str]:
    """Say what this page was made with."""
    return "elephan that wrote this page", _native.version()


def why_warmup(run: Mapping[str, Any]) -> str:
    """Say how long the warm-up was, and who chose it.

    Parameters
    ----------
    run : mapping
        Part ``run`` of a document.

    Examples
    --------
    >>> why_warmup({"warmup_s": 60.0, "warmup_rule": "stated"})
    '60 s, as the scenario states'
    """
    rule = run["warmup_rule"]
    return f"{format_time(run['warmup_s'])}, {'as the scenario states' if rule == 'stated' else f'found by {rule}'}"
