"""Rule: flows whose receive window is too small to fill the link and its buffer."""

from __future__ import annotations

import math

from elephan.lint.rule import LintFinding, LintFindings, LintRule, LintSubject

FULL = 0.95
"""Mean window, as a share of the receive window, from which a flow is limited by its receiver most of the time."""


def _check(subject: LintSubject) -> LintFindings:
    for group in subject.network.bulk:
        limit = group.receive_window
        if limit is None:
            continue
        mean = subject.measured(group, "cwnd_segments")
        window = group.window
        wanted = group.bdp if window is None else window
        tuned = group.tcp["receive_window"] if isinstance(group.tcp["receive_window"], dict) else None
        segments = f"{limit} segments" if tuned is None else f"{limit} segments, to which the window grows,"
        if mean is not None and mean >= FULL * limit:
            message = (
                f"the mean cwnd is {mean:,.0f} segments and the receive window {limit:,}: the receiver holds the flows "
                "back, not the link"
            )
        elif limit < wanted:
            message = f"{segments} are less than a flow's share of pipe and buffer, {wanted:.0f} segments"
        else:
            continue
        enough = f"{2 * wanted:.0f}"
        if tuned is not None:
            buffer_mib = 2 * wanted / limit * tuned["max_bytes"] / 2**20
            enough = f'max = "{math.ceil(buffer_mib)} MiB" (the third number of tcp_rmem)'
        yield LintFinding(
            f"flows[{group.name}].tcp.receive_window",
            message,
            f'give at least {enough}, or "none", unless this limit is what you study',
        )


RULE = LintRule.named("receiver-limited", _check)
