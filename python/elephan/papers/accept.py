"""What is accepted of a claim, written in a few words, and whether something found is so.

``min x``, ``max x``, ``in a..b`` bound what is found; ``abs x``, ``rel x`` and ``factor x`` are around the claim's
value; ``sign`` wants what the value says (``> 0`` or ``< 0``), or what follows it where the claim has no value;
``so`` wants True.
"""

from __future__ import annotations

from dataclasses import dataclass

EDGE = 1 + 1e-9
"""How far rounding may take what lies on the edge of a tolerance: "1.25" of "1.2" is half of its last digit."""

_PLAIN = {"min": "at least {}", "max": "at most {}", "abs": "within {} of it", "factor": "within a factor of {}"}


@dataclass(frozen=True)
class Accept:
    """What is accepted.

    Parameters
    ----------
    how : str
        The first word.
    numbers : tuple of float
        Those after it.
    value : float
        That of the claim, for what is around it; 1 or -1 for a sign.

    Examples
    --------
    >>> Accept.read("abs 0.03", "0.98").holds(1.0), Accept.read("sign", "< 0").holds(0.0), Accept.read("so").holds(True)
    (True, False, True)
    """

    how: str
    numbers: tuple[float, ...] = ()
    value: float = float("nan")

    @classmethod
    def read(cls, text: str, value: str = "") -> Accept:
        """Read it.

        Parameters
        ----------
        text : str
        value : str
            Of the claim.

        Returns
        -------
        Accept

        Raises
        ------
        ValueError
            If it cannot be read, or the value does not suit it.
        """
        how, _, rest = text.strip().partition(" ")
        if how == "so" and not rest:
            return cls(how)
        if how == "sign" and not (rest and value):
            wanted = rest or value
            if wanted not in ("> 0", "< 0"):
                message = f"a sign needs a value of '> 0' or '< 0', not {wanted!r}"
                raise ValueError(message)
            return cls(how, (), 1.0 if wanted == "> 0" else -1.0)
        if how == "in":
            low, _, high = rest.partition("..")
            return cls(how, (float(low), float(high)))
        if how in ("min", "max"):
            return cls(how, (float(rest),))
        if how in ("abs", "rel", "factor"):
            return cls(how, (float(rest),), float(value))
        message = f"{text!r}: must be min x, max x, abs x, rel x, factor x, in a..b, sign or so"
        raise ValueError(message)

    def holds(self, found: float | bool) -> bool:
        """Tell whether what was found is accepted; what is not a number never is.

        Parameters
        ----------
        found : float or bool

        Returns
        -------
        bool
        """
        if self.how == "so":
            return found is True
        if self.how == "sign":
            return self.value * found > 0
        if self.how == "in":
            return self.numbers[0] <= found <= self.numbers[1]
        [number] = self.numbers
        if self.how in ("min", "max"):
            return found >= number if self.how == "min" else found <= number
        if self.how == "factor":
            return self.value / number <= found <= self.value * number
        within = number if self.how == "abs" else number * abs(self.value)
        return abs(found - self.value) <= within * EDGE

    def __str__(self) -> str:
        if self.how == "so":
            return "as said"
        if self.how == "sign":
            return "above 0" if self.value > 0 else "below 0"
        if self.how == "in":
            return "from {:g} to {:g}".format(*self.numbers)
        if self.how == "rel":
            return f"within {100 * self.numbers[0]:g} % of it"
        return _PLAIN[self.how].format(f"{self.numbers[0]:g}")
