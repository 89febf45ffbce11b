"""`goldmeter adopt` on folders of known truth: `python -m benchmarks.adopt [--folders N]`.

Each folder has 30 logs of six tools, five versions each of the same 500 questions. From one version to the next 3 % of
the questions are lost, and 3 % and 0, 2, 5 or 10 points more are gained. Ids are positions, shuffled in each version.
Where a tool logs it, 2 % of the answers fail. Ten questions of each version have another text.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from goldmeter.comparison.claims import CONFIDENCE, document
from goldmeter.comparison.found_logs import find
from goldmeter.statistics.paired import mcnemar_midp
from goldmeter.wording.claims import AdoptDocument, Shown

QUESTIONS, VERSIONS, REWRITTEN = 500, 5, 10
DIFFERENCES = (0.0, 0.02, 0.05, 0.10)
LOST = 0.03
FIRST = 0.6
FAILED = 0.02
START = datetime(2026, 1, 1, 12, tzinfo=UTC)


class Answer(NamedTuple):
    """A question with its answer: right, wrong or None for a failed call."""

    number: int
    text: str
    right: bool | None


class Version(NamedTuple):
    """A run: its place in the series, the system, and its answers in the order of the log."""

    place: int
    system: str
    answers: Sequence[Answer]

    @property
    def date(self) -> datetime:
        """When it ran, a week after the one before."""
        return START + timedelta(weeks=self.place)


def oaieval(run: Version, folder: Path) -> Path:
    """Write an event log."""
    events: list[dict[str, Any]] = []
    for position, one in enumerate(run.answers):
        event = {"run_id": "r", "event_id": position, "sample_id": f"qa.{position}"}
        said = [_said(one)]
        events.append(event | {"type": "sampling", "data": {"prompt": one.text, "sampled": said}})
        match = {"correct": one.right, "expected": _expected(one), "sampled": said[0]}
        events.append(event | {"type": "match", "data": match})
    created = f"{run.date:%Y-%m-%d %H:%M:%S}"
    spec = {"completion_fns": [run.system], "eval_name": "qa", "run_config": {}, "created_at": created}
    return _lines(folder / f"oaieval_{run.place}.jsonl", [{"spec": spec}, *events, {"final_report": {}}])


def inspect(run: Version, folder: Path) -> Path:
    """Write an Inspect log; failed calls have an error."""
    samples = [
        {"id": position, "epoch": 1, "input": one.text, "target": _expected(one)}
        | ({"error": {"message": "timeout"}} if one.right is None else {})
        | {"output": {"choices": [{"message": {"content": _said(one)}}], "completion": _said(one)}}
        | {"scores": {"match": {"value": "C" if one.right else "I"}}}
        for position, one in enumerate(run.answers)
    ]
    data = {"samples": len(samples), "sample_ids": [*range(len(samples))]}
    about = {"task": "qa", "model": run.system, "created": run.date.isoformat(), "dataset": data, "config": {}}
    whole = {"version": 2, "status": "success", "eval": about, "samples": samples}
    return _whole(folder / f"inspect_{run.place}.json", whole)


def promptfoo(run: Version, folder: Path) -> Path:
    """Write an output file; failed calls have an error."""
    results = [
        {
            "testIdx": position,
            "testCase": {"vars": {"q": one.text}, "assert": [{"type": "equals", "value": _expected(one)}]},
            "vars": {"q": one.text},
            "provider": {"id": run.system},
            "prompt": {"label": "p"},
            "response": {} if one.right is None else {"output": _said(one)},
            "success": bool(one.right),
            "score": int(bool(one.right)),
            "failureReason": 2 if one.right is None else int(not one.right),
        }
        for position, one in enumerate(run.answers)
    ]
    summary = {"version": 3, "timestamp": run.date.isoformat(), "stats": {}, "results": results}
    return _whole(folder / f"promptfoo_{run.place}.json", {"evalId": "e", "results": summary})


def lm_eval(run: Version, folder: Path) -> Path:
    """Write a file of samples in a folder named after the model."""
    (folder / run.system).mkdir()
    samples = [
        {"doc_id": position, "doc": {"q": one.text}, "target": _expected(one), "arguments": [[one.text, {}]]}
        | {"filtered_resps": [_said(one)], "filter": "none", "metrics": ["acc"], "acc": float(bool(one.right))}
        for position, one in enumerate(run.answers)
    ]
    return _lines(folder / run.system / f"samples_qa_{run.date:%Y-%m-%dT%H-%M-%S}.000000.jsonl", samples)


def openai_evals(run: Version, folder: Path) -> Path:
    """Write output items."""
    items = [
        {
            "object": "eval.run.output_item",
            "run_id": f"run_{run.place}",
            "eval_id": "e",
            "created_at": int(run.date.timestamp()),
            "datasource_item_id": position,
            "datasource_item": {"input": one.text, "reference": _expected(one)},
            "sample": {"model": run.system, "output": [{"role": "assistant", "content": _said(one)}]},
            "results": [{"name": "match", "score": float(bool(one.right)), "passed": bool(one.right)}],
        }
        for position, one in enumerate(run.answers)
    ]
    return _lines(folder / f"items_{run.place}.jsonl", items)


def deepeval(run: Version, folder: Path) -> Path:
    """Write a test run."""
    cases = [
        {"name": f"case {position}", "input": one.text, "expectedOutput": _expected(one), "actualOutput": _said(one)}
        | {"metricsData": [{"name": "match", "score": float(bool(one.right))}]}
        for position, one in enumerate(run.answers)
    ]
    whole = {"testCases": cases, "hyperparameters": {"model": run.system}}
    return _whole(folder / f"test_run_{run.date:%Y%m%d_%H%M%S}.json", whole)


Maker = Callable[[Version, Path], Path]
MAKERS: tuple[Maker, ...] = (oaieval, inspect, promptfoo, lm_eval, openai_evals, deepeval)
FAILING = {inspect, promptfoo}


def _said(one: Answer) -> str:
    return _expected(one) if one.right else "no idea"


def _expected(one: Answer) -> str:
    return str(one.number % 7)


def _lines(path: Path, values: Sequence[Any]) -> Path:
    path.write_text("".join(f"{json.dumps(value)}\n" for value in values), encoding="utf-8")
    return path


def _whole(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def versions(maker: Maker, rng: np.random.Generator) -> tuple[list[Version], list[float]]:
    """Draw the versions of a series; returns them, and the true difference of each from the one before."""
    right = rng.random(QUESTIONS) < FIRST
    true = rng.permutation(DIFFERENCES)
    found = [_version(maker, 0, right, rng)]
    for place, difference in enumerate(true, 1):
        chance = np.where(right, 1.0 - LOST / right.mean(), (LOST + difference) / (1.0 - right.mean()))
        right = rng.random(QUESTIONS) < chance
        found.append(_version(maker, place, right, rng))
    return found, [*true]


def _version(maker: Maker, place: int, right: np.ndarray, rng: np.random.Generator) -> Version:
    failed = rng.random(QUESTIONS) < (FAILED if maker in FAILING else 0.0)
    rewritten = {*rng.choice(QUESTIONS, REWRITTEN, replace=False)}
    texts = [f"Question {number}{f', version {place}' if number in rewritten else ''}?" for number in range(QUESTIONS)]
    order = rng.permutation(QUESTIONS)
    answers = [Answer(int(i), texts[i], None if failed[i] else bool(right[i])) for i in order]
    return Version(place, f"model-{place + 1}", answers)


class Tally(NamedTuple):
    """What `adopt` says of pairs: true difference, verdict, and whether exactly the right rows were compared."""

    difference: float
    verdict: Shown
    aligned: bool
    tests: int


def tallied(folder: Path, rng: np.random.Generator) -> list[Tally]:
    """Write a folder of logs, adopt it, and compare each claim with the truth."""
    written: dict[Any, Any] = {}
    for maker in MAKERS:
        runs, true = versions(maker, rng)
        written |= {str(maker(run, folder).relative_to(folder)): run for run in runs}
        for run, difference in zip(runs[1:], true, strict=True):
            written[maker.__name__, run.place] = difference
    return _compared(document(find(folder), "logs"), written)


def _compared(result: AdoptDocument, written: dict[Any, Any]) -> list[Tally]:
    tallies = []
    for claim in result["claims"]:
        entries = result["runs"][claim["base"]], result["runs"][claim["head"]]
        base, head = (written[entry["file"]] for entry in entries)
        before = {one.text: one.right for one in base.answers if one.right is not None}
        both = [(before[one.text], one.right) for one in head.answers if one.right is not None and one.text in before]
        difference = sum(int(after) - int(was) for was, after in both) / len(both)
        is_next = head.place == base.place + 1 and entries[0]["tool"] == entries[1]["tool"]
        same = claim["shared"] == len(both) and np.isclose(claim["difference"] or 0.0, difference)
        true = written[entries[1]["tool"], head.place]
        tallies.append(Tally(true, claim["verdict"], is_next and bool(same), claim["tests"]))
    return tallies


def ideal_power(difference: float, tests: int, rng: np.random.Generator, trials: int = 4000) -> float:
    """Return how often a mid-p McNemar test of all questions at the same level finds a win."""
    level = 1.0 - CONFIDENCE ** (1.0 / tests)
    drawn = rng.multinomial(QUESTIONS, [LOST + difference, LOST, 1.0 - 2.0 * LOST - difference], trials)
    return float(np.mean([b > c and mcnemar_midp(int(b), int(c)) < level for b, c, _ in drawn]))


def main(arguments: Sequence[str]) -> int:
    """Print the shares; returns 1 if an alignment is wrong, or more than 5 % of no differences are called real."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.adopt", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--folders", type=int, default=20, help="each of 30 logs; default: 20")
    chosen, rng = parser.parse_args(arguments), np.random.default_rng(43)
    tallies: list[Tally] = []
    for _ in range(chosen.folders):
        with tempfile.TemporaryDirectory() as folder:
            tallies += tallied(Path(folder), rng)
    wrong = sum(not one.aligned for one in tallies)
    lacking = chosen.folders * len(MAKERS) * (VERSIONS - 1) - len(tallies)
    print(f"{len(tallies)} pairs, {lacking} missing, {wrong} aligned wrongly, tests in a series: "
          f"{sorted({one.tests for one in tallies})}")  # fmt: skip
    false = 0.0
    for difference in DIFFERENCES:
        own = [one for one in tallies if one.difference == difference]
        real = sum(one.verdict == Shown.REAL_WIN for one in own) / max(len(own), 1)
        false = real if difference == 0.0 else false
        ideal = ideal_power(difference, own[0].tests, rng)
        print(f"true {100 * difference:4.1f} points: {len(own)} pairs, real win {real:.1%}, ideal test {ideal:.1%}")
    return int(wrong + lacking > 0 or false > 1.0 - CONFIDENCE)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
