"""Words of a shell script with its variables and whole-number arithmetic written out; nothing is run."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from typing import Final

VARIABLE: Final = re.compile(r"""^\s*(?:export\s+)?([A-Za-z_]\w*)=("[^"]*"|'[^']*'|[^\s#;]*)""")
_USED: Final = re.compile(r"\$(?:\{(\w+)(?::?-([^}]*))?\}|(\w+))")
_SUM: Final = re.compile(r"\$\(\((.{1,200}?)\)\)(?!\))")
_WHOLE: Final = re.compile(r"-?\d{1,9}")
LONGEST: Final = 400
"""Characters of one sum with its variables written out."""
_OPERATORS: Final[Mapping[type[ast.operator], Callable[[int, int], int]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),  # a shell drops the fraction
}


def spelled(text: str, variables: Mapping[str, str]) -> str:
    """A shell word with its variables written out, and its quotes gone."""

    def known(match: re.Match[str]) -> str:
        return variables.get(match[1] or match[3], match[2] if match[2] is not None else match[0])

    return _USED.sub(known, text.strip("\"'"))


def calculated(line: str, variables: Mapping[str, str]) -> str:
    """A line with every ``$((...))`` of whole numbers as its result; what is not known stays as it stands."""

    def result(match: re.Match[str]) -> str:
        text = re.sub(r"[A-Za-z_]\w*", lambda name: variables.get(name[0], name[0]), spelled(match[1], variables))
        if len(text) > LONGEST:
            return match[0]
        try:
            return str(_value(ast.parse(text.strip(), mode="eval").body))
        except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError):
            return match[0]

    return _SUM.sub(result, line)


def _value(node: ast.expr) -> int:
    """Raises ValueError where it is no sum of whole numbers."""
    if isinstance(node, ast.Constant) and type(node.value) is int and abs(node.value) < 10**9:
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_value(node.left), _value(node.right))
    raise ValueError("no whole number")


def plain(text: str) -> bool | int | str:
    """A word as what it means: a truth value, a whole number, or itself."""
    lower = text.lower()
    if lower in ("true", "false"):
        return lower == "true"
    return int(text) if _WHOLE.fullmatch(text) else text
