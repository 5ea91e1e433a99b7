"""Reading a result's folder, and the parts about scenario and provenance that all kinds of pages share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from elephan import _native
from elephan.pictures.words import number, row_with_unit
from elephan.reports.page import WRITER, HeadlineNumber
from elephan.scenario import Scenario
from elephan.units import count, format_rate, format_time


def read_scenario(path: Path) -> Scenario:
    """Read the scenario beside a document.

    Returns
    -------
    Scenario
        Its origin is the file's name without the folder, so that a page does not depend on the place of the folder.

    Raises
    ------
    InputError
        If it is missing or not a scenario.
    """
    return Scenario.from_text(Scenario.from_file(path).text, path.name)


def set_up(scenario: Scenario, facts: Mapping[str, Any]) -> str:
    """Describe a link and the traffic that crosses it.

    Parameters
    ----------
    facts : mapping
        Facts of the link.

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


def rate_lines(links: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line for each link whose policer or shaper is slower than the link: utilization is relative to its rate.

    Parameters
    ----------
    links : sequence of mapping
        Links of the resolved scenario.

    Examples
    --------
    >>> policed = {"name": "edge", "rate_bps": 100_000_000, "policer": {"rate_bps": 20_000_000}}
    >>> rate_lines([policed, {"name": "core", "rate_bps": 10**9}])
    ['edge: utilization is of its rate, 100 Mbit/s; its policer lets 20 Mbit/s through']
    """
    found = []
    for link in links:
        for kind in ("policer", "shaper"):
            through = (link.get(kind) or {}).get("rate_bps")
            if through is not None and isinstance(link["rate_bps"], int) and through < link["rate_bps"]:
                found.append(
                    f"{link['name']}: utilization is of its rate, {format_rate(link['rate_bps'])}; its {kind} lets "
                    f"{format_rate(through)} through"
                )
    return found


def whose(groups: Sequence[Mapping[str, Any]]) -> str:
    """Return " of TCP" if only the TCP flows count for fairness; empty if all flows count."""
    tcp = [group["law"] is not None for group in groups]
    return " of TCP" if any(tcp) and not all(tcp) else ""


def cost_tiles(row: Mapping[str, Any], of: str = "") -> list[HeadlineNumber]:
    """Return the main numbers of a link: utilization, queueing delay and loss.

    Parameters
    ----------
    of : str
        Remark that names the link.
    """
    return [
        HeadlineNumber("Utilization", row_with_unit(row, "utilization", "%"), of),
        HeadlineNumber("Queueing delay", row_with_unit(row, "queueing_delay_s", "s"), of or "mean of all packets"),
        HeadlineNumber("Loss", row_with_unit(row, "loss_ratio", "%"), of or "of the packets that arrive"),
    ]


def fairness_tile(row: Mapping[str, Any]) -> list[HeadlineNumber]:
    """Return the fairness of a row as a number; none if it is not known."""
    if not row["jain"] or row["jain"]["mean"] is None:
        return []
    return [HeadlineNumber("Fairness", row_with_unit(row, "jain", ""), "Jain's index, 1 is fair")]


def origin(run: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return what identifies a run, and the version that made this page.

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
    """Return the program and version that made this page."""
    return WRITER, _native.version()


def why_warmup(run: Mapping[str, Any]) -> str:
    """State the length of the warm-up, and whether the scenario or a rule set it.

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
