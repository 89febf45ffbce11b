"""Damaged params.yaml: accepted, or refused in one sentence."""

import os
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from benchmarks.data import PARAMS, ROOT
from benchmarks.torture.campaign import Campaign, Trial
from benchmarks.torture.limited import limited
from benchmarks.torture.mutations import mutated
from tasks.errors import GoldmeterError
from tasks.pipeline import params
from tasks.pipeline.settings import MOST_LINES


def _trials(seed: int, trials: int) -> Iterator[Trial]:
    with TemporaryDirectory() as folder:
        shutil.copyfile(ROOT / "dvc.yaml", Path(folder, "dvc.yaml"))
        yield from limited(partial(_check, Path(folder)), (f"{seed}-{number}" for number in range(trials)))


def _check(folder: Path, drawn: str) -> Trial:
    """Check one damaged file; drawn: the seed of its damage."""
    os.chdir(folder)
    Path("params.yaml").write_bytes(mutated(PARAMS.read_bytes(), Random(drawn)))  # noqa: S311 (a seed repeats the trial)
    try:
        params.check()
    except GoldmeterError as error:
        message = str(error)
        is_short = message and len(message.splitlines()) <= MOST_LINES + 1  # and how many more
        return Trial("refused", None if is_short else f"{drawn}: {message[:1000]!r}")
    return Trial("accepted")


CAMPAIGN = Campaign(
    "params",
    "A damaged params.yaml is accepted, or refused in one message, at once.",
    trials=2_000,
    few=80,
    run=_trials,
)
