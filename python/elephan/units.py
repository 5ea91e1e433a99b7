"""Quantities in text form: formatting of numbers in base units, and parsing.

Times, rates and sizes are parsed in Rust, with the units of scenario files; shares are parsed here.
"""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from elephan import _native
from elephan.errors import UnitError

NUMBER = re.compile(r"\s*(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?P<unit>.*)", re.DOTALL)
"""A number, and what follows it."""

_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


def seconds(text: str) -> float:
    """Parse a time.

    Parameters
    ----------
    text : str
        A number and one of ``ps ns us ms s min h``.

    Returns
    -------
    float [s]

    Raises
    ------
    UnitError
        If there is no unit, or one that is not a time.

    Examples
    --------
    >>> seconds("10 ms")
    0.01
    """
    return _native.seconds(text)


def bits_per_second(text: str) -> float:
    """Parse a rate.

    Parameters
    ----------
    text : str
        As in a scenario file: ``1 Gbit/s``, ``125 MB/s``.

    Returns
    -------
    float [bit/s]

    Raises
    ------
    UnitError
        If there is no unit, or one that is not a rate.

    Examples
    --------
    >>> bits_per_second("2.5 Gbit/s")
    2500000000.0
    """
    return float(_native.rate_bps(text))


def octets(text: str) -> float:
    """Parse a size.

    Parameters
    ----------
    text : str
        As in a scenario file: ``1500 B``, ``1 MB``.

    Returns
    -------
    float [bytes]

    Raises
    ------
    UnitError
        If there is no unit, or one that is not a size.

    Examples
    --------
    >>> octets("1500 B")
    1500.0
    """
    return float(_native.size_bytes(text))


def share(text: str) -> float:
    """Parse a share of one: ``0.05`` or ``5%``.

    Returns
    -------
    float [1]

    Raises
    ------
    UnitError
        If it is neither a number nor a percentage.

    Examples
    --------
    >>> share("5%"), share("0.95")
    (0.05, 0.95)
    """
    stripped = text.strip()
    try:
        value = float(stripped.removesuffix("%"))
    except ValueError:
        raise UnitError(f'"{text}" is not a share; write for example 0.95 or 95%') from None
    return value / 100 if stripped.endswith("%") else value


def format_rate(bit_per_s: float) -> str:
    """Format a rate with three significant digits and the prefix that suits the rounded value.

    Parameters
    ----------
    bit_per_s : float [bit/s]

    Examples
    --------
    >>> format_rate(2.5e9), format_rate(999.7e6)
    ('2.5 Gbit/s', '1 Gbit/s')
    """
    if abs(bit_per_s) >= 999.5e12:
        return f"{bit_per_s:.3g} bit/s"
    return _three_digits(bit_per_s, _PREFIXES, "bit/s") or f"{bit_per_s:.3g} bit/s"


def format_time(s: float) -> str:
    """Format a time with three significant digits; from 1000 s on, in whole seconds.

    Parameters
    ----------
    s : float [s]

    Examples
    --------
    >>> format_time(0.0123), format_time(200)
    ('12.3 ms', '200 s')
    """
    if abs(s) >= 999.5:
        return f"{s:.0f} s"
    return _three_digits(s, _TIMES) or ("0 s" if s == 0 else f"{s:.2g} s")


def _three_digits(x: float, scales: Iterable[tuple[float, str]], unit: str = "") -> str:
    """Format a number with the first scale that its rounded value reaches; empty if it reaches none."""
    rounded = abs(float(f"{x:.3g}"))
    return next((f"{x / scale:.3g} {name}{unit}" for scale, name in scales if rounded >= scale), "")


def format_long_time(s: float) -> str:
    """Format a time, in hours from two hours on, and in days from two days on.

    Parameters
    ----------
    s : float [s]

    Examples
    --------
    >>> format_long_time(12.3), format_long_time(7200), format_long_time(1e6)
    ('12.3 s', '2 hours', '11.6 days')
    """
    for least, each, unit in ((2 * 86_400, 86_400, "days"), (2 * 3600, 3600, "hours")):
        if s >= least:
            return f"{format_number(s / each, 3)} {unit}"
    return format_time(s)


def format_bytes(n: float) -> str:
    """Format a size with three significant digits and the decimal prefix that suits the rounded value.

    Parameters
    ----------
    n : float [bytes]

    Examples
    --------
    >>> format_bytes(1_250_000), format_bytes(999_700)
    ('1.25 MB', '1 MB')
    """
    return _three_digits(n, _PREFIXES, "B") or f"{n:.3g} B"


_SCALES = {
    "s": _TIMES,
    "bit/s": ((1e12, "Tbit/s"), (1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s")),
    "B": ((1e9, "GB"), (1e6, "MB"), (1.0, "B")),
}


def scaled(unit: str, values: Iterable[float]) -> tuple[float, str]:
    """Choose the prefix of a unit that suits some numbers.

    Parameters
    ----------
    unit : str
        ``s``, ``bit/s`` or ``B``; any other unit is returned unchanged, with divisor 1.
    values : iterable of float
        Only those that are finite and not zero count.

    Returns
    -------
    float, str
        Divisor, and the unit of the quotients.

    Examples
    --------
    >>> scaled("s", [0.0875, 0.125]), scaled("bit/s", [1e6, 1e10])
    ((0.001, 'ms'), (1000000.0, 'Mbit/s'))
    >>> scaled("s", [20e-6, 0.02])
    (0.001, 'ms')
    """
    sizes = [abs(value) for value in values if math.isfinite(value) and value != 0]
    scales = _SCALES.get(unit)
    if not scales:
        return 1.0, unit
    # The geometric mean of the smallest and the largest. The factor accepts a mean that rounding left below a prefix.
    middle = math.sqrt(min(sizes)) * math.sqrt(max(sizes)) * (1 + 1e-9) if sizes else scales[0][0]
    found = next((i for i, scale in enumerate(scales) if middle >= scale[0]), len(scales) - 1)
    while found and sizes and unit != "B" and max(sizes) > 1e4 * scales[found][0] * (1 + 1e-9):
        found -= 1
    return scales[found]


def count(n: float, of: str) -> str:
    """Format a number and its noun: ``1 flow``, ``1,200 runs``, ``0.5 packets``.

    Parameters
    ----------
    of : str
        The noun in the singular; it gets an s unless `n` is 1.
    """
    return f"{f'{n:,.0f}' if n == round(n) else f'{n:.4g}'} {of}{'s' * (n != 1)}"


def format_packets(n: float) -> str:
    """Format a number of packets."""
    return count(n, "packet")


def format_number(x: float | None, digits: int = 4) -> str:
    """Format a number with some significant digits.

    Below 1e9 the integer part is written in full. From 1e9 on, and below 0.001, a power of ten is used.

    Returns
    -------
    str
        ``-`` for None and NaN.

    Examples
    --------
    >>> [format_number(x) for x in (656596.3, 0.123456, 2.16e-10, float("nan"))], format_number(999.97, 3)
    (['656596', '0.1235', '2.16e-10', '-'], '1000')
    >>> format_number(1.23456789e9)
    '1.235e9'
    """
    if x is None or math.isnan(x):
        return "-"
    # The rounded value counts: 999.97 with three digits is 1000, not 1e3.
    if 10**digits <= abs(float(f"{x:.{digits}g}")) and abs(x) < 1e9:
        return f"{x:.0f}"
    if abs(x) >= 1e-3 or x == 0:
        mantissa, _, power = f"{x:.{digits}g}".partition("e")
        return f"{mantissa}e{int(power)}" if power else mantissa
    mantissa, _, power = f"{x:.{digits - 1}e}".partition("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{int(power)}"


UNBOUNDED = (-math.inf, math.inf)
"""Interval of a quantity that has neither a lower nor an upper bound."""


_SHARES = ("utilization", "loss_ratio", "synchronization", "_fraction", "jain", "maxmin", "occupancy", "occupancy_max")
_NONNEGATIVE_ENDINGS = ("_s", "_bps", "_packets", "_segments", "_bytes")
_NONNEGATIVE_NAMES = (
    *("completed", "open", "opened", "refused", "pages", "timeouts", "loss_events", "marks", "drops", "rtt_ratio"),
    *("slowdown", "slowdown_p50", "slowdown_p95", "slowdown_p99", "total", "goodput_p5", "goodput_p50", "goodput_p95"),
)
"""Further quantities that cannot be negative."""

_QUANTILE = re.compile(r"\w+_p\d+(_s)?")

HALF_BIN = 1 / 64
"""Half-width of a bin of the engine's histograms, relative to its lower end, which limits the accuracy of quantiles."""


def limits(name: str, flows: int = 0) -> tuple[float, float]:
    """Return the smallest and the largest value that a measured quantity can have.

    Parameters
    ----------
    name : str
        Name of a column, with or without a link or group in brackets, or of a document's key. Differences of
        quantities are not supported: they may be negative.
    flows : int
        Number of flows over which Jain's index is computed, which cannot be below 1/flows; 0 if unknown.

    Returns
    -------
    tuple of float
        `UNBOUNDED` for a name that is not known.

    Examples
    --------
    >>> limits("utilization"), limits("queueing_delay_s"), limits("jain", flows=4), limits("timeouts of all flows")
    ((0.0, 1.0), (0.0, inf), (0.25, 1.0), (0.0, inf))
    """
    name = name.removeprefix("transfers_").partition("[")[0].removesuffix(" of all flows")
    if name.endswith(_SHARES):
        return 1.0 / flows if flows and name.startswith("jain") else 0.0, 1.0
    return (0.0, math.inf) if name.endswith(_NONNEGATIVE_ENDINGS) or name in _NONNEGATIVE_NAMES else UNBOUNDED


def resolution(name: str) -> float:
    """Return the relative accuracy of a measured quantity, which replications do not improve.

    Examples
    --------
    >>> resolution("page_time_p95_s"), resolution("page_time_s"), resolution("goodput_p95")
    (0.015625, 0.0, 0.0)
    """
    name = name.partition("[")[0]
    return HALF_BIN if _QUANTILE.fullmatch(name) and not name.startswith("goodput") else 0.0


def resolved(quantity: Mapping[str, Any], of: str) -> dict[str, Any]:
    """Return a measured quantity with an interval that is at least as wide as its `resolution`.

    Parameters
    ----------
    quantity : mapping
        ``{"mean", "ci95"}``; an interval of None stays None.
    of : str
        Name of the quantity.

    Examples
    --------
    >>> resolved({"mean": 0.64, "ci95": 0.0}, "page_time_p95_s")
    {'mean': 0.64, 'ci95': 0.01}
    """
    mean, half = quantity["mean"], quantity["ci95"]
    return {"mean": mean, "ci95": half if mean is None or half is None else max(half, resolution(of) * abs(mean))}


def format_interval(
    mean: float | None,
    half: float | None,
    digits: int = 4,
    *,
    joint: str = " ± ",
    thousands: str = "",
    limits: tuple[float, float] = UNBOUNDED,
) -> str:
    """Format a mean and the half-width of its 95 % interval, with digits according to the width.

    An interval that leaves the limits of its quantity ends at them and is written by its ends. Where all runs agree,
    the mean is written alone.

    Parameters
    ----------
    digits : int
        Significant digits of a mean that is written alone.
    joint, thousands : str
        Text between mean and half-width, and separator of thousands, such as a comma. A `joint` without blanks means a
        table: an interval that is cut at one limit is then written by its other end only.
    limits : tuple of float
        Smallest and largest value that the quantity can have.

    Returns
    -------
    str
        ``-`` for no mean.

    Examples
    --------
    >>> format_interval(95.0973, 0.6471), format_interval(1393.7, 12.4, thousands=","), format_interval(0.95, None)
    ('95.1 ± 0.6', '1,394 ± 12', '0.95')
    >>> format_interval(25.12345, 0), format_interval(0.93214, 0.0042, joint="±"), format_interval(43.2, 130.0)
    ('25.12', '0.932±0.004', '40 ± 130')
    >>> format_interval(0.7, 1.3, limits=(0.5, 1)), format_interval(0.9994, 0.0012, joint="±", limits=(0, 1))
    ('0.7 (0.5 to 1)', '0.9994 (>0.9982)')
    >>> format_interval(99.9998, 0.004, joint="±", limits=(0, 100)), format_interval(0.00666, 6e-8)
    ('100 (>99.996)', '0.00666')
    """
    if mean is None or math.isnan(mean):
        return "-"
    # Equal runs get no interval: a width of 0 would overstate the precision. Below 1e-5 of the mean it is rounding.
    if half is None or not math.isfinite(half) or half <= 1e-5 * abs(mean):
        return _grouped(mean, digits, thousands)
    # A mean beyond its limits is a defect elsewhere, and is not hidden here.
    low, high = max(mean - half, min(limits[0], mean)), min(mean + half, max(limits[1], mean))
    is_cut = (low > mean - half, high < mean + half)
    if any(is_cut):
        half = (high - low) / 2
    # The half-width gets one digit, or two if the first is 1: without the second it could change by a third.
    power = math.floor(math.log10(half))
    two = half / 10.0**power < 1.95
    places = -power + two

    def write(x: float, digits: int = 3) -> str:
        return format_number(x, digits) if places > 6 else f"{round(x, places):{thousands}.{max(places, 0)}f}"

    if any(is_cut):
        at_limit = next(
            (x for x, cut in zip((low, high), is_cut, strict=True) if cut and write(mean) == write(x)), None
        )
        middle = write(mean) if at_limit is None else format_number(at_limit)
        ends = [format_number(x) if cut else write(x) for x, cut in zip((low, high), is_cut, strict=True)]
        if all(is_cut) or joint.startswith(" "):
            return f"{middle} ({' to '.join(ends)})"
        # A table omits the end that is a limit, to save width.
        return f"{middle} ({f'<{ends[1]}' if is_cut[0] else f'>{ends[0]}'})"
    return f"{write(mean)}{joint}{write(half, 1 + two)}"


SHARE_PLACES = 4
"""Decimals of a utilization; the last one is a hundredth of a per cent."""

QUANTILE_DIGITS = 3
"""Significant digits of a quantile without an interval: its bin allows no more."""


def format_measured(
    quantity: Mapping[str, Any],
    scale: float = 1.0,
    digits: int = 4,
    *,
    of: str = "",
    flows: int = 0,
    joint: str = " ± ",
    thousands: str = "",
) -> str:
    """Format a measured quantity: mean and half-width, or the ends of an interval that exceeds its limits.

    A quantile of a histogram has no interval that is narrower than the bins. No mean is ``-``.

    Parameters
    ----------
    quantity : mapping
        ``{"mean", "ci95"}``.
    scale : float
        Factor for the mean, the half-width and the limits.
    digits : int
        Significant digits of a mean without interval, but never fewer than its whole part has.
    of : str
        Name of the quantity, passed to `limits` and `resolution`. If empty, neither is applied.
    flows : int
        As for `limits`.
    joint, thousands : str
        As in `format_interval`.

    Examples
    --------
    >>> format_measured({"mean": 0.9123, "ci95": 0.0}, 1e3, of="page_time_p95_s")
    '912 ± 14'
    >>> format_measured({"mean": 0.09771, "ci95": 2e-5}, 100, of="utilization")
    '9.771 ± 0.005'
    """
    mean, half, ends = quantity["mean"], quantity["ci95"], UNBOUNDED
    if of and mean is not None:
        low, high = limits(of, flows)
        ends = (low * scale, high * scale)
        if of == "utilization":
            # A packet at either end of the measured time changes later digits. A half-width that would be rounded to 0
            # is written as half of the last digit.
            if half and round(half, SHARE_PLACES) == 0 and round(mean, SHARE_PLACES) < 1:
                half = 0.5 * 10**-SHARE_PLACES
            else:
                mean, half = round(mean, SHARE_PLACES), None if half is None else round(half, SHARE_PLACES)
        elif resolution(of):
            digits, half = min(digits, QUANTILE_DIGITS), resolved(quantity, of)["ci95"]
    return format_interval(
        None if mean is None else mean * scale,
        None if half is None else half * scale,
        digits,
        joint=joint,
        thousands=thousands,
        limits=ends,
    )


def _grouped(x: float, digits: int, thousands: str) -> str:
    """Format a number without interval, with a thousands separator if requested."""
    if thousands and ((float(x).is_integer() and abs(x) < 1e15) or 1000 <= abs(x) < 1e9):
        return f"{x:{thousands}.0f}"
    return format_number(x, digits)


def format_quantity(x: float, unit: str, digits: int = 6) -> str:
    """Format a quantity that is given in a base unit, with the prefix that suits it.

    Parameters
    ----------
    unit : str
        The base unit, as for `scaled`; ``1`` is not written.

    Examples
    --------
    >>> format_quantity(0.1125, "s"), format_quantity(1000, "B"), format_quantity(0.5, "1")
    ('112.5 ms', '1000 B', '0.5')
    """
    factor, name = scaled(unit, [x])
    return f"{format_number(x / factor, digits)} {name}".removesuffix(" 1")


def number_and_unit(text: str) -> tuple[float, str] | None:
    """Split a quantity into its number and its unit.

    Returns
    -------
    tuple of float and str, or None
        None if it does not begin with a number.

    Examples
    --------
    >>> number_and_unit("0.1 bdp"), number_and_unit("20"), number_and_unit("red")
    ((0.1, 'bdp'), (20.0, ''), None)
    """
    match = NUMBER.fullmatch(text)
    return (float(match["number"]), match["unit"].strip()) if match else None
