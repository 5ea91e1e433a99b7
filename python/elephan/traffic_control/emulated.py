"""Reading of ``tc qdisc show``, ``tc class show`` and of ``tc … add``: the effect of a device's queues on a flow.

*Source*: tc(8), tc-netem(8), tc-tbf(8), tc-htb(8), tc-fq_codel(8), tc-codel(8), tc-pie(8), tc-red(8), tc-sfq(8),
tc-fq(8); `tc_util.c` of iproute2 for units: rates in powers of 1000 (`kbps` is bytes), sizes in powers of 1024.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from elephan.errors import InputError
from elephan.traffic_control.distributions import QUANTILES
from elephan.traffic_control.lines import LAB, SHOWN, command, lines_of
from elephan.traffic_control.quantities import TIME, count, rate, share, short, size, time
from elephan.traffic_control.words import check, not_known, without_unit

PACKET_B = 1514
"""Size of a full packet as queues of an Ethernet device count it [bytes]."""

QUEUES = ("pfifo", "bfifo", "pfifo_fast", "fq", "fq_codel", "codel", "pie", "red", "sfq")
"""Kinds that queue packets, and have a counterpart in scenarios."""

SHAPERS = ("netem", "tbf", "htb")

PASSIVE = ("noqueue", "mq", "mqprio", "clsact", "ingress", "noop")
"""Kinds that do not hold packets themselves."""

UNKNOWN = {
    "cake": "set up tbf with fq_codel instead, which is near it without isolation of hosts",
    "hfsc": "htb is read",
    "fq_pie": "pie and fq_codel are read",
    "dualpi2": 'write queue = { discipline = "dualpi2" } into the scenario by hand',
    "prio": "give the lines of the band that the data takes",
    "sfb": "red and fq_codel are read",
    "choke": "red is read",
    "cbs": "tbf is read",
    "etf": "tbf is read",
    "taprio": "tbf is read",
}
"""Kinds that are not supported, and alternatives for the message."""

UNIFORM = "jitter is uniform here"
"""Note for a distribution that is ignored."""


@dataclass(frozen=True)
class Discipline:
    """A queueing discipline or class of a device.

    Parameters
    ----------
    kind : str
        Name in tc; "htb class" for a class.
    device, handle, parent : str
        Empty if the line does not contain them; the parent of a root qdisc is "root".
    words : tuple of str
        The options, unchanged.
    line : int
        Number of the line in the text.
    typed : bool
        Whether the line is a command (whose words are checked as by tc), and not output of tc.
    """

    kind: str
    device: str
    handle: str
    parent: str
    words: tuple[str, ...]
    line: int
    typed: bool = False

    def value(self, *names: str) -> str | None:
        """Return the word after the first of the given names that occurs; None if none occurs."""
        for name in names:
            if name in self.words[:-1]:
                return self.words[self.words.index(name) + 1]
        return None


@dataclass
class EmulatedPath:
    """Effect of a device on the packets of a flow.

    Parameters
    ----------
    rate_bps : float [bit/s], optional
        Rate of the device; None if no line limits it.
    burst_b : float [bytes]
        Bucket of a tbf or htb; 0 without one.
    delay_s, jitter_s : float [s]
        One-way delay, and the half-width of its distribution (netem's jitter).
    loss : str
        TOML of random losses; empty without losses.
    queue : str
        TOML of the discipline.
    buffer : str
        TOML of the buffer, such as ``"1000 packets"``.
    paces : bool
        Whether fq paces the sockets of its host.
    notes : list of str
        Sentences about differences between the scenario and the device.
    delay_limit : int
        Maximum number of packets that netem holds, including those that it delays; 0 without netem.
    policer : tuple of (float, float), optional
        Rate [bit/s] and burst [bytes].
    overtakes : bool
        Whether jitter reorders packets.
    distribution : str
        Distribution of the jitter, by tc's name; empty for a uniform one.
    early : tuple of (float, int, float), optional
        netem's reorder: probability and gap [packets] of early packets, and the delay of the other packets [s].
    """

    rate_bps: float | None = None
    burst_b: float = 0.0
    delay_s: float = 0.0
    jitter_s: float = 0.0
    loss: str = ""
    queue: str = '{ discipline = "drop-tail" }'
    buffer: str = '"1000 packets"'
    paces: bool = False
    notes: list[str] = field(default_factory=list)
    delay_limit: int = 0
    policer: tuple[float, float] | None = None
    overtakes: bool = False
    distribution: str = ""
    early: tuple[float, int, float] | None = None


def disciplines(text: str) -> list[Discipline]:
    """Return the disciplines and classes of a text; other lines are ignored.

    Raises
    ------
    ValueError
        If a line is invalid; the message names the line.
    """
    lines = [(line, command(line.text)) for line in lines_of(text)]
    several = len({typed.host for _, typed in lines if typed is not None}) > 1
    found = []
    for (at, line), typed in lines:
        words = line.split()
        if typed is not None:
            if len(typed.words) > 2 and typed.words[1] in ("add", "replace", "change"):
                one = _added(typed.words, at)
                # Devices of different hosts have equal names, such as eth0.
                named = several and bool(typed.host and one.device)
                found.append(replace(one, device=f"{typed.host}:{one.device}") if named else one)
        elif len(words) > 2 and SHOWN.match(line):
            found.append(_shown(words, at))
        elif len(words) > 2 and "police" in words and "rate" in words:
            found.append(Discipline("police", "", "", "ingress", tuple(words[words.index("police") :]), at))
    return found


def _shown(words: list[str], at: int) -> Discipline:
    """Parse a line of ``tc qdisc show`` or ``tc class show``."""
    kind = words[1] if words[0] == "qdisc" else f"{words[1]} class"
    rest = words[3:]
    device = _after(rest, "dev") or ""
    parent = "root" if "root" in rest else (_after(rest, "parent") or "")
    leaf = _after(rest, "leaf")
    handle = words[2] if leaf is None else f"{words[2]} {leaf}"
    return Discipline(kind, device, handle, parent, tuple(rest), at)


def _added(words: list[str], at: int) -> Discipline:
    """Parse a line of ``tc qdisc add``, ``tc class add`` or ``tc filter add … police``."""
    device = _after(words, "dev") or ""
    parent = "root" if "root" in words else (_after(words, "parent") or "")
    if words[0] == "filter":
        rest = tuple(words[words.index("police") :]) if "police" in words else ()
        return Discipline("police" if rest else "filter", device, "", parent, rest, at, typed=True)
    handle = _after(words, "classid" if words[0] == "class" else "handle") or ""
    skip = {"dev": 2, "parent": 2, "handle": 2, "classid": 2, "root": 1, "ingress": 1, "estimator": 3}
    i = 2
    while i < len(words) and words[i] in skip:
        i += skip[words[i]]
    if i >= len(words):
        if "ingress" in words:
            return Discipline("ingress", device, "ffff:", "", (), at)
        raise ValueError(f"line {at}: names no kind of queue, such as netem")
    kind = words[i] if words[0] == "qdisc" else f"{words[i]} class"
    return Discipline(kind, device, handle, parent, tuple(words[i + 1 :]), at, typed=True)


def _after(words: Sequence[str], name: str) -> str | None:
    return words[words.index(name) + 1] if name in words[:-1] else None


def path(found: Sequence[Discipline], device: str | None = None, *, rate_known: bool = False) -> EmulatedPath:
    """Return the effect of a device's disciplines on a flow.

    Parameters
    ----------
    found : sequence of Discipline
    device : str, optional
        Needed if several devices have queues that limit or delay packets.
    rate_known : bool, default=False
        Whether the rate of the link is given by an option, so that the classes of an htb may be missing.

    Raises
    ------
    ValueError
        If a kind cannot be simulated, a value is invalid, several devices are possible, or an htb has no class.
    """
    devices = list(dict.fromkeys(one.device for one in found if one.device))
    active = [
        name
        for name in devices
        if any(
            one.device == name and one.kind.split()[0] not in (*PASSIVE, "pfifo_fast", "fq_codel", "fq")
            for one in found
        )
    ]
    if device is not None and device not in devices:
        raise ValueError(f"--dev {device}: there is no line of it; there are {', '.join(devices) or 'no devices'}")
    chosen = device or (active[0] if active else devices[0] if devices else "")
    if device is None and len(active) > 1:
        message = f"has queues of {', '.join(active[:6])}; give the one that the data leaves by with --dev {active[0]}"
        raise ValueError(message)
    mine = [one for one in found if one.device in (chosen, "")]
    if not mine:
        raise ValueError("has no line of tc qdisc or tc class")
    if not rate_known:
        _check_classes(mine)
    made = EmulatedPath()
    passed = _order(mine)
    for at, one in enumerate(passed):
        reader = _READERS.get(one.kind)
        if one.kind in UNKNOWN:
            raise ValueError(f"line {one.line}: {one.kind} cannot be simulated; {UNKNOWN[one.kind]}")
        if reader is None:
            # tc also shows classes of other queues, such as the flows of fq_codel; only classes of htb limit the rate.
            if one.kind.split()[0] in (*PASSIVE, "filter") or one.kind.removesuffix(" class") in _READERS:
                continue
            known = ", ".join((*SHAPERS, *QUEUES))
            raise ValueError(f'line {one.line}: "{short(one.kind)}" cannot be simulated; {known} can')
        try:
            if one.typed:
                check(one.kind, one.words)
            reader(one, made)
            noted = [*(() if one.typed else not_known(one.kind, one.words)), *without_unit(one.kind, one.words)]
            noted += _replaced(one, passed[at + 1 :])
            made.notes += [f"line {one.line}: {note}" for note in noted]
        except ValueError as error:
            raise ValueError(f"line {one.line}: {one.kind}: {error}") from None
    return made


def _check_classes(found: Sequence[Discipline]) -> None:
    """Refuse an htb without a class: classes have the rates, and ``tc qdisc show`` does not print them."""
    classes = [one for one in found if one.kind == "htb class"]
    majors = {name.partition(":")[0] for one in classes for name in (one.handle, one.parent)}
    for one in found:
        major = one.handle.partition(":")[0]
        # If the htb has no handle, the kernel chooses one, and the classes refer to that; any class then suffices.
        if one.kind == "htb" and major not in majors and (major or not classes):
            name = f"htb {major}:" if major else "htb"
            show = f"tc class {'add' if one.typed else 'show'} dev {one.device or 'DEV'}"
            raise ValueError(
                f"line {one.line}: {name} has no line of a class, which has its rate; add the "
                f"{'lines' if one.typed else 'output'} of {show}, or give --link-rate"
            )


def _order(found: Sequence[Discipline]) -> list[Discipline]:
    """Return the disciplines that a packet passes, the root first; of htb's classes the default or the first leaf."""
    classes = [one for one in found if one.kind == "htb class"]
    root = next((one for one in found if one.kind == "htb"), None)
    wanted = root.value("default") if root is not None else None
    wanted = None if wanted is None else wanted.removeprefix("0x")
    if not classes:
        default = None if root is None else f"{root.handle.partition(':')[0]}:{wanted}"
        below_default = any(one.parent == default for one in found)
        return [one for one in found if not below_default or one.kind == "htb" or one.parent == default]
    parents = {one.parent for one in classes}
    leaves = [one for one in classes if one.handle.split()[0] not in parents] or classes
    minor = [one.handle.split()[0].rpartition(":")[2] for one in leaves]
    leaf = leaves[minor.index(wanted)] if wanted in minor else leaves[0]
    chain = [leaf]
    while (above := next((one for one in classes if one.handle.split()[0] == chain[0].parent), None)) is not None:
        if above in chain:
            raise ValueError(f"line {above.line}: a class is its own parent")
        chain.insert(0, above)
    others = {one.handle.split()[0] for one in classes} - {leaf.handle.split()[0]}
    below = [one for one in found if one.kind not in ("htb", "htb class") and one.parent not in others]
    return [*([root] if root is not None else []), *chain, *below]


def _limit_rate(made: EmulatedPath, bps: float) -> bool:
    """Set the rate of the path if it is the lowest so far; return whether it is."""
    if made.rate_bps is not None and made.rate_bps <= bps:
        return False
    made.rate_bps = bps
    return True


def _netem(one: Discipline, made: EmulatedPath) -> None:
    words = one.words
    made.delay_limit = count(one.value("limit") or "1000")
    if made.delay_limit == 0:
        raise ValueError("limit 0 drops every packet; give at least 1")
    made.buffer = f'"{made.delay_limit} packets"'
    delay = 0.0
    if (text := one.value("delay", "latency")) is not None:
        delay = time(text)
        made.delay_s += delay
        _jitter(words[words.index(text) + 1 :], made, in_order="rate" in words)
    _losses(one, made)
    if (text := one.value("rate")) is not None:
        _limit_rate(made, rate(text))
    _reorder(one, made, delay)
    made.notes += [f"netem's {name} is left out" for name in ("duplicate", "slot") if name in words]


def _jitter(words: Sequence[str], made: EmulatedPath, *, in_order: bool) -> None:
    """Read the jitter after a delay.

    `tfifo_enqueue` of netem sorts packets by their times to send. Only if netem also has a rate, these times increase
    from packet to packet; otherwise jitter reorders packets.
    """
    if not words or not TIME.fullmatch(words[0]):
        return
    made.jitter_s = time(words[0])
    made.overtakes = made.overtakes or (made.jitter_s > 0 and not in_order)
    if made.overtakes:
        made.notes.append("netem's jitter without a rate of its own reorders packets, and so does the link here")
    if len(words) > 1 and words[1].endswith("%"):
        made.notes.append("the correlation of netem's jitter is left out")
    if (name := _after(words, "distribution")) in QUANTILES and made.overtakes:
        made.distribution = name or ""
    elif name is not None:
        made.notes.append(UNIFORM)
    if made.jitter_s > made.delay_s and not made.distribution:
        made.notes.append("the jitter is larger than the delay: it is uniform from 0 here")


def _reorder(one: Discipline, made: EmulatedPath, delay_s: float) -> None:
    text, gap = one.value("reorder"), one.value("gap")
    if text is None:
        if gap is not None:
            raise ValueError("has a gap without reorder")
        return
    early = share(text)
    if early == 0:
        return
    if delay_s == 0:
        raise ValueError("has reorder without a delay")
    if made.distribution:
        made.distribution = ""
        made.notes.append(UNIFORM)
    made.early = (early, max(count(gap or "1"), 1), delay_s)
    after = one.words[one.words.index("reorder") + 2 :]
    if after and after[0].endswith("%"):
        made.notes.append("the correlation of netem's reorder is left out")
    if made.jitter_s:
        made.notes.append("early packets of netem's reorder have jitter, too, and jitter reorders the others")
    if "rate" in one.words:
        made.notes.append("early packets of netem's reorder pass its rate; here they are sent at it")


def _losses(one: Discipline, made: EmulatedPath) -> None:
    words = list(one.words)
    total = 0.0
    if "loss" in words or "drop" in words:
        at = words.index("loss" if "loss" in words else "drop") + 1
        kind = words[at] if at < len(words) else ""
        if kind == "gemodel" and at + 1 < len(words):
            enter = share(words[at + 1])
            leave = share(words[at + 2]) if at + 2 < len(words) and words[at + 2][0].isdigit() else 1 - enter
            made.loss = f"{{ gilbert = {{ enter = {enter:.9g}, leave = {leave:.9g} }} }}"
            return
        if kind == "state":
            raise ValueError("loss state is not read; give loss gemodel or a percentage")
        if kind == "random":
            at += 1
        total += share(words[at]) if at < len(words) else 0.0
        if at + 1 < len(words) and words[at + 1].endswith("%"):
            made.notes.append("the correlation of netem's losses is left out")
    if (text := one.value("corrupt")) is not None:
        total += share(text)
        made.notes.append("damaged packets are lost packets")
    if total > 0:
        made.loss = f"{{ random = {min(total, 0.999):.9g} }}"


def _tbf(one: Discipline, made: EmulatedPath) -> None:
    text = one.value("rate")
    if text is None:
        raise ValueError("has no rate")
    bps = rate(text)
    burst = size(one.value("burst", "buffer", "maxburst") or "1540")
    if _limit_rate(made, bps):
        made.burst_b = burst
    if (limit := one.value("limit")) is not None:
        held = size(limit)
    elif (latency := one.value("latency", "lat")) is not None:
        held = bps * time(latency) / 8 + burst
    else:
        raise ValueError("has neither limit nor latency")
    made.buffer = f'"{max(held, PACKET_B):.0f} B"'


def _replaced(one: Discipline, below: Sequence[Discipline]) -> list[str]:
    """Return a note if a qdisc below a tbf replaces its queue, so that the tbf's limit or latency has no effect."""
    child = next((each for each in below if each.kind in ("netem", *QUEUES)), None)
    if one.kind != "tbf" or child is None:
        return []
    name = "limit" if one.value("limit") is not None else "latency"
    limit = f"limit {child.value('limit')}" if child.value("limit") is not None else "default limit"
    return [f"the {name} of tbf does not count, since {child.kind} below it holds its packets ({limit})"]


def _htb_class(one: Discipline, made: EmulatedPath) -> None:
    # A class may borrow up to its ceiling; no other class is assumed to send.
    text = one.value("ceil") or one.value("rate")
    if text is None:
        raise ValueError("has no rate")
    burst = one.value("cburst" if one.value("ceil") and one.value("cburst") else "burst")
    if _limit_rate(made, rate(text)):
        made.burst_b = size(burst) if burst is not None else 1600.0
    made.buffer = '"1000 packets"'


def _ignored(_: Discipline, __: EmulatedPath) -> None:
    """Ignore the root of htb, which has only classes."""


def _fifo(one: Discipline, made: EmulatedPath) -> None:
    made.queue = '{ discipline = "drop-tail" }'
    limit = one.value("limit")
    if one.kind == "bfifo":
        made.buffer = f'"{size(limit or "1514000"):.0f} B"'
    else:
        made.buffer = f'"{count(limit or "1000")} packets"'


def _codel(one: Discipline, made: EmulatedPath) -> None:
    fair = one.kind == "fq_codel"
    parts = [f'discipline = "{"fq-codel" if fair else "codel"}"']
    given = {name: text for name in ("target", "interval") if (text := one.value(name)) is not None}
    parts += [f'{name} = "{time(text) * 1e6:.0f} us"' for name, text in given.items()]
    if fair and (text := one.value("flows")) is not None:
        parts.append(f"flows = {max(count(text), 1)}")
    ecn = "noecn" not in one.words and (fair or "ecn" in one.words)
    parts.append(f"ecn = {str(ecn).lower()}")
    made.queue = f"{{ {', '.join(parts)} }}"
    made.buffer = f'"{count(one.value("limit") or ("10240" if fair else "1000"))} packets"'


def _pie(one: Discipline, made: EmulatedPath) -> None:
    parts = ['discipline = "pie"', 'profile = "linux"']
    for name, key in (("target", "target"), ("tupdate", "t_update")):
        if (text := one.value(name)) is not None:
            parts.append(f'{key} = "{time(text) * 1e6:.0f} us"')
    made.queue = f"{{ {', '.join(parts)} }}"
    made.buffer = f'"{count(one.value("limit") or "1000")} packets"'


def _red(one: Discipline, made: EmulatedPath) -> None:
    limit = one.value("limit")
    if limit is None:
        raise ValueError("has no limit")
    held = size(limit)
    high = size(one.value("max") or f"{held / 4:.0f}")
    low = size(one.value("min") or f"{high / 3:.0f}")
    parts = ['discipline = "red"', "gentle = false", 'count = "classic"']
    parts += [f"min_th = {low / PACKET_B:.6g}", f"max_th = {high / PACKET_B:.6g}"]
    if (text := one.value("probability")) is not None and re.fullmatch(r"0?\.\d+|\d+(\.\d+)?%?", text):
        parts.append(f"max_p = {min(float(text.removesuffix('%')), 1.0):g}")
    else:
        parts.append("max_p = 0.02")
    parts.append(f"ecn = {str('ecn' in one.words).lower()}")
    if "adaptive" in one.words:
        made.notes.append("adaptive is left out: the probability of RED stays")
    made.queue = f"{{ {', '.join(parts)} }}"
    made.buffer = f'"{held:.0f} B"'


def _sfq(one: Discipline, made: EmulatedPath) -> None:
    made.queue = '{ discipline = "sfq" }'
    made.buffer = f'"{count(one.value("limit") or "127")} packets"'


def _fq(one: Discipline, made: EmulatedPath) -> None:
    made.queue = '{ discipline = "fq" }'
    made.buffer = f'"{count(one.value("limit") or "10000")} packets"'
    made.paces = True
    if "nopacing" in one.words:
        made.paces = False
    else:
        made.notes.append("fq paces the sockets of its own host; it is taken for the sender's")


def _police(one: Discipline, made: EmulatedPath) -> None:
    text, burst = one.value("rate"), one.value("burst", "buffer")
    if text is None or burst is None:
        raise ValueError("has no rate and burst")
    made.policer = (rate(text), size(burst))


_READERS: dict[str, Callable[[Discipline, EmulatedPath], None]] = {
    "netem": _netem,
    "tbf": _tbf,
    "htb": _ignored,
    "htb class": _htb_class,
    "pfifo": _fifo,
    "bfifo": _fifo,
    "pfifo_fast": _fifo,
    "codel": _codel,
    "fq_codel": _codel,
    "pie": _pie,
    "red": _red,
    "sfq": _sfq,
    "fq": _fq,
    "police": _police,
}


def read(text: str, origin: str, device: str | None = None, *, rate_known: bool = False) -> EmulatedPath:
    """Read lines of tc.

    Raises
    ------
    InputError
        If a line is invalid; the message names the line and states what would be right.
    """
    try:
        found = disciplines(text)
        if not found and LAB.search(text[:100_000]):
            raise ValueError("has no line of tc; give the file NAME.startup of the host that shapes")
        return path(found, device, rate_known=rate_known)
    except (ValueError, OverflowError) as error:
        raise InputError(f"{origin}: {error}") from None
