"""Rule: buffers that cannot hold packets that arrive at the same time."""

from __future__ import annotations

from elephan.lint.rule import LintFinding, LintFindings, LintRule, LintSubject
from elephan.units import format_packets


def _check(subject: LintSubject) -> LintFindings:
    bulk = subject.network.bulk
    for link in {group.narrowest.index: group.narrowest for group in bulk}.values():
        if link.buffer_packets is None:
            continue
        fast = [g for g in bulk if g.narrowest is link and (g.access_rate_bps or float("inf")) > link.rate_bps]
        # The first of a burst is in service.
        burst = max((int(group.tcp["initial_window"]) for group in fast), default=1) - 1
        room = f"room for {format_packets(link.buffer_packets)}"
        if link.buffer_packets < burst:
            message = f"{room} is less than the initial window of {burst + 1} in one burst"
        elif link.buffer_packets < link.flows_per_member:
            message = f"{room} is less than one packet for each of its {link.flows_per_member} flows"
        else:
            continue
        yield LintFinding(
            f"links[{link.name}].buffer",
            message,
            f'give at least "{max(burst, link.flows_per_member)} packets", unless so small a buffer is what you study',
        )


RULE = LintRule.named("buffer-under-burst", _check)
