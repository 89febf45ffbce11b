"""Logs of EleutherAI's lm-evaluation-harness: samples_*.jsonl, with results_*.json beside them. Written for 0.4.13.

One record for each (document, filter), and for each answer if a filter keeps several; these have no score, as a score
is of all answers of a document. A sample of a multiple-choice
task is answered by the choice with the largest log-likelihood.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from goldmeter.dataset.readers import log
from goldmeter.dataset.record import Record, Value, file_name
from goldmeter.errors import DataError

# The end of the name of a file: when the run ended.
DATED = re.compile(r"_(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)$")
# Of the results file; samples_*.jsonl state none.
KNOWN_VERSIONS = re.compile(r"0\.4(\.|$)")
SAMPLE_KEYS = {"doc_id", "doc", "target", "arguments", "filtered_resps"}
NO_FILTER = "none"
# A list as Python writes it whose texts need no escapes.
PLAIN_LIST = re.compile(r"\['[^'\\\n\r\0\ud800-\udfff]*'(?:, '[^'\\\n\r\0\ud800-\udfff]*')*\]")
# Whether a continuation is the most likely one, as text.
GREEDY = {"True", "False", "true", "false"}

Answer = tuple[str | None, str | None]
"""Response, and the error that there is none."""


class Run(NamedTuple):
    """What the results file says of one file of samples.

    Attributes:
        model: The model's name; without a results file, the name of the folder, which lm_eval names after the model.
        task: The task's name.
        samples: How many documents there are; None if that is not stated.
        filters: The names of the filters that made answers of the responses.
    """

    model: str
    task: str
    samples: int | None
    filters: tuple[str, ...] = ()


def recognises(head: log.Head) -> bool:
    """Tell whether a file is samples_*.jsonl or results_*.json."""
    return head.keys >= SAMPLE_KEYS or {"results", "configs", "versions", "n-shot"} <= head.keys


def read(files: Sequence[Path]) -> Iterator[Record]:
    """Yield the records of all files of samples.

    Raises:
        DataError: There is none, two are of one task and model, or one holds other samples than the results say.
    """
    samples = [file for file in files if ".jsonl" in file.suffixes]
    if not samples:
        raise DataError(f"{file_name(files[0])}: no file samples_*.jsonl; lm_eval writes them with --log_samples")
    earlier: dict[tuple[str, str], Path] = {}
    for file in samples:
        run = _run(file)
        log.require_one(earlier, run.task, run.model, file)
        yield from log.records([file], partial(_rows, run=run))


def lower_is_better(files: Sequence[Path]) -> frozenset[str]:
    """Return the scores of which the results files say that less is better.

    Raises:
        DataError: Two tasks say different things of a score.
    """
    directions: dict[str, set[bool]] = {}
    for file in files:
        task, results = _task(file), _results(file)
        stated = log.document(results).get("higher_is_better") if results else None
        for metric, higher in log.members(log.members(stated).get(task)).items():
            directions.setdefault(metric, set()).add(higher != "false")
    if mixed := sorted(metric for metric, found in directions.items() if len(found) > 1):
        raise DataError(f"{file_name(files[0])}: more of {mixed[0]} is better in one task, and less in another one")
    return frozenset(metric for metric, found in directions.items() if found == {False})


def _run(file: Path) -> Run:
    results = _results(file)
    return _stated(results, _task(file)) if results else Run(file.absolute().parent.name, _task(file), None)


def _task(file: Path) -> str:
    return DATED.sub("", file.name.split(".jsonl")[0]).removeprefix("samples_")


def _results(file: Path) -> Path | None:
    """Return the results file that the same run wrote, by the date in the names; None without one."""
    dated = DATED.search(file.name.split(".jsonl")[0])
    return next(iter(sorted(file.parent.glob(f"*_{dated[1]}.json"))), None) if dated else None


def _stated(results: Path, task: str) -> Run:
    where, stated = file_name(results), log.document(results)
    version = stated.get("lm_eval_version")
    if version is not None and not KNOWN_VERSIONS.match(str(version)):
        raise DataError(f"{where}: written by lm_eval {str(version)[:40]}, whose logs can't be read; known: 0.4")
    name = stated.get("model_name") or stated.get("model_source") or results.absolute().parent.name
    counts = log.members(stated.get("n-samples")).get(task, {})
    effective = counts.get("effective") if isinstance(counts, dict) else counts
    results_of_task = log.members(stated.get("results")).get(task)
    # Keys such as "exact_match,strict-match": metric and filter.
    filters = dict.fromkeys(key.rpartition(",")[2] for key in results_of_task or () if "," in key)
    return Run(str(name), task, log.count(effective, f"{where}, n-samples, {task}"), tuple(filters))


def _rows(file: Path, run: Run) -> Iterator[tuple[int, dict[str, Value]]]:
    """Yield the rows of a file, in which nothing but the ids of the documents stays in memory."""
    documents: dict[str, None] = {}
    filters: dict[str, set[str]] = {name: set() for name in run.filters}
    draws = Counter[str]()
    line = 0
    for line, values, document_id, name in _samples(file, run):
        filters.setdefault(name, set()).add(document_id)
        documents[document_id] = None
        draws[name] = max(draws[name], int(str(values.get("draw", 1))))
        yield line, values
    every = [*documents, *_missing_documents([*documents], run, file_name(file))]
    filters = filters or {NO_FILTER: set()}
    lacking = {document_id for document_id in every if any(document_id not in present for present in filters.values())}
    found = ((document_id, values) for _, values, document_id, _ in (_samples(file, run) if lacking else ()))
    known = {document_id: values for document_id, values in found if document_id in lacking}
    for name, present in filters.items():
        for document_id in every:
            for draw in range(1, max(draws[name], 1) + 1) if document_id not in present else ():
                number = draw if draws[name] > 1 else None
                yield line + 1, _missing_sample(document_id, name, run, number, known.get(document_id))


def _samples(file: Path, run: Run) -> Iterator[tuple[int, dict[str, Value], str, str]]:
    """Yield the line, the values, the document and the filter of each answer."""
    for line, sample in log.objects(file):
        where = f"{file_name(file)}, line {line}"
        document_id = log.part(sample, "doc_id", str, where)
        for values in _answers(sample, run, where):
            yield line, values, document_id, str(sample.get("filter") or NO_FILTER)


def _missing_documents(documents: Sequence[str], run: Run, where: str) -> list[str]:
    """Return the ids of documents that the log lacks.

    Raises:
        DataError: The log holds more documents than the results say, or their ids can't be known.
    """
    expected = run.samples
    if expected is None or len(documents) == expected:
        return []
    numbered = {str(number) for number in range(expected)}
    if len(documents) > expected or not numbered.issuperset(documents):
        raise DataError(
            f"{where}: {len(documents)} documents, but the results file says {expected} (n-samples, effective); "
            "the log is incomplete, or two runs were written to it"
        )
    return sorted(numbered.difference(documents), key=int)


def _missing_sample(
    document_id: str, name: str, run: Run, draw: int | None, other_filter: Mapping[str, Value] | None
) -> dict[str, Value]:
    return log.missing(
        log.flat(
            id=f"{run.task}/{document_id}",
            candidate=_candidate(run, name),
            draw=draw,
            metadata={"task": run.task, "doc_id": document_id},
        ),
        other_filter,
    )


def _candidate(run: Run, name: str) -> str:
    return run.model if name == NO_FILTER else f"{run.model} ({name})"


def _answers(sample: Mapping[str, Any], run: Run, where: str) -> Iterator[dict[str, Value]]:
    requests = [_texts(request) for request in _items(sample, "arguments", where)]
    filtered = log.part(sample, "filtered_resps", list, where)
    found = _ranked(filtered, requests) if _is_ranking(filtered) else _generated(filtered)
    measured = {str(metric): log.number(sample.get(str(metric))) for metric in sample.get("metrics") or []}
    scores = {metric: value for metric, value in measured.items() if value is not None}
    for draw, (response, error) in enumerate(found, 1):
        yield log.flat(
            id=f"{run.task}/{sample['doc_id']}",
            input=requests[0][0] if requests and requests[0] else None,
            references=_references(sample.get("target"), requests, ranked=_is_ranking(filtered)),
            response=response,
            candidate=_candidate(run, str(sample.get("filter") or NO_FILTER)),
            error=error,
            draw=draw if len(found) > 1 else None,
            scores=scores if len(found) == 1 else {},
            metadata={
                **log.members(sample.get("doc")),
                "task": run.task,
                "doc_id": sample["doc_id"],
                "doc_hash": sample.get("doc_hash"),
                "target_hash": sample.get("target_hash"),
            },
        )


def _items(sample: Mapping[str, Any], key: str, where: str) -> list[Any]:
    """Return a list, which newer versions write as an object {"gen_args_0": …}."""
    value = sample.get(key)
    return list(value.values()) if isinstance(value, dict) else log.part(sample, key, list, where)


def _texts(request: Any) -> list[str]:
    """Return the texts that one request was made of: the prompt, and what may continue it."""
    values = request.values() if isinstance(request, dict) else request if isinstance(request, list) else [request]
    return [value for value in values if isinstance(value, str)]


def _is_ranking(filtered: Sequence[Any]) -> bool:
    """Tell whether the answers are log-likelihoods, each with whether it is the greedy continuation."""
    return bool(filtered) and all(
        isinstance(answer, list) and len(answer) == 2 and answer[1] in GREEDY and _is_likelihood(answer[0])  # noqa: PLR2004 (a pair)
        for answer in filtered
    )


def _is_likelihood(value: Any) -> bool:
    """Whether a value may be a log-likelihood: NaN, or at most 0."""
    try:
        return value is None or not float(value) > 0
    except (TypeError, ValueError):
        return False


def _ranked(filtered: Sequence[Sequence[str]], requests: Sequence[Sequence[str]]) -> list[Answer]:
    choices = _choices(requests)
    if len(choices) != len(filtered) or len(choices) < 2:  # noqa: PLR2004 (one is no choice)
        return [(None, "a log-likelihood, no text")]
    likelihoods = [log.number(answer[0]) for answer in filtered]
    if None in likelihoods:
        return [(None, "a log-likelihood is no number")]
    best = max(range(len(choices)), key=lambda index: float(likelihoods[index] or 0))
    return [(choices[best], None)]


def _choices(requests: Sequence[Sequence[str]]) -> list[str]:
    """Return the texts that differ between the requests of a multiple-choice sample: continuations, or contexts."""
    pairs = [request for request in requests if len(request) > 1]
    if len(pairs) < len(requests):
        return []
    ends = [request[1].strip() for request in pairs]
    return ends if len(set(ends)) > 1 else [request[0].strip() for request in pairs]


def _generated(filtered: Sequence[Any]) -> list[Answer]:
    answers = [answer for item in filtered for answer in (item if isinstance(item, list) else [item])]
    return [(a, None) if isinstance(a, str) else (None, "no response") for a in answers] or [(None, "no response")]


def _references(target: Any, requests: Sequence[Sequence[str]], *, ranked: bool) -> list[str]:
    """Return the target's texts; lm_eval writes a list as Python text, and a choice as its number from 0.

    A list of anything but texts, such as [-1, 1], is one answer.
    """
    if not isinstance(target, str):
        return [] if target is None else [str(item) for item in (target if isinstance(target, list) else [target])]
    choices = _choices(requests) if ranked else []
    if target in {str(number) for number in range(len(choices))}:
        return [choices[int(target)]]
    if PLAIN_LIST.fullmatch(target):
        return target[2:-2].split("', '")
    if target.startswith("[") and target.endswith("]"):
        try:
            items = ast.literal_eval(target)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return [target]
        return items if all(isinstance(item, str) for item in items) else [target]
    return [target]
