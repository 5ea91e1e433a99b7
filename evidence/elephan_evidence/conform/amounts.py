"""Arithmetic in the data of test cases: ``"${at + 2 * rtt} s"`` is a text with a computed number in it.

A case is written once and run over many paths, and the times of its stimulus are measured in a run; so its quantities
are expressions of the path's rate, its round-trip time and those measurements.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_FUNCTIONS: dict[str, Callable[..., float]] = {"min": min, "max": max, "ceil": math.ceil, "log2": math.log2}
_HOLE = re.compile(r"\$\{([^}]*)\}")


def evaluate(text: str, names: Mapping[str, float]) -> float:
    """Evaluate an expression.

    Parameters
    ----------
    text : str
        Numbers, names, ``+ - * /``, brackets, ``min``, ``max``, ``ceil`` and ``log2``.
    names : mapping of str to float

    Raises
    ------
    ValueError
        If the expression has other elements or an unknown name.

    Examples
    --------
    >>> evaluate("max(1, 2 * rtt) + 0.5", {"rtt": 3})
    6.5
    """
    try:
        return float(_value(ast.parse(text.strip(), mode="eval").body, names))
    except (SyntaxError, KeyError, TypeError) as error:
        message = f"{text!r}: not an expression of {', '.join(names)} ({error})"
        raise ValueError(message) from None


def filled(value: Any, names: Mapping[str, float]) -> Any:
    """Evaluate the ``${…}`` expressions in texts, also within lists and tables.

    Parameters
    ----------
    value : object
        Value from TOML. A table ``{ alternate = { at, until, on, off, rate } }`` of expressions becomes the steps of a
        link that is closed for `off` [s] and then open for `on` [s], in turn, between these times.

    Returns
    -------
    object
        The value with the results inserted; a text that consists of one expression becomes a number.

    Examples
    --------
    >>> filled({"rate": ["${2 * rate} bit/s"]}, {"rate": 5e6})
    {'rate': ['10000000 bit/s']}
    >>> filled({"alternate": dict(at="1", until="1.3", off="0.2", on="0.1", rate="8")}, {})
    {'steps': [['0 s', '8 bit/s'], ['1 s', '0 bit/s'], ['1.2 s', '8 bit/s']]}
    """
    if isinstance(value, str):
        if (whole := _HOLE.fullmatch(value)) is not None:
            number = evaluate(whole[1], names)
            return int(number) if number == int(number) else number
        return _HOLE.sub(lambda hole: _written(evaluate(hole[1], names)), value)
    if isinstance(value, list):
        return [filled(each, names) for each in value]
    if isinstance(value, dict):
        if set(value) == {"alternate"}:
            return {"steps": _alternating({key: evaluate(text, names) for key, text in value["alternate"].items()})}
        return {key: filled(each, names) for key, each in value.items()}
    return value


def _value(node: ast.expr, names: Mapping[str, float]) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return node.value
    if isinstance(node, ast.Name):
        return names[node.id]
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return float(_OPERATORS[type(node.op)](_value(node.left, names), _value(node.right, names)))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, names)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        return float(_FUNCTIONS[node.func.id](*(_value(each, names) for each in node.args)))
    message = "what stands there"
    raise TypeError(message)


def _written(number: float) -> str:
    """Format a number as quantities are written: without an exponent, precise to a picosecond in a minute."""
    return f"{number:.12f}".rstrip("0").rstrip(".")


def _alternating(of: Mapping[str, float]) -> list[list[str]]:
    is_open, closed = f"{_written(of['rate'])} bit/s", "0 bit/s"
    steps, now = [["0 s", is_open]], of["at"]
    while now + of["off"] < of["until"]:
        steps += [[f"{_written(now)} s", closed], [f"{_written(now + of['off'])} s", is_open]]
        now += of["off"] + of["on"]
    return steps
