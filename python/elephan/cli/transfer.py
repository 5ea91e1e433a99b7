"""``elephan transfer``: the time that a block of data takes on a path, also after the connection was silent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from elephan.cli import options
from elephan.cli.common import option_value, print_json, print_wrapped
from elephan.cli.options import argument, option
from elephan.errors import InputError, ScenarioError
from elephan.units import format_rate, format_time, seconds

EXAMPLE = """Example:  elephan transfer 4MB --rtt 200ms --rate 50Mbit/s --after 8s
elephan transfer 300kB --rtt 600ms --rate 20Mbit/s --law bbr1 --loss 0.01%"""

FEWEST = 5
"""Number of transfers whose mean is the answer, if one connection carries several."""

MOST_PACKETS = 1e8
"""Largest number of packets of a run."""

LONGEST = 64
"""Largest factor on the duration of a run in which too few transfers ended."""

_OPTIONS = {
    "duration": "SIZE, --rtt or --after",
    "links[0].rate": "--rate",
    "links[0].buffer": "--buffer",
    "links[0].loss.random": "--loss",
    "flows[0].rtt": "--rtt",
    "flows[0].control.law": "--law",
    "flows[0].traffic.size": "SIZE",
    "flows[0].traffic.think": "--after",
}
"""Options by the keys of the scenario that they set."""

HOLDS = 0.5
"""Share of the completion time from which the receive window counts as the limit. The rest is slow start."""

REPLICATIONS = 20
"""Number of replications if packets are lost at random. Without random losses all would be equal, and one is run."""


def transfer(
    size: Annotated[str, argument("SIZE", 'Payload, such as "4 MB".', show_default=False)],
    rtt: Annotated[str, option("--rtt TIME", "Round-trip time of the empty path.")],
    rate: Annotated[str, option("--rate RATE", "Rate of the narrowest link.")],
    after: Annotated[
        str | None,
        option("--after TIME", "Silence before the block, on an open connection; without it, the connection is new."),
    ] = None,
    buffer: Annotated[str, option("--buffer SIZE", "Buffer of the link.")] = "1 bdp",
    law: Annotated[str, option("--law LAW", "Congestion control (elephan list laws).")] = "cubic",
    paced: Annotated[bool, option("--paced", "Pace packets, as Linux does with the queue fq.")] = False,
    loss: Annotated[str | None, option("--loss SHARE", "Share of packets lost at random, such as 0.01%.")] = None,
    receive_window: Annotated[
        str | None,
        option(
            "--receive-window SIZE",
            'Largest receive window (half of the third value of tcp_rmem), or "none".',
            show_default="3 MiB",
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Say how long a block of data takes with Linux's TCP, from its first segment to its arrival.

    A request adds half a round trip, a new connection a whole one.
    """
    link: dict[str, Any] = {"name": "path", "rate": rate, "buffer": buffer}
    if loss is not None:
        link["loss"] = {"random": _share(loss)}
    path = {"rtt": rtt, "control": {"law": law}}
    sender: dict[str, Any] = {"profile": "linux"} | ({"pacing": "linux"} if paced else {})
    if receive_window is not None:
        sender["receive_window"] = _window(receive_window)
    kept = sender | {"window_validation": "linux-kept"}
    finite = {"kind": "finite", "size": size}
    found = {"new connection": _took(link, path | {"tcp": sender, "traffic": finite}, 0.0)}
    if after is not None:
        pause = option_value("--after", seconds, after)
        block = {"kind": "request-response", "size": size, "law": "constant", "think": after, "think_law": "constant"}
        found = {
            "after silence": _took(link, path | {"tcp": sender, "traffic": block}, pause),
            "window kept": _took(link, path | {"tcp": kept, "traffic": block}, pause),
            **found,
        }
    if json:
        print_json({"size": size, "rtt": rtt, "rate": rate, "after": after, "completion_time_s": found})
        return
    print_wrapped(*_lines(found, size, after), *_limit(found), f"Buffer of the link: {buffer} (--buffer).")


def _lines(found: dict[str, dict[str, Any]], size: str, after: str | None) -> Iterator[str]:
    """Return the answer, and the times for other states of the connection."""
    asked, *others = found.items()
    name, values = asked
    when = f"after {after} of silence" if after else "on a new connection"
    average = format_rate(float(f"{values['payload_bytes'] * 8 / values['mean']:.3g}"))
    yield f"{size} {when}: {_time(values)}, {average} on average; the path alone takes {_short(values['alone_s'])}."
    words = {
        "window kept": "With the window kept over the silence (tcp_slow_start_after_idle = 0)",
        "new connection": "On a new connection, after its handshake",
    }
    for name, values in others:
        yield f"{words[name]}: {_time(values)}."


def _limit(found: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Return a note if the receive window is narrower than the link and determines the completion time."""
    asked = next(iter(found.values()))
    window, limited_s = asked["receive_window_bytes"], asked["receive_window_s"]
    if window is not None and limited_s > max(asked["alone_s"], HOLDS * asked["mean"]):
        rate = format_rate(float(f"{asked['payload_bytes'] * 8 / limited_s:.3g}"))
        yield (
            f"The receive window is the limit: {_binary(window)} per round trip are {rate}. Give the window "
            "of your hosts, or none (--receive-window)."
        )


def _binary(size_b: float) -> str:
    """Format a size with binary prefixes, as is usual for receive buffers."""
    return f"{size_b / 2**20:.3g} MiB" if size_b >= 2**20 else f"{size_b / 2**10:.3g} KiB"


def _window(text: str) -> str | dict[str, Any]:
    """Return the key `receive_window` of a scenario: the limit of the receive buffer, half of which is the window."""
    from elephan import _native  # noqa: PLC0415 (--help does without)

    if text == "none":
        return text
    limit = 2 * int(option_value("--receive-window", _native.size_bytes, text))
    if not 4096 <= limit < 2**31:
        raise InputError(f'--receive-window: must lie between 2 KiB and 1 GiB, or be "none", not "{text}"')
    return {"initial": f"{min(limit, 128 * 1024)} B", "max": f"{limit} B", "share": 0.5}


def _time(values: dict[str, Any]) -> str:
    mean, half = values["mean"], values["ci95"]
    between = f" (95 %: {_short(mean - half)} to {_short(mean + half)})" if half else ""
    return f"{_short(mean)}{between}"


def _short(value_s: float) -> str:
    return format_time(float(f"{value_s:.3g}"))


def _share(text: str) -> float:
    """Read a share, as a number or in percent."""
    try:
        found = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        found = -1.0
    if not 0 <= found < 1:
        raise InputError(f'--loss: "{text}" is not a share of packets; give for example 0.0001 or 0.01%')
    return found


def _of_option(message: str) -> str:
    """Return a message about the scenario with the option instead of the key: the user has not written the scenario."""
    from elephan.scenario import OF_YOUR_OWN  # noqa: PLC0415 (--help does without)

    place, _, rest = message.removeprefix("scenario: ").partition(": ")
    return f"{_OPTIONS.get(place, place)}: {rest.removesuffix(OF_YOUR_OWN)}"


def _took(link: dict[str, Any], flow: dict[str, Any], pause_s: float) -> dict[str, Any]:
    """Return the completion time of a transfer [s], from runs that are long enough for `FEWEST` of them."""
    from elephan import _native  # noqa: PLC0415 (--help does without)
    from elephan.runs import run  # noqa: PLC0415 (as above)
    from elephan.scenario import Scenario  # noqa: PLC0415 (as above)

    payload = option_value("SIZE", _native.size_bytes, flow["traffic"]["size"])
    rate, rtt = option_value("--rate", _native.rate_bps, link["rate"]), option_value("--rtt", seconds, flow["rtt"])
    if payload * FEWEST / 1460 > MOST_PACKETS:
        most = f"{MOST_PACKETS / FEWEST * 1460 / 1e9:.0f} GB"
        raise InputError(f"{flow['traffic']['size']}: too large to run here; give at most {most}")
    alone = payload * 8 / rate + rtt / 2
    wanted = FEWEST if pause_s else 1
    first = duration = (pause_s + 4 * alone + 4 * rtt) * (wanted + 1)
    while duration <= LONGEST * first:
        mapping = {
            "title": "transfer",
            "duration": f"{duration:.6f} s",
            "warmup": f"{(pause_s + alone) if pause_s else 0:.6f} s",
            "replications": REPLICATIONS if "loss" in link else 1,
            "links": [link],
            "flows": [{"name": "block", "path": ["path"], "packet": "1500 B", **flow}],
        }
        try:
            scenario = Scenario.from_mapping(mapping)
        except ScenarioError as error:
            raise InputError(_of_option(str(error))) from None
        tuned = scenario.network.groups[0].tcp["receive_window"]
        window = tuned["max_bytes"] * tuned["share"] if isinstance(tuned, dict) else None
        moved = run(scenario).to_json()["groups"][0]["transfers"]
        assert moved is not None  # all of the traffic consists of transfers
        if moved["completed"]["mean"] >= wanted:
            took = moved["completion_time_s"]
            return {
                "mean": took["mean"],
                "ci95": took["ci95"],
                "alone_s": alone,
                "payload_bytes": payload,
                "receive_window_bytes": window,
                "receive_window_s": None if window is None else payload / window * scenario.network.groups[0].rtt_s,
            }
        duration *= 2
    raise InputError(f"no transfer ended within {format_time(duration / 2)}; give less --loss, or a smaller size")
