"""Event logs of OpenAI's `oaieval`: a line `spec`, events, and a line `final_report`. Written for evals 3.0.1.

One record for each sample, whose events share a `sample_id`. The answer is what was sampled: first, if a model grades
it, because the later samplings are the grader's; else last. References are what a match expects.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from goldmeter.dataset.readers import log, tables
from goldmeter.dataset.record import Record, Value, file_name
from goldmeter.errors import DataError

EVENT = {"run_id", "event_id", "sample_id", "type", "data"}
GRADED = "modelgraded"
NUMBERED = re.compile(r"(.+\.)(\d{1,7})")

Events = dict[str, list[dict[str, Any]]]
"""The data of a sample's events, by type."""


class Run(NamedTuple):
    """What the line `spec` says: the evaluation, the model, whether a model grades, and whether all samples are run."""

    name: str
    model: str
    is_graded: bool
    is_whole: bool


def recognises(head: log.Head) -> bool:
    """Tell whether a file begins with a spec, or with an event."""
    return "eval_name" in log.members(log.members(head.value).get("spec")) or head.keys >= EVENT


def read(files: Sequence[Path]) -> Iterator[Record]:
    """Yield the records of all logs.

    Raises:
        DataError: A log has no spec, did not end, is of several runs, or another one is of its evaluation and model.
    """
    earlier: dict[tuple[str, str], Path] = {}
    for file in files:
        run, counts = _run_of(file)
        log.require_one(earlier, run.name, run.model, file)
        last = 0
        for last, sample, events in _samples(file, counts):
            yield Record(file_name(file), last, _values(sample, events, run))
        for sample in _gaps(counts) if run.is_whole else ():
            values = log.flat(id=sample, candidate=run.model, metadata={"task": run.name})
            yield Record(file_name(file), last + 1, log.missing(values, None))


def _samples(file: Path, counts: Mapping[str, int]) -> Iterator[tuple[int, str, Events]]:
    """Yield the line, the id and the events of each sample at the last of its events."""
    begun: dict[str, Events] = {}
    seen = Counter[str]()
    for line, value in log.objects(file):
        if "sample_id" in value:
            sample = value["sample_id"]
            begun.setdefault(sample, defaultdict(list))[value["type"]].append(value["data"])
            seen[sample] += 1
            if seen[sample] == counts[sample]:
                yield line, sample, begun.pop(sample)


def _run_of(file: Path) -> tuple[Run, Counter[str]]:
    """Return the run, and the number of events of each sample.

    Raises:
        DataError: As `read`.
    """
    where, run, has_ended = file_name(file), None, False
    counts = Counter[str]()
    for line, value in log.objects(file):
        place = f"{where}, line {line}"
        if "spec" in value:
            if run is not None:
                raise DataError(f"{place}: another run begins; put each run into a file of its own")
            run = _run(log.part(value, "spec", dict, place), place)
        elif "final_report" in value:
            has_ended = True
        else:
            counts[log.part(value, "sample_id", str, place)] += 1
            log.part(value, "type", str, place)
            log.part(value, "data", dict, place)
    if run is None:
        raise DataError(f"{where}: no line with spec, which names the model; the log is incomplete")
    if not has_ended:
        raise DataError(
            f"{where}: no line with final_report: the run did not end, and which samples it lacks is not known; "
            'run it again, or add the line {"final_report": {}} to read the samples that are there'
        )
    return run, counts


def _run(spec: Mapping[str, Any], where: str) -> Run:
    models = [model for model in log.part(spec, "completion_fns", list, where) if isinstance(model, str)]
    config = log.members(spec.get("run_config"))
    evaluation = log.members(config.get("eval_spec"))
    is_graded = GRADED in str(evaluation.get("cls")).lower()
    if log.members(evaluation.get("args")).get("multicomp_n") not in {None, "1"}:
        raise DataError(
            f"{where}: multicomp_n: a verdict on several completions together; no answer has one of its own"
        )
    # The last of several grades.
    answering = models[:-1] if is_graded and len(models) > 1 else models
    if not answering:
        raise DataError(f"{where}: completion_fns names no model; the log is incomplete")
    name = log.part(spec, "eval_name", str, where)
    return Run(name, ", ".join(answering), is_graded, config.get("max_samples") is None)


def _values(sample: str, events: Mapping[str, list[dict[str, Any]]], run: Run) -> dict[str, Value]:
    sampled, matches = events.get("sampling", []), events.get("match", [])
    own = (sampled[0] if run.is_graded else sampled[-1]) if sampled else {}
    match = matches[-1] if matches else {}
    metrics = {name: value for data in events.get("metrics", []) for name, value in data.items()}
    expected = match.get("expected", metrics.pop("expected", None))
    response = _text(match["sampled"] if "sampled" in match and not run.is_graded else own.get("sampled"))
    error = next((log.text_of(data.get("message")) or "error" for data in events.get("error", [])), None)
    return log.flat(
        id=sample,
        candidate=run.model,
        input=log.messages_of(own.get("prompt")),
        references=log.listed(expected),
        response=response,
        error=error or (None if response is not None else "no output"),
        tokens=log.amount(log.members(own.get("usage")).get("total_tokens")),
        scores=tables.judged({**({"match": match.get("correct")} if match else {}), **metrics}),
        metadata={"task": run.name},
    )


def _text(sampled: Any) -> str | None:
    """Return what was sampled: a text, or a list of one."""
    return log.text_of(sampled[:1] if isinstance(sampled, list) else sampled)


def _gaps(samples: Mapping[str, Any]) -> Iterator[str]:
    """Yield the ids whose number is missing below the largest one."""
    numbers: dict[str, set[int]] = defaultdict(set)
    for found in filter(None, map(NUMBERED.fullmatch, samples)):
        numbers[found[1]].add(int(found[2]))
    for prefix, present in numbers.items():
        yield from (f"{prefix}{number}" for number in range(max(present)) if number not in present)
