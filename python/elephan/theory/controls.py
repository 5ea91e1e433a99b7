"""Names of controls as one text: the name of the law, followed by each parameter that differs from its default.

Models use these names in tables and on command lines, to distinguish the settings of a law. Source: the catalogue, for
names and defaults; the engine's own parser reports invalid parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from elephan import _native
from elephan.catalog import catalog
from elephan.errors import InputError, suggest
from elephan.input_files import inline_toml

TABULATED = "tabulated"
"""The law whose parameters are tables, which follow its name without parameter names."""

OWN = "source"
"""Key of a resolved control that marks the user's own law; models do not support such laws."""


@cache
def defaults(law: str) -> dict[str, Any]:
    """Return the parameters of a law with their defaults.

    Parameters
    ----------
    law : str
        Name of the law in the catalogue.

    Raises
    ------
    InputError
        If the law does not exist.

    Examples
    --------
    >>> defaults("cubic")
    {'c': 0.4, 'beta': 0.7, 'fast_convergence': True, 'variant': 'rfc9438', 'hz': 250.0}
    """
    cards = {card["name"]: card for card in catalog("laws")}
    if law not in cards:
        raise InputError(f'law: there is no "{law}"; {suggest(law, cards)}')
    return {row["name"]: row["default"] for row in cards[law]["parameters"]}


def write(control: Mapping[str, Any]) -> str:
    """Return the name of a control.

    Parameters
    ----------
    control : mapping
        As in a resolved scenario: ``law`` and its parameters. The slow start is ignored.

    Examples
    --------
    >>> write({"law": "cubic", "c": 0.4, "beta": 0.3, "fast_convergence": False})
    'cubic(beta=0.3; fast_convergence=false)'
    >>> write({"law": "tabulated", "increase": [[1, 1], [100, 2.5]], "decrease": [[1, 0.5]]})
    'tabulated(1:1 100:2.5; 1:0.5)'
    >>> write({"law": "reno"})
    'reno'
    >>> write({"law": "mine", "source": "0f", "gain": 2})
    'mine'
    """
    law = str(control["law"])
    if law == TABULATED:
        texts = (" ".join(f"{_short(w)}:{_short(y)}" for w, y in control[key]) for key in ("increase", "decrease"))
        return f"{law}({'; '.join(texts)})"
    if OWN in control:
        return law
    usual = defaults(law)
    other = [f"{name}={_word(control[name])}" for name in usual if control.get(name, usual[name]) != usual[name]]
    return f"{law}({'; '.join(other)})" if other else law


def kind(law: str) -> str:
    """Return the name of a law without its parameters.

    Examples
    --------
    >>> kind("tabulated(1:1; 1:0.5)"), kind("cubic(beta=0.3)"), kind("reno")
    ('tabulated', 'cubic', 'reno')
    """
    return law.partition("(")[0].strip()


def control(law: str) -> dict[str, Any]:
    """Split a law's name into the law and its parameters: the value of ``control`` in a scenario.

    Parameters
    ----------
    law : str
        ``NAME``, ``NAME(PARAMETER=VALUE; …)`` or ``tabulated(WINDOW:A WINDOW:A …; WINDOW:B …)``.

    Returns
    -------
    dict
        The law and the given parameters.

    Raises
    ------
    InputError
        If the name does not have this form, or the law does not accept the parameters.

    Examples
    --------
    >>> control("cubic(beta=0.3; fast_convergence=false)")
    {'law': 'cubic', 'beta': 0.3, 'fast_convergence': False}
    >>> control("tabulated(1:1 100:2.5; 1:0.5)")
    {'law': 'tabulated', 'increase': [[1.0, 1.0], [100.0, 2.5]], 'decrease': [[1.0, 0.5]]}
    >>> control("cubic(beta=2)")
    Traceback (most recent call last):
    elephan.errors.ScenarioError: control.beta: must lie strictly between 0 and 1
    >>> control("reno")
    {'law': 'reno'}
    """
    name = kind(law)
    defaults(name)
    found: dict[str, Any] = {"law": name}
    if law != name:
        try:
            found |= _tables(_inside(law)) if name == TABULATED else dict(map(_parameter, _inside(law).split(";")))
        except ValueError:
            shape = "tabulated(1:1 1000:8.2; 1:0.5): windows and a(w); windows and b(w)"
            other = f"{name}({next(iter(defaults(name)), 'parameter')}=…; …)"
            raise InputError(f'law: "{law}" is not of the form {shape if name == TABULATED else other}') from None
        # The engine's own parser reports invalid parameters.
        _native.law_rounds(inline(found), base_rtt_s=1.0, bdp=1.0, losses=[], timeouts=[], count=0)
    return found


def settings(law: str) -> dict[str, Any]:
    """Return all parameters of a law; parameters that are not in the name have their defaults.

    Raises
    ------
    InputError
        As in `control`.

    Examples
    --------
    >>> settings("vegas(beta=4)")
    {'alpha': 1.0, 'beta': 4.0}
    """
    given = control(law)
    return defaults(kind(law)) | {name: value for name, value in given.items() if name != "law"}


def without(law: str) -> dict[str, str]:
    """Return, for each parameter in the name of a law, the name with this parameter reset to its default.

    Examples
    --------
    >>> without("cubic(beta=0.3; c=1.0)")
    {'beta': 'cubic(c=1)', 'c': 'cubic(beta=0.3)'}
    """
    given = control(law)
    if given["law"] == TABULATED:
        return {}
    return {name: write({key: value for key, value in given.items() if key != name}) for name in given if name != "law"}


def inline(control: Mapping[str, Any]) -> str:
    """Format a control in one line, as in a scenario file.

    Examples
    --------
    >>> inline({"law": "cubic", "beta": 0.3})
    '{ law = "cubic", beta = 0.3 }'
    """
    return inline_toml(control)


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return _short(value) if isinstance(value, (int, float)) else str(value)


def _inside(law: str) -> str:
    if not law.endswith(")"):
        raise ValueError(law)
    return law.partition("(")[2].removesuffix(")")


def _parameter(item: str) -> tuple[str, Any]:
    name, value = (part.strip() for part in item.split("="))
    if value in ("true", "false"):
        return name, value == "true"
    try:
        return name, float(value)
    except ValueError:
        return name, value


def _tables(inside: str) -> dict[str, Sequence[Sequence[float]]]:
    increase, decrease = ([_pair(item) for item in part.split()] for part in inside.split(";"))
    return {"increase": increase, "decrease": decrease}


def _pair(item: str) -> list[float]:
    window, value = item.split(":")
    return [float(window), float(value)]


def _short(x: float) -> str:
    return repr(float(x)).removesuffix(".0")
