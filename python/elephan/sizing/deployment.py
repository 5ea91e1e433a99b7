"""Check of a buffer that is to be deployed: lint warnings, heavy loss, and the `tc` line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from elephan.lint import LintWarning, lint
from elephan.scenario import Scenario
from elephan.sizing.curve import BufferCurve
from elephan.sizing.suggest import TIMEOUTS, heavy_losses
from elephan.sizing.targets import Target

FORBIDS_DEPLOYMENT = frozenset({"buffer-under-burst", "overload", "ends-in-warm-up"})
"""Lint rules whose warnings mean that no `tc` line is given: the buffer is too small, or does not decide anything."""


@dataclass(frozen=True)
class Deployment:
    """A buffer of a link, and reasons against deploying it.

    Parameters
    ----------
    buffer_packets : int or None [packets]
        None: the scenario's own.
    scenario : Scenario
        The scenario with this buffer.
    warnings : list of LintWarning
        Lint warnings for it.
    lossy : str
        The danger of a loss so heavy that no `tc` line is given; empty if there is none.
    tc : str or None
        The `tc` line that sets the buffer on Linux; None without an equal queue, or if something forbids it.
    """

    buffer_packets: int | None
    scenario: Scenario
    warnings: list[LintWarning]
    lossy: str
    tc: str | None

    @property
    def forbidding(self) -> list[LintWarning]:
        """Lint warnings because of which no `tc` line is given."""
        return forbidding(self.warnings)


def forbidding(warnings: Sequence[LintWarning]) -> list[LintWarning]:
    """Return the lint warnings because of which no `tc` line is given."""
    return [warned for warned in warnings if warned.rule in FORBIDS_DEPLOYMENT]


def deployment(
    scenario: Scenario, link: int, targets: Sequence[Target], curve: BufferCurve, buffer: int | None
) -> Deployment:
    """Check a buffer that is to be deployed.

    Parameters
    ----------
    scenario : Scenario
    link : int
    targets : sequence of Target
    curve : BufferCurve
        Measured curve; empty if nothing was simulated.
    buffer : int or None [packets]
        None: the scenario's own.

    Returns
    -------
    Deployment
    """
    changed = scenario if buffer is None else scenario.with_buffer(link, buffer)
    lossy: list[str] = []
    if buffer is not None and curve.replications(buffer):
        lossy = heavy_losses(curve, targets, buffer, TIMEOUTS)
    warnings = lint(changed)
    tc = None if lossy or forbidding(warnings) else changed.links[link]["tc"]
    return Deployment(buffer, changed, warnings, "".join(lossy), tc)
