"""Buffers that cannot take what arrives at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elephan.lint.rule import LintFinding, LintRule, LintSubject

if TYPE_CHECKING:
    from collections.abc import Iterator


def _check(study: LintSubject) -> Iterator[LintFinding]:
    for link in {group.link.index: group.link for group in study.groups}.values():
        if link.buffer_packets is None:
            continue
        fast = [g for g in study.groups if g.link is link and (g.access_rate_bps or float("inf")) > link.rate_bps]
        # The first of a burst is in service.
        burst = max((int(group.tcp["initial_window"]) for group in fast), default=1) - 1
        if link.buffer_packets < burst:
            message = f"{link.buffer_packets:.4g} packets are less than the initial window of {burst + 1} in one burst"
        elif link.buffer_packets < link.flows:
            message = f"{link.buffer_packets:.4g} packets are less than one for each of its {link.flows} flows"
        else:
            continue
        yield LintFinding(
            f"links[{link.name}].buffer",
            message,
            f'give at least "{max(burst, link.flows)} packets", unless so small a buffer is what you study',
        )


RULE = LintRule(
    "buffer-under-burst",
    "The buffer is smaller than one burst",
    "Enachescu et al. 2006, Routers with very small buffers; RFC 6928 for initial windows",
    "What a sender may send at once, and one packet of each flow at the same time, must find room, or losses say "
    "nothing about congestion and flows live on timeouts.",
    _check,
)
