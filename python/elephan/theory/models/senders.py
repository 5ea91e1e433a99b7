"""Assumptions of models about settings of senders, and parameters of laws that do not affect a model.

Source: none; a parameter does not affect a model if its default gives the model the same inputs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from elephan.theory import controls
from elephan.theory.law_responses import law_responses
from elephan.theory.models.bottleneck import Bottleneck
from elephan.theory.models.card import Model
from elephan.theory.response import Floats

TAKEN: dict[str, tuple[tuple[Any, ...], str]] = {
    "slow_start": (
        ({"kind": "classic"},),
        "takes windows that are open, by the classic slow start where they were not",
    ),
    "recovery": (("sack", "prr", "rack"), "assumes that a loss is repaired in a round trip"),
    "delayed_ack": ((1,), "assumes that every segment is acknowledged at once"),
    "ecn": (("off",), "assumes that drops are the signal, one for each lost packet"),
    "receive_window": ((None,), "takes windows that the receiver does not limit"),
}
"""Settings other than the law that affect a sawtooth: values that the models assume, and the assumption in words."""

# Relative difference below which two inputs of a model count as equal [1].
_SAME = 1e-6


PERIOD = ("recovery", "ecn", "receive_window")
"""Settings of `TAKEN` that affect the duration of a sawtooth."""


def violated_by_senders(
    link: Bottleneck, keys: tuple[str, ...] = tuple(TAKEN), buffer: float | None = None
) -> list[str]:
    """List the settings of the senders that differ from the models' assumptions.

    Parameters
    ----------
    keys : tuple of str
        Settings to compare.
    buffer : float, optional [packets]
        Largest buffer for which a prediction is made; the scenario's by default.

    Returns
    -------
    list of str
        One line for each.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> from elephan.theory.models import bottleneck
    >>> violated_by_senders(bottleneck(Scenario.from_text(EXAMPLE).replace({"flows[0].recovery": "tahoe"}).network, 0))
    ['assumes that a loss is repaired in a round trip; here recovery is tahoe']
    """
    lines = []
    for key in keys:
        values, words = TAKEN[key]
        other = sorted({shown(sender[key]) for sender in link.senders if sender[key] not in values})
        if key == "receive_window":
            lines += [f"{words}; {held}" for held in _held_by_receivers(link, buffer)]
        elif other:
            lines.append(f"{words}; here {key} is {' and '.join(other)}")
    return lines


def _held_by_receivers(link: Bottleneck, buffer: float | None) -> list[str]:
    """Return a message if receive windows limit flows: at which buffers, and which key changes this."""
    most = link.buffer_packets if buffer is None else buffer
    if most is not None and most <= link.held_from:
        return []
    where = f"from a buffer of {link.held_from:,.4g} packets on" if link.held_from > 0 else "at any buffer"
    return [f'receive_window holds {where}: set tcp.receive_window = "none"'] if math.isfinite(link.held_from) else []


def shown(value: Any) -> str:
    """Format a setting.

    Parameters
    ----------
    value : object
        A value, or a table, of which only the kind is shown if it has one.

    Examples
    --------
    >>> shown({"kind": "limited", "max_ssthresh": 100.0}), shown(2), shown({"slow_start": 1.5})
    ('limited', '2', '{ slow_start = 1.5 }')
    """
    if not isinstance(value, dict):
        return str(value)
    return str(value["kind"]) if "kind" in value else f"{{ {', '.join(f'{k} = {v}' for k, v in value.items())} }}"


def ignored_parameters(model: Model, link: Bottleneck) -> list[str]:
    """List the parameters of the laws whose values do not affect the model.

    Parameters
    ----------
    model : Model
        A model that predicts and applies to the link.

    Returns
    -------
    list of str
        One line for each.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> from elephan.theory.models import MODELS, bottleneck
    >>> htcp = {"flows[0].control": {"law": "htcp", "throughput_change": 0.1}}
    >>> ignored_parameters(MODELS["sawtooth"], bottleneck(Scenario.from_text(EXAMPLE).replace(htcp).network, 0))
    ['says the same without throughput_change = 0.1, whatever that does to htcp']
    """
    lines = []
    for law in dict.fromkeys(link.laws):
        given = controls.control(law)
        here = model.asks(law, link)
        for name, other in controls.without(law).items():
            if np.allclose(here, model.asks(other, link), rtol=_SAME, atol=0, equal_nan=True):
                lines.append(
                    f"says the same without {name} = {_value(given[name])}, whatever that does to {given['law']}"
                )
    return lines


def sawtooth_inputs(law: str, link: Bottleneck) -> Floats:
    """Return the values of a law on a link that determine the results of a sawtooth model.

    Returns
    -------
    ndarray
        Increase and decrease at windows around those of the link. For a law that remembers its last loss, sawteeth of a
        flow with an equal share of the link.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> from elephan.theory.models import bottleneck
    >>> float(sawtooth_inputs("reno(decrease=0.2)", bottleneck(Scenario.from_text(EXAMPLE).network, 0))[-1].round(2))
    0.2
    """
    answers = law_responses(law)
    if answers.remembers:
        buffers = (_BUFFERS * link.bdp / link.flows).tolist()
        return answers.alone(link.rate / link.flows, buffers, link.mean_rtt_s).ravel()
    windows = _WINDOWS * link.bdp / link.flows
    full = link.mean_rtt_s * np.maximum(_WINDOWS, 1.0)
    return np.concatenate([ask(windows, full, link.mean_rtt_s) for ask in (answers.increase, answers.decrease)])


def period_inputs(law: str, link: Bottleneck) -> Floats:
    """Return the values of a law on a link that determine the results of a model with a loss rate.

    Returns
    -------
    ndarray
        Packets and round trips of periods at windows around those of the link, and the decrease at these windows.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> from elephan.theory.models import bottleneck
    >>> float(period_inputs("reno(decrease=0.2)", bottleneck(Scenario.from_text(EXAMPLE).network, 0))[-1].round(2))
    0.2
    """
    windows, rtt = _WINDOWS * link.bdp / link.flows, link.mean_rtt_s
    packets, rounds = law_responses(law).periods(windows, rtt)
    return np.concatenate([packets, rounds, law_responses(law).decrease(windows, rtt)])


# Windows and buffers at which laws are compared, relative to a flow's share of the bandwidth-delay product.
_WINDOWS, _BUFFERS = np.geomspace(0.2, 3.0, 9), np.array([0.02, 0.2, 1.0])


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)


def doubts(model: Model, link: Bottleneck, buffer: float | None = None) -> list[str]:
    """List a model's assumptions that a link or its senders' settings violate.

    Parameters
    ----------
    model : Model
        A model that predicts and applies to the link.
    buffer : float, optional [packets]
        Largest buffer for which a prediction is made; the scenario's by default.

    Returns
    -------
    list of str
        One line for each.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> from elephan.theory.models import MODELS, bottleneck
    >>> doubts(MODELS["sawtooth"], bottleneck(Scenario.from_text(EXAMPLE).network, 0))
    []
    """
    return [
        *model.doubts(link),
        *violated_by_senders(link, buffer=buffer),
        *([] if model.takes_pacing else knows_no_pacing(link)),
        *ignored_parameters(model, link),
    ]


def knows_no_pacing(link: Bottleneck) -> list[str]:
    """Return a message if senders pace, for a model that ignores pacing.

    Returns
    -------
    list of str
        One line, or none.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> from elephan.theory.models import bottleneck
    >>> paced = {"flows[0].tcp.pacing": "linux"}
    >>> knows_no_pacing(bottleneck(Scenario.from_text(EXAMPLE).replace(paced).network, 0))
    ['knows no pacing; here it is linux']
    """
    if not link.is_paced:
        return []
    return [f"knows no pacing; here it is {' and '.join(map(shown, link.pacings))}"]


def differing(one: Mapping[str, Any], other: Mapping[str, Any], but: tuple[str, ...] = ()) -> list[str]:
    """Return the settings in which two groups of senders differ.

    Parameters
    ----------
    one, other : mapping
        Settings as in `Bottleneck.senders`.
    but : tuple of str
        Keys to ignore.

    Examples
    --------
    >>> differing({"recovery": "sack", "pacing": "linux"}, {"recovery": "tahoe"})
    ['recovery', 'pacing']
    """
    # Keys added in later versions are omitted from canonical forms if they have their defaults.
    return [key for key in dict.fromkeys((*one, *other)) if key not in but and one.get(key) != other.get(key)]
