"""Equality of expressions by sympy, in a process of its own that is ended when a pair takes too long."""

import json
import select
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from tasks.text.expressions import Tree

PROGRAM = Path(__file__).with_name("algebra_process.py")
# Seconds until sympy is imported, on a busy machine.
START = 120.0


class Algebra:
    """Compares expressions; answers are kept, so that each pair is compared once. A context manager: ends the process.

    time_limit: seconds for one pair.
    """

    def __init__(self, time_limit: float) -> None:
        self._time_limit = time_limit
        self._answers: dict[str, bool | None] = {}
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def equal(self, one: Tree, other: Tree) -> bool | None:
        """Return whether sympy shows two expressions to be equal; None if it failed or took too long."""
        line = json.dumps([one, other])
        if line not in self._answers:
            self._answers[line] = json.loads(self._asked(line) or "null")
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
        command = [sys.executable, "-I", str(PROGRAM)]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
        if self._line(self._process, START) != "ready":
            raise OSError(f"{PROGRAM.name} did not start: is sympy installed? pip install 'goldmeter[symbolic]'")
        return self._process

    def _line(self, process: "subprocess.Popen[str]", seconds: float) -> str:
        """Return the next line of the process without its end; if none comes in time, end the process."""
        assert process.stdout is not None  # noqa: S101 (for mypy)
        ready, _, _ = select.select([process.stdout], [], [], seconds)
        line = process.stdout.readline().strip() if ready else ""
        if not line:
            self._end()
        return line

    def _end(self) -> None:
        if self._process is not None:
            process, self._process = self._process, None
            process.kill()
            process.communicate()
