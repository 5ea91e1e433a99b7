"""Writes the scenario of a path that lines of tc describe."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from statistics import fmean
from string import Template

from elephan.traffic_control.distributions import delays
from elephan.traffic_control.emulated import PACKET_B, EmulatedPath
from elephan.units import format_rate, format_time

_SCENARIO = Template(files("elephan.traffic_control").joinpath("path.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Around:
    """Properties of a path that tc does not know.

    Parameters
    ----------
    link_bps : float [bit/s]
        Rate of the device.
    rtt_s : float [s]
        Base round-trip time without the delay of netem.
    law : str
    flows : int
    duration_s : float [s]
    """

    link_bps: float = 1e9
    rtt_s: float = 0.0005
    law: str = "cubic"
    flows: int = 1
    duration_s: float = 30.0


def scenario(made: EmulatedPath, around: Around, title: str) -> str:
    """Return a scenario in which a bulk flow crosses the path.

    Parameters
    ----------
    title : str
        Name of the file.
    """
    bps = made.rate_bps or around.link_bps
    buffer, policer = _held(made, bps)
    fixed, width, mean = _delays(made)
    delay = f'delay  = "{(around.rtt_s / 2 + fixed) * 1e6:.0f} us"'
    jitter = [f'jitter = {{ uniform = ["0 us", "{width * 1e6:.0f} us"] }}'] if width else []
    # If netem has a rate, each packet is sent at its own time or after the packet before it, whichever is later. This
    # is a link with jitter before the link with the rate.
    before = bool(width) and not made.overtakes and made.early is None
    lines = ['name   = "emulated"', *([] if before else [delay])]
    if made.burst_b > 2 * PACKET_B and made.rate_bps is not None and around.link_bps > made.rate_bps:
        lines.append(f'rate   = "{around.link_bps:.0f} bit/s"')
        lines.append(f'shaper = {{ rate = "{bps:.0f} bit/s", burst = "{made.burst_b:.0f} B" }}')
    else:
        lines.append(f'rate   = "{bps:.0f} bit/s"')
    lines += [f"buffer = {buffer}", f"queue  = {made.queue}"]
    if made.loss:
        lines.append(f"loss   = {made.loss}")
    lines += [] if before else jitter
    if made.early is not None:
        early, gap, _ = made.early
        by = f"{(made.early[2] - min(made.jitter_s, made.early[2])) * 1e6:.0f} us"
        lines.append(f'reorder = {{ early = {early:.9g}, by = "{by}", gap = {gap} }}')
    elif made.distribution:
        listed = [f'"{(each - fixed) * 1e6:.0f} us"' for each in _drawn(made)]
        rows = [", ".join(listed[at : at + 10]) for at in range(0, len(listed), 10)]
        lines += ["reorder = { paths = [", *(f"  {row}," for row in rows), '], spray = "random" }']
    elif made.overtakes:
        lines.append('reorder = "jitter"')
    if policer is not None:
        lines.append(f'policer = {{ rate = "{policer[0]:.0f} bit/s", burst = "{policer[1]:.0f} B" }}')
    if before:
        rate = f'rate   = "{max(around.link_bps, 10 * bps):.0f} bit/s"'
        lines += ["", "[[links]]", 'name   = "jitter"', delay, *jitter, rate, 'buffer = "unlimited"']
    pacing = ', pacing = "linux"' if made.paces else ""
    clean = "".join(c for c in title if c.isprintable() and c not in '"\\')
    return _SCENARIO.substitute(
        title=clean,
        duration=f"{around.duration_s:g} s",
        warmup=f"{around.duration_s / 4:g} s",
        link="\n".join(lines),
        path='"jitter", "emulated"' if before else '"emulated"',
        flows=around.flows,
        rtt=f"{(around.rtt_s + mean) * 1e6:.0f} us",
        tcp=f'{{ profile = "linux", header = "66 B", delayed_ack = 2{pacing} }}',
        law={"bbr": "bbr1"}.get(around.law, around.law),
    )


def _delays(made: EmulatedPath) -> tuple[float, float, float]:
    """Return the minimum delay of a packet, the width of the jitter, and the mean delay [s]."""
    if made.distribution:
        drawn = _drawn(made)
        return min(drawn), 0.0, fmean(drawn)
    low = max(made.delay_s - made.jitter_s, 0.0)
    width = made.delay_s + made.jitter_s - low if made.jitter_s else 0.0
    if made.early is None:
        return low, width, low + width / 2
    share, gap, delay_s = made.early
    by = delay_s - min(made.jitter_s, delay_s)
    # Before each early packet, gap - 1 packets are late; then each further packet is early with probability `share`.
    late = 1 - 1 / (gap - 1 + 1 / share)
    return low - by, width, low - by + late * by + width / 2


def _drawn(made: EmulatedPath) -> list[float]:
    """Return the delays with equal probability for a jitter that is not uniform [s]."""
    return delays(made.distribution, made.delay_s, made.jitter_s)


def _held(made: EmulatedPath, bps: float) -> tuple[str, tuple[float, float] | None]:
    """Return buffer and policer of the scenario; netem's limit includes the packets that it delays."""
    limit, own = made.delay_limit, made.buffer == f'"{made.delay_limit} packets"'
    within = made.delay_s * bps / 8 / PACKET_B
    left = limit - within
    if not limit or (left >= 0 and not own):
        return made.buffer, made.policer
    if left >= limit / 2:
        return f'"{left:.0f} packets"', made.policer
    if left >= 0:
        # Slow start sends W packets at twice the rate. netem then holds W of them, but a queue before the delay W/2.
        made.notes.append(
            f"netem's limit of {limit:,} packets leaves {left:,.0f} besides the {within:,.0f} in its delay of "
            f"{format_time(made.delay_s)} at {format_rate(bps)}; the queue is modelled as half of the limit, since "
            "the delay takes bursts, too"
        )
        return f'"{max(limit // 2, 1)} packets"', made.policer
    # `tfifo_enqueue` drops packets that arrive while it holds `limit` packets; it has no rate. A token bucket of
    # `limit` packets that fills in `delay` drops the same share of steady arrivals, and of bursts at one instant. Of a
    # longer burst, within the delay, it passes more: at most twice the limit.
    policed = limit * PACKET_B * 8 / made.delay_s
    if made.policer is not None and made.policer[0] <= policed:
        return made.buffer, made.policer
    packets = "1 packet" if limit == 1 else f"{limit:,} packets"
    made.notes.append(
        f"netem's limit of {packets} is below the {within:,.0f} that its delay of {format_time(made.delay_s)} holds at "
        f"{format_rate(bps)}; it is modelled as a policer of {format_rate(policed)} with a burst of the limit"
    )
    return made.buffer, (policed, limit * PACKET_B)
