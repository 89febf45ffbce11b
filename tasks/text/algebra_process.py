"""Program of a process of its own: reads pairs of trees as lines of JSON, and writes whether sympy shows them equal.

It imports nothing of this project: `tasks.text.algebra` starts it by its path. Trees: `tasks.text.expressions`.
"""

import json
import resource
import sys
from collections.abc import Callable
from typing import Any

import sympy

MEMORY = 2 << 30  # bytes
CONSTANTS = {"pi": sympy.pi, "e": sympy.E, "i": sympy.I, "infinity": sympy.oo}
FUNCTIONS = {
    "sqrt": sympy.sqrt, "exp": sympy.exp, "log": sympy.log, "ln": sympy.log, "abs": sympy.Abs, "sin": sympy.sin,
    "cos": sympy.cos, "tan": sympy.tan, "cot": sympy.cot, "sec": sympy.sec, "csc": sympy.csc, "arcsin": sympy.asin,
    "arccos": sympy.acos, "arctan": sympy.atan,
}  # fmt: skip
OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": lambda left, right: left + right,
    "subtract": lambda left, right: left - right,
    "multiply": lambda left, right: left * right,
    "divide": lambda left, right: left / right,
    "power": lambda base, exponent: base**exponent,
    "negate": lambda value: -value,
}
SETS = {r"\{\}"}


def equal(one: Any, other: Any) -> bool:
    """Return whether sympy shows two trees to be equal; tuples item by item, sets in any order."""
    if one == other:
        return True
    kinds = one[0], other[0]
    if kinds == ("tuple", "tuple"):
        return equal_tuples(one[1:], other[1:])
    if "tuple" in kinds:
        return False
    if kinds == ("equation", "equation"):
        sides = sympy_of(one[1]) - sympy_of(one[2]), sympy_of(other[1]) - sympy_of(other[2])
        return is_zero(sides[0] - sides[1]) or is_zero(sides[0] + sides[1])
    left, right = sympy_of(solution(one)), sympy_of(solution(other))
    return bool(left == right) or is_zero(left - right)  # infinity less infinity is not 0


def equal_tuples(one: Any, other: Any) -> bool:
    """Return whether two lists of brackets and items are equal."""
    if one[0] != other[0] or len(one) != len(other):
        return False
    if one[0] not in SETS:
        return all(equal(*pair) for pair in zip(one[1:], other[1:], strict=True))
    left = list(other[1:])
    for item in one[1:]:
        same = next((i for i, candidate in enumerate(left) if equal(item, candidate)), None)
        if same is None:
            return False
        left.pop(same)
    return True


def solution(tree: Any) -> Any:
    """Return the right side of an equation such as x = 5."""
    return tree[2] if tree[0] == "equation" and tree[1][0] == "name" else tree


def sympy_of(tree: Any) -> Any:
    """Return sympy's expression of a tree."""
    kind, *parts = tree
    if kind == "number":
        return sympy.Rational(parts[0])
    if kind == "name":
        return CONSTANTS.get(parts[0]) or sympy.Symbol(parts[0])
    if kind == "call":
        return FUNCTIONS[parts[0]](sympy_of(parts[1]))
    return OPERATIONS[kind](*map(sympy_of, parts))


def is_zero(difference: Any) -> bool:
    """Return whether sympy shows an expression to be 0."""
    return bool(difference == 0 or difference.equals(0) or sympy.simplify(difference) == 0)


def answer(line: str) -> str:
    """Return `true` or `false`; `null` where sympy fails."""
    try:
        return json.dumps(equal(*json.loads(line)))
    except Exception:  # noqa: BLE001 (sympy raises errors of any kind; the pair is then undecided)
        return "null"


def write(line: str) -> None:
    """Write a line to the process that asks."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Answer line by line until the input ends."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    write("ready")
    for line in sys.stdin:
        write(answer(line))


if __name__ == "__main__":
    main()
