"""The studies of each section, and processes that share them; the cells do not depend on who made them when."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from functools import cache
from multiprocessing import get_context, parent_process
from typing import NamedTuple
from unittest.mock import patch

from benchmarks.coverage import (
    classes,
    corpus,
    designed,
    differences,
    fresh_rows,
    gate,
    means,
    more_data,
    people,
    ppi,
    quantiles,
    recalibrated,
    repeated,
    slices,
    threshold,
    votes,
    weights,
)
from benchmarks.coverage.cells import Cell, Study

SECTIONS: Mapping[str, Callable[[], Iterable[Study]]] = {
    "binary": means.binary_studies,
    "bounded": means.bounded_studies,
    "clustered": means.clustered_studies,
    "corpus": corpus.studies,
    "paired": differences.studies,
    "rare_losses": differences.rare_losses,
    "power": gate.power,
    "ppi": ppi.studies,
    "designed": designed.studies,
    "families": gate.families,
    "sequential": gate.sequential,
    "threshold": threshold.studies,
    "repeated": repeated.studies,
    "slices": slices.studies,
    "raters": votes.raters,
    "calibration": recalibrated.calibration_studies,
    "recalibrated": recalibrated.studies,
    "band": recalibrated.band_studies,
    "mix": weights.mix_studies,
    "weights": weights.weight_studies,
    "panel": votes.panels,
    "preference": votes.preferences,
    "quantiles": quantiles.studies,
    "people": people.studies,
    "more data": more_data.studies,
    "fresh rows": fresh_rows.studies,
    "classes": classes.studies,
}
"""In the order of the report."""
ENVIRONMENT = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    **dict.fromkeys(("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_"), str(10**9)),
}
"""Of the processes: one thread each, and memory kept for the next draw instead of given back after each."""


class Measured(NamedTuple):
    """The cells of a study."""

    section: str
    number: int
    cells: tuple[Cell, ...]


def listed(sections: Iterable[str]) -> list[tuple[str, int]]:
    """Section and number in it of each study."""
    return [(section, number) for section in sections for number in range(len(_studies(section)))]


@cache
def _studies(section: str) -> tuple[Study, ...]:
    return tuple(SECTIONS[section]())


def measure(studies: Iterable[tuple[str, int]], draws: int, processes: int) -> Iterator[Measured]:
    """Run the studies; yields each when it is done, in no order.

    Raises: the error of a study that fails, with its name; those not yet started are dropped.
    """
    pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=_end_with_parent)
    try:
        # Processes start as work comes in, each with a core to itself.
        with patch.dict(os.environ, ENVIRONMENT):
            running = [pool.submit(measured_at, section, number, draws) for section, number in studies]
        yield from map(Future.result, as_completed(running))
    finally:
        pool.shutdown(cancel_futures=True)


def measured_at(section: str, number: int, draws: int) -> Measured:
    """The cells of a study by its place; each process makes the studies anew, since closures can't be sent."""
    return measured(section, number, _studies(section)[number], draws)


def measured(section: str, number: int, study: Study, draws: int) -> Measured:
    """The cells of a study; an error says which study it was."""
    try:
        return Measured(section, number, tuple(study(draws)))
    except Exception as error:
        error.add_note(f"in {section}: {study}")
        raise


def in_order(found: Iterable[Measured]) -> dict[str, tuple[Cell, ...]]:
    """The cells of each section, as the report lists them."""
    sections: dict[str, tuple[Cell, ...]] = {}
    order = [*SECTIONS]
    for one in sorted(found, key=lambda one: (order.index(one.section), one.number)):
        sections[one.section] = (*sections.get(one.section, ()), *one.cells)
    return sections


def _end_with_parent() -> None:
    """A worker whose parent was killed ends too, in the middle of a study."""

    def follow() -> None:
        parent = parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
