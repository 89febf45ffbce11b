"""Equality of expressions by math-verify and sympy, in a process of its own that is ended when a pair takes too long.

math-verify limits time by a signal, which works in the main thread only and does not interrupt a long power of whole
numbers, and it limits no memory. This file is also the program of that process, and imports nothing of this project.
"""

import json
import selectors
import subprocess
import sys
from functools import cache
from types import TracebackType
from typing import Any, Self

# Seconds until sympy is imported, on a busy machine.
START = 120.0
MEMORY = 2 << 30  # bytes
# The answer about a text that can't be read.
NEITHER = "null"
# Decimals to which math-verify compares floats; expressions hold fractions in their place.
DECIMALS = 15


class Algebra:
    """Compares expressions; answers are kept, so that each pair is compared once. A context manager: ends the process.

    time_limit: seconds for one pair.
    """

    def __init__(self, time_limit: float) -> None:
        self._time_limit = time_limit
        self._answers: dict[str, str] = {}
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def reads(self, text: str) -> bool:
        """Return whether a text is an expression; one that takes too long counts as one."""
        return self._answer(text, text) != NEITHER

    def equal(self, answer: str, expected: str) -> bool | None:
        """Return whether two expressions, as LaTeX, are shown to be equal; None if one can't be read, or in time."""
        is_equal: bool | None = json.loads(self._answer(answer, expected) or NEITHER)
        return is_equal

    def _answer(self, answer: str, expected: str) -> str:
        line = json.dumps([answer, expected])
        if line not in self._answers:
            self._answers[line] = self._asked(line)
        return self._answers[line]

    def _asked(self, line: str) -> str:
        """Return the process's answer to one line, empty if there is none in time."""
        process = self._process or self._start()
        assert process.stdin is not None  # noqa: S101 (for mypy)
        try:
            process.stdin.write(line + "\n")
            process.stdin.flush()
        except BrokenPipeError:
            self._end()
            return ""
        return self._line(process, self._time_limit)

    def _start(self) -> "subprocess.Popen[str]":
        # -I: neither this folder nor the environment's PYTHONPATH is searched for modules.
        command = [sys.executable, "-I", __file__]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
        if self._line(self._process, START) != "ready":
            raise OSError("math-verify did not start: is it installed? pip install 'goldmeter[symbolic]'")
        return self._process

    def _line(self, process: "subprocess.Popen[str]", seconds: float) -> str:
        """Return the next line of the process without its end; if none comes in time, end the process."""
        assert process.stdout is not None  # noqa: S101 (for mypy)
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            ready = selector.select(seconds)
        line = process.stdout.readline().strip() if ready else ""
        if not line:
            self._end()
        return line

    def _end(self) -> None:
        if self._process is not None:
            process, self._process = self._process, None
            process.kill()
            process.communicate()


def _main() -> None:
    """Answer pairs, lines of JSON, until the input ends: `true` or `false`, `null` for a text that can't be read."""
    import resource

    import math_verify  # noqa: F401 (so that `ready` means that it is)

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    _write("ready")
    for line in sys.stdin:
        try:
            _write(json.dumps(_equal(*json.loads(line))))
        except Exception:  # noqa: BLE001 (sympy raises errors of any kind; the pair is then undecided)
            _write(NEITHER)


def _write(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _equal(answer: str, expected: str) -> bool | None:
    from math_verify import verify
    from sympy import Expr, simplify

    one, other = _parsed(answer), _parsed(expected)
    if one is None or other is None:
        return None
    if verify(other, one, float_rounding=DECIMALS, timeout_seconds=None):
        return True
    # math-verify compares a lone name by its letters: x and (x^2 + x)/(x + 1) too are equal.
    return isinstance(one, Expr) and isinstance(other, Expr) and bool(simplify(one - other) == 0)


@cache
def _parsed(text: str) -> Any:
    """Return sympy's expression, equation or set; None for a text that is none."""
    from math_verify import LatexExtractionConfig, parse

    formula = [LatexExtractionConfig()]
    parsed = parse(f"${text}$", extraction_config=formula, fallback_mode="no_fallback", parsing_timeout=None)
    return parsed[0] if parsed else None


if __name__ == "__main__":
    _main()
