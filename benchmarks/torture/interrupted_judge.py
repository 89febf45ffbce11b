"""A judge interrupted at random moments: SIGINT, SIGTERM, two of them, SIGKILL; replies that were sent are counted."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from benchmarks.data import ROOT
from benchmarks.torture.campaign import Campaign, Trial
from tests.asking.test_signals import CONCURRENCY, ROWS, stored
from tests.counting_judge import CountingJudge, counting_judge

# Seconds that the server takes to answer, at most, and that the judge takes to end.
SLOWEST, ENDING = 0.05, 120.0
ENDS = ((signal.SIGINT,), (signal.SIGTERM,), (signal.SIGTERM, signal.SIGINT), (signal.SIGKILL,))


def _trials(seed: int, trials: int) -> Iterator[Trial]:
    for number in range(trials):
        yield _interrupt(f"{seed}-{number}")


def _interrupt(drawn: str) -> Trial:
    """Interrupt one run; drawn: the seed of its moment, its signals and the server's pauses."""
    rng = Random(drawn)  # noqa: S311 (a seed repeats the trial)
    numbers, moment, pauses = rng.choice(ENDS), rng.randint(1, ROWS), [rng.uniform(0, SLOWEST) for _ in range(ROWS)]
    with TemporaryDirectory() as name, counting_judge(lambda call: time.sleep(pauses[call % ROWS])) as judge:
        code = (
            f"from pathlib import Path; from tests.asking.test_signals import ask; ask({judge.url!r}, Path({name!r}))"
        )
        with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stderr=subprocess.DEVNULL) as process:
            while process.poll() is None and len(judge.answered) < moment:
                time.sleep(0.001)
            for number in numbers:
                process.send_signal(number)
            try:
                process.wait(ENDING)
            except subprocess.TimeoutExpired:
                process.kill()
                return Trial("no end", f"{drawn}: {numbers} after {moment} answers: no end within {ENDING:g} s")
        return _outcome(drawn, numbers, judge, stored(Path(name)))


def _outcome(drawn: str, numbers: tuple[int, ...], judge: CountingJudge, kept: set[str]) -> Trial:
    """One signal loses no reply that was sent; two of them, or SIGKILL, at most those that were under way."""
    lost = len({*judge.answered} - kept)
    allowed = 0 if len(numbers) == 1 and numbers[0] != signal.SIGKILL else CONCURRENCY
    outcome = "+".join(signal.Signals(number).name for number in numbers) + (", some under way lost" if lost else "")
    return Trial(outcome, f"{drawn}: {lost} of {len(judge.answered)} replies lost" if lost > allowed else None)


CAMPAIGN = Campaign(
    "interrupted judge",
    "After SIGINT or SIGTERM every reply that the judge's server sent is in the ledger; after a second signal or "
    "SIGKILL, every reply but those under way.",
    trials=80,
    few=4,
    run=_trials,
)
