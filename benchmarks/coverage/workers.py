"""Which modules have studies, and two processes that share the work; the cells do not depend on who made them when."""

import importlib
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context, parent_process
from typing import NamedTuple

from benchmarks.coverage.cells import Cell

Study = Callable[[int], Iterator[Cell]]

SECTIONS = (
    "binary", "bounded", "clustered", "corpus", "paired", "rare_losses", "power", "ppi", "designed", "families",
    "sequential", "threshold", "repeated", "slices", "raters", "calibration", "recalibrated", "band", "mix",
    "weights", "panel", "preference", "quantiles",
)  # fmt: skip
"""Modules with studies, in the order of the report."""
SLOWEST = ("rare_losses", "families", "sequential", "threshold", "ppi", "designed", "repeated", "slices", "quantiles")
"""Those whose studies are started first, so that no process is left with a long one at the end."""
ENVIRONMENT = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    **dict.fromkeys(("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_"), str(10**9)),
}
"""Of the processes: one thread each, and memory kept for the next draw instead of given back after each."""


class Measured(NamedTuple):
    """The cells of a study, and what they took."""

    section: str
    number: int
    study: str
    cells: tuple[Cell, ...]
    seconds: float


def listed(sections: Iterable[str]) -> list[tuple[str, int, Study]]:
    """Section, number in it, and study, those of the slowest sections first."""
    found = [
        (section, number, study)
        for section in sections
        for number, study in enumerate(importlib.import_module(f"benchmarks.coverage.{section}").STUDIES)
    ]
    return sorted(found, key=lambda each: each[0] not in SLOWEST)


def measure(studies: Iterable[tuple[str, int, Study]], draws: int, processes: int) -> Iterator[Measured]:
    """Run the studies; yields each when it is done, in no order.

    Raises: the error of a study that fails, with its name; those not yet started are dropped.
    """
    pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=_end_with_parent)
    try:
        with _environment():  # processes start as work comes in, each with a core to itself
            running = [pool.submit(measured, section, number, study, draws) for section, number, study in studies]
        yield from map(Future.result, as_completed(running))
    finally:
        pool.shutdown(cancel_futures=True)


def measured(section: str, number: int, study: Study, draws: int) -> Measured:
    """The cells of a study; an error says which study it was."""
    start = time.perf_counter()
    try:
        cells = tuple(study(draws))
    except Exception as error:
        error.add_note(f"in {section}: {_name(study)}")
        raise
    return Measured(section, number, _name(study), cells, time.perf_counter() - start)


def in_order(found: Iterable[Measured]) -> dict[str, tuple[Cell, ...]]:
    """The cells of each section, as the report lists them."""
    sections: dict[str, tuple[Cell, ...]] = {}
    for each in sorted(found, key=lambda each: (SECTIONS.index(each.section), each.number)):
        sections[each.section] = (*sections.get(each.section, ()), *each.cells)
    return sections


def _end_with_parent() -> None:
    """A worker whose parent was killed ends too, in the middle of a study."""

    def follow() -> None:
        parent = parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


@contextmanager
def _environment() -> Iterator[None]:
    """Processes that start meanwhile have ENVIRONMENT."""
    before = {name: os.environ.get(name) for name in ENVIRONMENT}
    os.environ.update(ENVIRONMENT)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _name(study: Study) -> str:
    if isinstance(study, partial):
        return f"{study.func.__name__}({', '.join(map(str, study.args))})"
    return study.__name__
