"""Response functions that are published, or that follow from published equations.

The models do not use these functions but the engine's laws (`law_responses`). `elephan model response` shows these
functions; they are used in the papers' own formulas, and compared with the engine's laws. *Source*: named with each
law; the parameters default to those of the catalogue. *Differs from* the engine: BIC without rounding the number of
rounds and with a fixed target; BIC and CUBIC without fast convergence; H-TCP without RTT scaling; Compound on a path
without a queue. If a publication does not give the mean over one period, it is derived here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from elephan.errors import InputError, suggest
from elephan.theory.law_responses import law_responses
from elephan.theory.response import RENO, Curve, Floats, Response, bisect, parametric, reno_below
from elephan.units import seconds

Variant = Literal["log", "rfc", "ns2"]

# RFC3649, Section 5. MIN_DECREASE keeps b above zero beyond 4.6e5 segments, which the RFC does not cover.
LOW_WINDOW, HIGH_WINDOW = 38.0, 83_000.0
LOW_P, HIGH_P = 1e-3, 1e-7
HIGH_DECREASE, MIN_DECREASE = 0.1, 0.01


def aimd(increase: float = 1.0, decrease: float = 0.5) -> Response:
    """Additive increase, multiplicative decrease: w = sqrt(a (2 - b) / (2 b p)).

    Parameters
    ----------
    increase : float [segments per RTT]
    decrease : float [1]

    Returns
    -------
    Response

    References
    ----------
    FloydHandleyPadhye2000.

    Examples
    --------
    >>> float(aimd(32, 0.125).window(1e-4).round())
    1549.0
    """
    square = increase * (2 - decrease) / (2 * decrease)
    return Response(
        "aimd",
        "FloydHandleyPadhye2000",
        False,
        lambda p, _: np.sqrt(square / p),
        lambda w, _: square / w**2,
        lambda w, _: np.full_like(w, increase),
        lambda w, _: np.full_like(w, decrease),
    )


def reno(segments_per_ack: float = 1.0) -> Response:
    """Reno: w = sqrt(3 / (2 d p)) with d segments acknowledged by each ACK.

    Parameters
    ----------
    segments_per_ack : float
        2 with delayed ACKs and a sender that counts ACKs; 1 if the sender counts segments.

    Returns
    -------
    Response

    References
    ----------
    Mathis1997.

    Examples
    --------
    >>> float(reno(2).window(0.75e-4))
    100.0
    """
    return replace(aimd(1 / segments_per_ack), name="reno", source="Mathis1997")


def highspeed(variant: Variant = "log") -> Response:
    """HighSpeed TCP, with the three versions of p(w) in use; Reno up to 38 segments.

    At 38 segments p(w) has a step of 4 %. For loss rates within this step the window is 38.

    Parameters
    ----------
    variant : {"log", "rfc", "ns2"}
        ``log``: the line through (38, 1e-3) and (83000, 1e-7) in logarithms, as in elephan's law; ``rfc``: 0.078 /
        w^1.2, as in the tables of the RFC; ``ns2``: the line that begins at p = 1.5 / 38^2, without the step.

    Returns
    -------
    Response

    Raises
    ------
    InputError
        If the variant does not exist.

    References
    ----------
    RFC3649, Section 5; Barman2004.

    Examples
    --------
    >>> [float(highspeed(name).increase(83_000).round(2)) for name in ("log", "rfc", "ns2")]
    [72.52, 70.73, 72.52]
    """
    if variant not in get_args(Variant):
        raise InputError(f'highspeed: there is no variant "{variant}"; {suggest(variant, get_args(Variant))}')
    factor, power = _power_law(variant)
    grow, cut = _balanced(factor, power)
    window, loss = reno_below(LOW_WINDOW, lambda p, _: (factor / p) ** (1 / power), lambda w, _: factor / w**power)
    return Response(
        "highspeed",
        "RFC3649",
        False,
        window,
        loss,
        lambda w, rtt: np.where(w <= LOW_WINDOW, 1.0, grow(w, rtt)),
        lambda w, rtt: np.where(w <= LOW_WINDOW, 0.5, cut(w, rtt)),
    )


def _power_law(variant: Variant) -> tuple[float, float]:
    """Return factor and power of p = factor / w^power above 38 segments."""
    if variant == "rfc":
        return 0.078, 1.2
    low_p = RENO / LOW_WINDOW**2 if variant == "ns2" else LOW_P
    power = float(np.log(low_p / HIGH_P) / np.log(HIGH_WINDOW / LOW_WINDOW))
    return low_p * LOW_WINDOW**power, power


def given_up(y: Floats | float) -> Floats:
    """Decrease b(w) of RFC 3649, Section 5, not clamped below 38 segments.

    Parameters
    ----------
    y : array_like [1]
        ln(w / 38) / ln(83000 / 38).

    Returns
    -------
    ndarray [1]

    References
    ----------
    RFC3649.

    Examples
    --------
    >>> given_up(np.array([0.0, 1.0])).round(9).tolist()
    [0.5, 0.1]
    """
    return np.asarray(np.maximum(0.5 + (HIGH_DECREASE - 0.5) * y, MIN_DECREASE))


def balanced(variant: Variant) -> tuple[Curve, Curve]:
    """Increase a(w) = 2 w^2 b p / (2 - b) and b(w) of RFC 3649, not clamped below 38 segments.

    Parameters
    ----------
    variant : {"log", "rfc", "ns2"}
        As in `highspeed`.

    References
    ----------
    RFC3649.
    """
    return _balanced(*_power_law(variant))


def _balanced(factor: float, power: float) -> tuple[Curve, Curve]:
    def cut(w: Floats, _: Floats) -> Floats:
        return given_up(np.log(w / LOW_WINDOW) / np.log(HIGH_WINDOW / LOW_WINDOW))

    def grow(w: Floats, rtt: Floats) -> Floats:
        b = cut(w, rtt)
        return 2 * w ** (2 - power) * factor * b / (2 - b)

    return grow, cut


def scalable(increase: float = 0.01, decrease: float = 0.125, legacy_window: float = 16.0) -> Response:
    """Scalable TCP: w = a / (b p), by default 0.08 / p (a = 0.01 per ACK, b = 1/8); Reno up to 16 segments.

    Parameters
    ----------
    increase : float [segments per segment acknowledged]
    decrease : float [1]
    legacy_window : float [segments]

    References
    ----------
    Kelly2003. The mean over the period, 0.01 / (p ln(8/7)), is 6 % smaller.

    Examples
    --------
    >>> float(scalable().window(1e-5).round())
    8000.0
    """
    factor = increase / decrease
    window, loss = reno_below(legacy_window, lambda p, _: factor / p, lambda w, _: factor / w)
    return Response(
        "scalable",
        "Kelly2003",
        False,
        window,
        loss,
        lambda w, _: np.where(w <= legacy_window, 1.0, increase * w),
        lambda w, _: np.where(w <= legacy_window, 0.5, decrease),
    )


def bic(max_increment: float = 32.0, min_increment: float = 0.01, decrease: float = 0.125) -> Response:
    """BIC: additive increase far from the target, then a binary search; Reno up to 14 segments.

    Parameters
    ----------
    max_increment, min_increment : float [segments per RTT]
    decrease : float [1]

    References
    ----------
    Xu2004, Section IV; without its rounding of the number of rounds. The search of elephan's law takes 1.5 times as
    long, because its target moves with every ACK.

    Examples
    --------
    >>> bool(bic().window(1e-7) < 1.05 * aimd(32, 0.125).window(1e-7))
    True
    """

    def rounds(top: Floats) -> tuple[Floats, Floats]:
        lost = decrease * top
        linear = np.maximum(lost / max_increment - 2, 0)
        return linear, np.log2((lost - linear * max_increment) / min_increment) + 2

    def packets(top: Floats, _: Floats) -> Floats:
        linear, search = rounds(top)
        far = linear * (top * (1 - decrease) + max_increment * (linear - 1) / 2)
        return np.asarray(far + top * search - 2 * (decrease * top - linear * max_increment) + min_increment)

    def mean(top: Floats, rtt: Floats) -> Floats:
        linear, search = rounds(top)
        return np.asarray(packets(top, rtt) / (linear + search))

    window, loss = parametric(packets, mean, 1.0, 1e12)
    window, loss = reno_below(14.0, window, loss)
    cut: Curve = lambda w, _: np.where(w <= 14.0, 0.5, decrease)  # noqa: E731
    return Response("bic", "Xu2004", False, window, loss, None, cut)


def htcp(beta: float = 0.5) -> Response:
    """H-TCP without RTT scaling: growth rises with the time since the last loss.

    Parameters
    ----------
    beta : float [1]
        Share of the window kept on loss. With adaptive backoff it is the ratio of the smallest to the largest RTT,
        limited to 0.5 to 0.8.

    References
    ----------
    ShortenLeith2004: alpha = 2 (1 - beta)(1 + 10 (t - 1) + ((t - 1) / 2)^2) from t = 1 s on. The response function is
    the mean of the window over one period.

    Examples
    --------
    >>> float((htcp().window(1e-3, 0.01) / reno().window(1e-3)).round(3))
    1.0
    """

    def grown(t: Floats) -> Floats:
        late = np.maximum(t - 1, 0)
        return np.asarray(t + 5 * late**2 + late**3 / 12)

    def packets(t: Floats, rtt: Floats) -> Floats:
        late = np.maximum(t - 1, 0)
        area = t**2 / 2 + 5 * late**3 / 3 + late**4 / 48
        # The window grows from beta W to W = 2 grown / rtt.
        return (2 * beta * t * grown(t) + 2 * (1 - beta) * area) / rtt**2

    window, loss = parametric(packets, lambda t, rtt: packets(t, rtt) * rtt / t, 1e-9, 1e6)
    cut: Curve = lambda w, _: np.full_like(w, 1 - beta)  # noqa: E731
    return Response("htcp", "ShortenLeith2004", True, window, loss, None, cut)


def cubic(c: float = 0.4, beta: float = 0.7) -> Response:
    """CUBIC: (C (3 + beta) / (4 (1 - beta)))^(1/4) (RTT / p)^(3/4), at least the window of Reno.

    Parameters
    ----------
    c : float [segments/s^3]
    beta : float [1]
        Share of the window kept on loss.

    References
    ----------
    RFC9438, Sections 4.3 and 5.1.

    Examples
    --------
    >>> float(cubic().window(1e-6, 0.1).round(-1))
    5930.0
    """
    factor = (c * (3 + beta) / (4 * (1 - beta))) ** 0.25
    cut: Curve = lambda w, _: np.full_like(w, 1 - beta)  # noqa: E731
    return Response(
        "cubic",
        "RFC9438",
        True,
        lambda p, rtt: np.maximum(factor * (rtt / p) ** 0.75, np.sqrt(RENO / p)),
        lambda w, rtt: np.maximum(rtt * (factor / w) ** (4 / 3), RENO / w**2),
        None,
        cut,
    )


def compound(alpha: float = 0.125, beta: float = 0.5, k: float = 0.75) -> Response:
    """Compound on a path with a short queue: alpha w^k segments per RTT, at least the window of Reno.

    Parameters
    ----------
    beta : float [1]
        Share by which a loss reduces the window.
    k : float [1]

    References
    ----------
    Tan2006: the window over one period of its growth function, averaged.

    Examples
    --------
    >>> float(np.round(np.log10(compound().window(1e-8) / compound().window(1e-7)), 3))
    0.8
    """
    keep = 1 - beta
    area = (1 - keep ** (2 - k)) / (alpha * (2 - k))
    mean = area * alpha * (1 - k) / (1 - keep ** (1 - k))
    factor, power = mean * area ** (-1 / (2 - k)), 1 / (2 - k)
    return Response(
        "compound",
        "Tan2006",
        False,
        lambda p, _: np.maximum(factor / p**power, np.sqrt(RENO / p)),
        lambda w, _: np.maximum((factor / w) ** (1 / power), RENO / w**2),
        lambda w, _: np.maximum(alpha * w**k, 1.0),
        lambda w, _: np.full_like(w, beta),
    )


def nr_hstcp(mss: float | Floats = 1500.0) -> Response:
    """NR-HSTCP: HSTCP's a and b at the rate in units of 1500 bytes per 100 ms, without HSTCP's limit at 38.

    Parameters
    ----------
    mss : float [bytes]

    Returns
    -------
    Response

    References
    ----------
    PhillipsHu2006, equations 1 to 9; w(p) from p = a (2 - b) / (2 b w^2), the balance from which HSTCP's a(w) follows.

    Examples
    --------
    >>> law = nr_hstcp()
    >>> float(law.increase(1000, 0.2).round(3)), float(law.decrease(1000, 0.2).round(4))
    (20.16, 0.3659)
    """
    grow, cut = balanced("rfc")

    def normal(w: Floats, rtt: Floats) -> Floats:
        return w * mss / 1500 * 0.1 / rtt

    def increase(w: Floats, rtt: Floats) -> Floats:
        wanted = grow(normal(w, rtt), rtt) * (1500 / mss) * (rtt / 0.1) ** 2
        return np.maximum(np.minimum(wanted, w), 1.0)

    def decrease(w: Floats, rtt: Floats) -> Floats:
        return np.clip(cut(normal(w, rtt), rtt), HIGH_DECREASE, 0.5)

    def loss(w: Floats, rtt: Floats) -> Floats:
        b = decrease(w, rtt)
        return increase(w, rtt) * (2 - b) / (2 * b * w**2)

    def window(p: Floats, rtt: Floats) -> Floats:
        return bisect(lambda w: 1 / loss(w, rtt), 1 / p, 1e-3, 1e12)

    return Response("nr-hstcp", "PhillipsHu2006", True, window, loss, increase, decrease)


def constant_rate(increase: float = 100.0, decrease: float = 0.5) -> Response:
    """Constant-Rate: the same growth in segments/s^2 at every round-trip time.

    Parameters
    ----------
    increase : float [segments/s^2]
    decrease : float [1]

    References
    ----------
    Henderson1998.

    Examples
    --------
    >>> float(constant_rate().window(1.5e-4, 0.1).round(6))
    100.0
    """
    return _by_the_clock("constant-rate", "Henderson1998", lambda rtt: increase * rtt**2, decrease)


def hybla(reference_rtt: float | str = 0.025, decrease: float = 0.5) -> Response:
    """Hybla: the growth of Reno at 25 ms, scaled by the square of the round-trip time.

    Parameters
    ----------
    reference_rtt : float [s] or str
    decrease : float [1]

    References
    ----------
    CainiFirrincieli2004.

    Examples
    --------
    >>> float(hybla().window(1.5e-4, 0.1))
    400.0
    """
    reference = seconds(reference_rtt) if isinstance(reference_rtt, str) else reference_rtt
    return _by_the_clock("hybla", "CainiFirrincieli2004", lambda rtt: np.maximum(rtt / reference, 1.0) ** 2, decrease)


def _by_the_clock(name: str, source: str, increase: Callable[[Floats], Floats], decrease: float) -> Response:
    """Make a law whose growth depends only on the round-trip time."""
    square = (2 - decrease) / (2 * decrease)
    return Response(
        name,
        source,
        True,
        lambda p, rtt: np.sqrt(square * increase(rtt) / p),
        lambda w, rtt: square * increase(rtt) / w**2,
        lambda _, rtt: increase(rtt),
        lambda w, _: np.full_like(w, decrease),
    )


def response(law: str) -> Response:
    """Return the response function, increase and decrease of the engine's law.

    Parameters
    ----------
    law : str
        Name in the catalogue, followed by the parameters that differ from their defaults: ``cubic(beta=0.3)``.

    Returns
    -------
    Response

    Raises
    ------
    InputError
        If the law does not respond only to loss.

    Examples
    --------
    >>> float(response("reno(decrease=0.2)").window(1e-4).round())
    212.0
    """
    return law_responses(law)
