"""Values in the document of a command, with 95 % intervals, and claims about them."""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

from elephan.theory import elastic
from elephan.theory.laws import response
from elephan.units import format_rate, format_time

Document = dict[str, Any]


def mean(quantity: Any) -> float:
    """Return the mean of a measured quantity; a number is returned unchanged."""
    return float(quantity["mean"] if isinstance(quantity, dict) else quantity)


class Bounds(NamedTuple):
    """A value and its 95 % interval."""

    mid: float
    low: float
    high: float

    @classmethod
    def of(cls, x: Any) -> Bounds:
        """Make bounds from a measured mean, from (value, (low, high)), or from a number."""
        if isinstance(x, dict):
            half = float(x["ci95"] or 0.0)
            return cls(x["mean"], x["mean"] - half, x["mean"] + half)
        if isinstance(x, tuple):
            return cls(float(x[0]), *map(float, x[1]))
        return cls(float(x), float(x), float(x))

    def overlaps(self, other: Bounds) -> bool:
        """Return whether two intervals overlap."""
        return self.low <= other.high and other.low <= self.high

    def text(self) -> str:
        """Format the value with its interval."""
        return f"{self.mid:,.4g} ({self.low:,.4g} to {self.high:,.4g})"

    def short(self, per: float = 1.0) -> str:
        """Format the value with its interval in three digits, in a unit of size `per`."""
        return f"{self.mid / per:.3g} ({self.low / per:.3g} to {self.high / per:.3g})"


class Claim(NamedTuple):
    """A part of a verdict."""

    says: str
    holds: bool
    decided: bool
    factor: float
    """Factor of a longer run's duration that would decide the claim, if the difference stays."""
    otherwise: str = ""
    """Statement that is true if the opposite holds; empty if the claim has none."""

    @classmethod
    def of(cls, says: str, left: Any, sign: str, right: Any, otherwise: str = "") -> Claim:
        """Compare two values by the interval of their difference."""
        less, more = (Bounds.of(left), Bounds.of(right)) if sign == "<" else (Bounds.of(right), Bounds.of(left))
        gap = more.mid - less.mid
        if not math.isfinite(gap):  # nothing is enough, on one side or on both
            return cls(says, gap > 0, not math.isnan(gap), math.inf, otherwise)
        sides = (less.high - less.mid, more.mid - more.low) if gap > 0 else (less.mid - less.low, more.high - more.mid)
        half = math.hypot(*sides)
        return cls(says, gap > 0, abs(gap) > half, (half / gap) ** 2 if gap else math.inf, otherwise)

    @property
    def state(self) -> str:
        """State of this claim in a word."""
        return ("holds" if self.holds else "does not hold") if self.decided else "not decided"

    def text(self) -> str:
        """Format the claim as a part of a sentence, in Markdown."""
        if self.decided:
            return self.says if self.holds else self.otherwise or f"this does **not** hold: {self.says}"
        times = math.ceil(self.factor) if self.factor < 1000 else 1000
        more = "over " if self.factor >= 1000 else "about "
        return (
            f"it is **not decided** whether {self.says}: {more}{max(times, 2)} times the simulated time would decide it"
        )


class Values:
    """Functions that expressions of an answer may use."""

    def __init__(self, d: Document) -> None:
        self.d = d

    def table(self) -> dict[str, Any]:
        """Return all functions by name."""
        own = {name: getattr(self, name) for name in dir(self) if not name.startswith("_") and name != "table"}
        return {**own, "d": self.d, "mean": mean, "min": min, "max": max, "len": len, "sum": sum, "range": range}

    def row(self, role: str) -> Document:
        """Return the row of a sizing's table with this role."""
        return next(row for row in self.d["table"] if role in row["is"])

    def buffer(self) -> tuple[float, list[float]]:
        """Return the sized buffer, with its interval."""
        return self.d["buffer_packets"], self.d["buffer_interval_packets"]

    def amount(self) -> tuple[float, list[float]]:
        """Return the answer to an inverse question, with its interval."""
        return self.d["amount"], self.d["interval"]

    @staticmethod
    def group(row: Document, name: str) -> Any:
        """Return the goodput of a flow of a group in a row [bit/s]."""
        return next(g["goodput_per_flow_bps"] for g in row["groups"] if g["name"] == name)

    def variant(self, name: str) -> Document:
        """Return the variant of a comparison with this law or queue."""
        return next(v for v in self.d["variants"] if name in (v["law"], v["queue"]))

    def need(self, name: str) -> tuple[float, list[float]]:
        """Return the buffer that a variant needs, with its interval; infinite if none is sufficient."""
        found = self.variant(name)
        if found["buffer_packets"] is None:
            return math.inf, [math.inf, math.inf]
        return found["buffer_packets"], found["buffer_interval_packets"]

    def needs(self, name: str) -> str:
        """Return the same as text."""
        found = self.variant(name)["buffer_packets"]
        return "more than any" if found is None else f"{found:,}"

    def ample(self, name: str) -> Document:
        """Return the results of a variant with an ample buffer."""
        found: Document = self.variant(name)["ample"]
        return found

    def deployed(self, name: str) -> Document:
        """Return the results of a variant with the buffer to deploy."""
        found: Document = self.variant(name)["deployed"]
        return found

    def beside(self, name: str, group: str) -> Any:
        """Return the goodput of a flow of a group beside a variant with an ample buffer [bit/s]."""
        return self.group(self.ample(name), group)

    def wait(self, name: str, group: str) -> Any:
        """Return the 95th percentile of a group's waiting time under a variant [s]."""
        return next(g["queueing_delay_p95_s"] for g in self.ample(name)["groups"] if g["name"] == group)

    def where(self, *values: Any) -> int:
        """Return the number of the first point of a sweep that has all of these values among its labels."""
        wanted = {str(value) for value in values}
        for n, point in enumerate(self.d["points"]):
            if wanted <= {_label(value) for value in point["labels"].values()}:
                return n
        message = f"no point with {', '.join(sorted(wanted))}"
        raise KeyError(message)

    def point(self, point: int) -> Document:
        """Return the first link at a point of a sweep."""
        found: Document = self.d["points"][point]["links"][0]
        return found

    def groups(self, point: int, name: str) -> Document:
        """Return a group at a point of a sweep."""
        return next(group for group in self.d["points"][point]["groups"] if group["name"] == name)

    def idlest(self, point: int) -> Any:
        """Return the smallest utilization among the links of a point that are busy for over a tenth of the time."""
        shares = [link["utilization"] for link in self.d["points"][point]["links"]]
        return min((share for share in shares if mean(share) > 0.1), key=mean)

    def elastic(self, law: str, flows: int, buffer: int, arrivals: Any = "M/M/1/K") -> float:
        """Return the utilization that theory gives with half of 50 Mbit/s of background, 100 ms and 1,000 bytes."""
        return elastic.utilization(response(law), 6250.0, 0.1, 0.5, flows, buffer, arrivals)

    def elastic_error(self, laws: tuple[str, ...], arrivals: str = "M/M/1/K") -> float:
        """Return the mean distance of theory from what a sweep of the elastic regime measured.

        Parameters
        ----------
        laws : tuple of str
            Laws whose points count.
        arrivals : str
            The loss in the formula; ``"constant"`` for the mean of what was measured instead of a formula.
        """
        labels = [list(point["labels"].values()) for point in self.d["points"]]
        found = [(_label(of[0]), int(of[1]), int(str(of[2]).split()[0])) for of in labels]
        measured = {each: mean(self.used(n)) for n, each in enumerate(found) if each[0] in laws}
        middle = sum(measured.values()) / len(measured)
        theory = {each: middle if arrivals == "constant" else self.elastic(*each, arrivals) for each in measured}
        return sum(abs(theory[each] - measured[each]) for each in measured) / len(measured)

    def took(self, point: int, name: str) -> Any:
        """Return the mean completion time of a group's transfers at a point [s]."""
        return self.groups(point, name)["transfers"]["completion_time_s"]

    def page(self, point: int) -> Any:
        """Return the 95th percentile of the page time at a point [s]."""
        return next(g["transfers"]["page_time_p95_s"] for g in self.d["points"][point]["groups"] if g["transfers"])

    def delay(self, point: int) -> Any:
        """Return the mean queueing delay at a point of a sweep [s]."""
        return self.point(point)["queueing_delay_s"]

    def loss(self, point: int) -> Any:
        """Return the loss at a point of a sweep."""
        return self.point(point)["loss_ratio"]

    def used(self, point: int) -> Any:
        """Return the utilization at a point of a sweep."""
        return self.point(point)["utilization"]

    def flow(self, point: int, group: str) -> Any:
        """Return the goodput of a flow of a group at a point of a sweep [bit/s]."""
        return self.group(self.d["points"][point], group)

    @staticmethod
    def ratio(a: Any, b: Any) -> tuple[float, list[float]]:
        """Return a ratio, with the interval that follows from both intervals."""
        x, y = Bounds.of(a), Bounds.of(b)
        half = math.hypot((x.high - x.mid) / x.mid, (y.high - y.mid) / y.mid)
        return x.mid / y.mid, [x.mid / y.mid * (1 - half), x.mid / y.mid * (1 + half)]

    def apart(self, a: Any, b: Any) -> tuple[float, list[float]]:
        """Return the ratio of the larger to the smaller one."""
        return self.ratio(a, b) if mean(a) > mean(b) else self.ratio(b, a)

    def least(self) -> Any:
        """Return the smallest utilization of a sweep."""
        return min((self.used(n) for n in range(len(self.d["points"]))), key=mean)

    def busier(self) -> int:
        """Count the points in a sweep's second half with a significantly busier link than those of the first."""
        return self._above("utilization", ">")

    def shorter(self) -> int:
        """Count the points in a sweep's second half with significantly less waiting than those of the first."""
        return self._above("queueing_delay_s", "<")

    def _above(self, key: str, sign: str) -> int:
        half = len(self.d["points"]) // 2
        pairs = [Claim.of("", self.point(half + n)[key], sign, self.point(n)[key]) for n in range(half)]
        return sum(claim.holds and claim.decided for claim in pairs)

    def limit(self) -> Document:
        """Return the row of the answer to an inverse question."""
        found: Document = next(row for row in self.d["rows"] if row["amount"] == self.d["amount"])
        return found

    def at(self, amount: float) -> Document:
        """Return the row of an inverse question whose amount is nearest."""
        return min(self.d["rows"], key=lambda row: abs(row["amount"] - amount))

    @staticmethod
    def held(rtt_s: float) -> str:
        """Return the rate to which a receive window of 3 MiB, Linux's default, limits a flow."""
        return format_rate(float(f"{3 * 2**20 * 8 / rtt_s:.3g}"))

    @staticmethod
    def window(rate_bps: float, rtt_s: float) -> str:
        """Return the receive window that a rate needs."""
        return f"{rate_bps * rtt_s / 8e6:.3g} MB"

    @staticmethod
    def rate(x: Any) -> str:
        """Format a rate."""
        return format_rate(float(f"{mean(x):.3g}"))

    @staticmethod
    def time(x: Any) -> str:
        """Format a time."""
        return format_time(float(f"{mean(x):.3g}"))

    @staticmethod
    def percent(x: Any) -> str:
        """Format a share."""
        return f"{100 * mean(x):.3g} %"

    @staticmethod
    def between(x: Any, per: float = 1.0) -> str:
        """Format the 95 % interval of a quantity that is not negative, in a unit of size `per`."""
        _, low, high = Bounds.of(x)
        return f"{max(low, 0.0) / per:.3g} to {high / per:.3g}"


def _label(value: Any) -> str:
    """Return the text of a label; of a table its first value, the discipline of a queue or the law of a control."""
    text = str(value)
    table = re.match(r'\{ \w+ = "([^"]*)"', text)
    return table[1] if table else text
