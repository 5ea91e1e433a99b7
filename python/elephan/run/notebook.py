"""How a run shows itself: links and groups as small tables, and the page a notebook shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from elephan import display
from elephan.display import ColumnTable
from elephan.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from elephan.run.result import RunResult

LINKS = ("name", "rate_bps", "buffer_packets", "utilization", "loss_ratio", "queueing_delay_s", "backlog_packets",
         "backlog_max_packets", "idle_fraction", "empty_fraction", "marks", "loss_events")  # fmt: skip
GROUPS = ("name", "law", "recovery", "flows", "goodput_bps", "goodput_per_flow_bps", "loss_ratio", "cwnd_segments",
          "srtt_s", "timeouts", "loss_events")  # fmt: skip
"""What a row of a small table has; the document has more."""

TRANSFERS = ("completed", "refused", "open", "completion_time_s", "completion_time_p95_s", "slowdown")
"""What a row has besides, where transfers end."""


def links(document: Mapping[str, Any]) -> ColumnTable:
    """Return a row per link.

    Parameters
    ----------
    document : mapping
        Of ``elephan run --json``.
    """
    rows = document["links"]
    columns = {name: [row[name] for row in rows] for name in LINKS}
    columns["discipline"] = [row["queue"]["discipline"] for row in rows]
    return ColumnTable(columns, "Links")


def groups(document: Mapping[str, Any]) -> ColumnTable:
    """Return a row per group of flows.

    Parameters
    ----------
    document : mapping
        Of ``elephan run --json``.
    """
    rows = document["groups"]
    columns = {name: [row[name] for row in rows] for name in GROUPS}
    if any(row["transfers"] for row in rows):
        columns |= {name: [row["transfers"] and row["transfers"][name] for row in rows] for name in TRANSFERS}
    return ColumnTable(columns, "Groups of flows")


def samples(result: RunResult, kind: str) -> ColumnTable:
    """Return what was sampled over time.

    Parameters
    ----------
    kind : str
        ``"links"`` or ``"flows"``.

    Returns
    -------
    ColumnTable
        One row per replication, link or flow, and instant.

    Raises
    ------
    InputError
        If no series were kept, or there is no such kind.
    """
    import pyarrow as pa  # noqa: PLC0415 (slow to import; only who asks for series pays)
    import pyarrow.compute as pc  # noqa: PLC0415 (as above)

    from elephan.run.files import sample_columns  # noqa: PLC0415 (as above)

    if kind not in ("links", "flows"):
        message = f'samples: "{kind}" is neither "links" nor "flows"'
        raise InputError(message)
    if not any(outcome.has_series for outcome in result.outcomes):
        message = "samples: none were kept; run with series=True"
        raise InputError(message)
    table = pa.table(sample_columns(result))
    mine = table.filter(pc.equal(table["kind"], kind.removesuffix("s"))).drop_columns(["kind"])
    known = [name for name in mine.column_names if mine[name].null_count < mine.num_rows]
    return ColumnTable({name: mine[name] for name in known}, f"Samples of {kind}")


def page(document: Mapping[str, Any]) -> str:
    """Write what a notebook shows of a run.

    Parameters
    ----------
    document : mapping
        Of ``elephan run --json``.

    Returns
    -------
    str
        HTML.
    """
    run, fairness = document["run"], document["fairness"]
    of_links: dict[str, Sequence[Any]] = {
        "link": [row["name"] for row in document["links"]],
        "queue": [row["queue"]["discipline"] for row in document["links"]],
        "buffer [packets]": [row["buffer_packets"] or "unlimited" for row in document["links"]],
        "utilization": [row["utilization"] for row in document["links"]],
        "loss [%]": _scaled(document["links"], "loss_ratio", 100),
        "queueing delay [ms]": _scaled(document["links"], "queueing_delay_s", 1e3),
        "backlog [packets]": [row["backlog_packets"] for row in document["links"]],
    }
    of_groups: dict[str, Sequence[Any]] = {
        "flows": [f"{row['name']}: {row['flows']} {row['law'] or 'datagrams'}" for row in document["groups"]],
        "goodput each [Mbit/s]": _scaled(document["groups"], "goodput_per_flow_bps", 1e-6),
        "cwnd [segments]": [row["cwnd_segments"] for row in document["groups"]],
        "srtt [ms]": _scaled(document["groups"], "srtt_s", 1e3),
        "cuts": [row["loss_events"] for row in document["groups"]],
        "timeouts": [row["timeouts"] for row in document["groups"]],
    }
    how = (
        f"{run['replications']} replications of {run['duration_s']:g} s, {run['warmup_s']:g} s of it warm-up; "
        f"seed {run['seed']}; Jain's index {display.cell(fairness['jain'])}; ± is half of a 95 % interval"
    )
    return display.joined(
        display.table(of_links, run["scenario"]), display.table(of_groups), display.note(how), warned(document)
    )


def warned(document: Mapping[str, Any]) -> str:
    """Write the warnings of a document.

    Returns
    -------
    str
        HTML.
    """
    return "".join(
        display.note(f"Warning: {row['where']}: {row['message']}; {row['remedy']} ({row['rule']})")
        for row in document["warnings"]
    )


def _scaled(rows: Sequence[Mapping[str, Any]], name: str, factor: float) -> list[dict[str, float | None]]:
    """A measured quantity of every row in another unit."""
    return [{key: None if value is None else factor * value for key, value in row[name].items()} for row in rows]
