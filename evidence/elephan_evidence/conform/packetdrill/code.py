"""Assertions of scripts: a small subset of Python, evaluated with the fields of ``tcp_info``.

packetdrill runs them in an interpreter. Here foreign scripts are not executed: assignments, assertions and arithmetic
are evaluated, printing is ignored, and everything else is reported as left out.
"""

from __future__ import annotations

import ast
import operator
import textwrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
CALLS: dict[str, Callable[..., Any]] = {"abs": abs, "min": min, "max": max, "int": int, "float": float, "round": round}


class NotEvaluatedError(Exception):
    """Raised with the reason why a statement is left out."""


class FailedAssertionError(Exception):
    """Raised for an assertion that does not hold; the message states the found value."""


class Assertions:
    """Evaluator of the code of one script; variables persist from block to block."""

    def __init__(self) -> None:
        self.variables: dict[str, Any] = {}

    def statements(self, text: str) -> list[ast.stmt]:
        """Parse a block of code into statements.

        Raises
        ------
        NotEvaluatedError
            If the block is not valid Python.
        """
        try:
            return ast.parse(textwrap.dedent(text.strip("\n")).strip()).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            message = "is no Python"
            raise NotEvaluatedError(message) from None

    def run(self, statement: ast.stmt, fields: Mapping[str, Any]) -> bool:
        """Run a statement; return whether it was an assertion.

        Raises
        ------
        NotEvaluatedError
            If it needs something that is not supported.
        FailedAssertionError
            If the assertion does not hold.
        """
        names = _Names(fields, self.variables)
        if isinstance(statement, ast.Assert):
            if not _value(statement.test, names):
                raise FailedAssertionError(_found(statement.test, names))
            return True
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            self.variables[statement.targets[0].id] = _value(statement.value, names)
        elif isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            before = _value(ast.Name(statement.target.id), names)
            self.variables[statement.target.id] = _binary(statement.op, before, _value(statement.value, names))
        elif not (isinstance(statement, ast.Pass) or _prints(statement)):
            message = f"{ast.unparse(statement)}: only assertions, assignments and arithmetic are evaluated"
            raise NotEvaluatedError(message)
        return False


class _Names(dict[str, Any]):
    """Fields and variables by name."""

    def __init__(self, fields: Mapping[str, Any], variables: Mapping[str, Any]) -> None:
        super().__init__({**fields, **variables})

    def __missing__(self, name: str) -> Any:
        message = f"there is no {name} here"
        raise NotEvaluatedError(message)


def _prints(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and isinstance(statement.value.func, ast.Name)
        and statement.value.func.id == "print"
    )


def _value(node: ast.expr, names: _Names) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        value = names[node.id]
        if value is None:
            message = f"this sender has no {node.id}"
            raise NotEvaluatedError(message)
        return value
    if isinstance(node, ast.Compare):
        left = _value(node.left, names)
        for op, right in zip(node.ops, [_value(each, names) for each in node.comparators], strict=True):
            if not _binary(op, left, right):
                return False
            left = right
        return True
    if isinstance(node, ast.BinOp):
        return _binary(node.op, _value(node.left, names), _value(node.right, names))
    if isinstance(node, ast.BoolOp):
        holds = (bool(_value(each, names)) for each in node.values)
        return all(holds) if isinstance(node.op, ast.And) else any(holds)
    if isinstance(node, ast.UnaryOp):
        value = _value(node.operand, names)
        return not value if isinstance(node.op, ast.Not) else -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS and not node.keywords:
        return CALLS[node.func.id](*[_value(each, names) for each in node.args])
    message = f"{ast.unparse(node)}: only assertions, assignments and arithmetic are evaluated"
    raise NotEvaluatedError(message)


def _binary(op: ast.AST, left: Any, right: Any) -> Any:
    if type(op) not in BINARY:
        message = f"{type(op).__name__} is not evaluated"
        raise NotEvaluatedError(message)
    if isinstance(op, ast.operator) and not (isinstance(left, int | float) and isinstance(right, int | float)):
        message = "arithmetic with what is no number is not evaluated"
        raise NotEvaluatedError(message)
    try:
        return BINARY[type(op)](left, right)
    except (TypeError, ZeroDivisionError, OverflowError) as error:
        raise NotEvaluatedError(str(error)) from None


def _found(test: ast.expr, names: _Names) -> str:
    """Describe the value found by a failed assertion; for a comparison, its left side."""
    left = test.left if isinstance(test, ast.Compare) else test
    return f"{ast.unparse(left)} is {_value(left, names)}"
