"""Effect of changes on an inferred path, computed for the middle and the ends of the answer's intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from elephan.inference.answer import Answer
from elephan.runs import run
from elephan.scenario import Scenario


def what_if(answer: Answer, changes: Iterable[tuple[str, Mapping[str, object]]]) -> list[dict[str, Any]]:
    """Run the scenarios of the middle and of the ends of an answer, unchanged and with each change.

    Parameters
    ----------
    answer : Answer
    changes : iterable of tuple of str and mapping
        Name of each change, and values by places of the scenario, as `Scenario.replace` takes them.

    Returns
    -------
    list of dict
        ``path`` (name), ``goodput_bps``, ``queueing_delay_s`` and ``loss_ratio`` of the middle, ``paths`` (number of
        scenarios). A row of a change also has ``difference``: for each quantity its change in the middle, and the
        smallest and the largest one.

    Raises
    ------
    InputError
        If a change is not valid.
    """
    texts = (answer.scenario(), *answer.scenarios_of_ends())
    # All changes are checked before the first run.
    variants = [
        (name, [Scenario.from_text(text, "infer").replace(change) for text in texts])
        for name, change in (("as it is", {}), *changes)
    ]
    rows: list[dict[str, Any]] = []
    before: list[dict[str, float]] = []
    for name, scenarios in variants:
        found = [_measured(scenario) for scenario in scenarios]
        row: dict[str, Any] = {"path": name, **found[0]}
        if before:
            pairs = list(zip(found, before, strict=True))
            row["difference"] = {key: _range([new[key] - old[key] for new, old in pairs]) for key in found[0]}
        before = before or found
        rows.append(row | {"paths": len(texts)})
    return rows


def _range(values: list[float]) -> dict[str, float]:
    return {"middle": values[0], "low": min(values), "high": max(values)}


def _measured(scenario: Scenario) -> dict[str, float]:
    """Run a scenario, and return the goodput of its first group, and delay and loss of its link."""
    document = run(scenario).to_json()
    link, group = document["links"][0], document["groups"][0]
    found = {
        "goodput_bps": group["goodput_per_flow_bps"]["mean"],
        "queueing_delay_s": link["queueing_delay_s"]["mean"],
        "loss_ratio": link["loss_ratio"]["mean"],
    }
    # A link without a packet has neither delay nor loss.
    return {key: float(mean or 0.0) for key, mean in found.items()}
