"""Run folders of Stanford's HELM: scenario_state.json, with per_instance_stats.json beside it. Written for HELM 0.5.

One record for each instance, or for each of its perturbed copies, which are one group with it. A letter is answered by
the text that it stands for. Statistics of cost and of the prompt are no scores.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from goldmeter.dataset.readers import log
from goldmeter.dataset.record import Record, Value, file_name
from goldmeter.errors import DataError

STATE, STATISTICS, SPECIFICATION = "scenario_state.json", "per_instance_stats.json", "run_spec.json"
# `mmlu:subject=anatomy,model=small` → `mmlu:subject=anatomy`, so that runs of several models pair.
OF_MODEL = re.compile(r"[,:]?model(?:_deployment)?=[^,]*")
NO_SCORE = re.compile(
    r"(num|training|inference|finish_reason|batch_size|prompt_truncated|max_prob|logprob|predicted_index)(_.*)?"
)
CORRECT = "correct"

Key = tuple[str, str, str]
"""Instance, perturbation and trial."""


class Run(NamedTuple):
    """What is said of a run: task, model, whether instances have several trials, and the scores by instance."""

    task: str
    model: str
    has_trials: bool
    scores: Mapping[Key, Mapping[str, str | None]]


def recognises(head: log.Head) -> bool:
    """Tell whether a file is a scenario state, or statistics of instances."""
    return {"adapter_spec", "request_states"} <= head.keys or {"instance_id", "train_trial_index"} <= head.columns


def read(files: Sequence[Path]) -> Iterator[Record]:
    """Yield the records of all runs.

    Raises:
        DataError: There is no state, two are of one task and model, or a choice has a request of its own.
    """
    states = [file for file in files if file.name.startswith(STATE.removesuffix(".json"))]
    if not states:
        raise DataError(f"{file_name(files[0])}: no {STATE}, which holds the answers; name the folder of the run")
    earlier: dict[tuple[str, str], Path] = {}
    for file in states:
        where, state = file_name(file), log.document(file)
        run = _run(log.part(state, "adapter_spec", dict, where), file)
        log.require_one(earlier, run.task, run.model, file)
        yield from _records(log.part(state, "request_states", list, where), run, where)


def _run(adapter: Mapping[str, Any], file: Path) -> Run:
    beside = file.with_name(SPECIFICATION)
    name = log.text_of(log.document(beside).get("name")) if beside.is_file() else None
    statistics = file.with_name(STATISTICS)
    return Run(
        OF_MODEL.sub("", name or file.absolute().parent.name),
        log.part(adapter, "model", str, file_name(file)),
        adapter.get("num_train_trials") not in {None, "1"},
        dict(_scores(statistics)) if statistics.is_file() else {},
    )


def _scores(file: Path) -> Iterator[tuple[Key, dict[str, str | None]]]:
    for _, value in log.values(file):
        for _, one, where in log.numbered(log.items(value), f"{file_name(file)}, instance"):
            stats = [log.members(stat) for stat in log.part(one, "stats", list, where)]
            named = {str(log.members(stat.get("name")).get("name")): log.number(stat.get("mean")) for stat in stats}
            yield _key(one, one.get("instance_id"), one), {n: v for n, v in named.items() if not NO_SCORE.fullmatch(n)}


def _key(instance: Mapping[str, Any], name: Any, trial: Mapping[str, Any]) -> Key:
    changed = log.members(instance.get("perturbation"))
    return str(name), "" if not changed else log.as_json(changed), str(trial.get("train_trial_index"))


def _records(states: Sequence[Any], run: Run, where: str) -> Iterator[Record]:
    present: set[Key] = set()
    line = 0
    for line, state, place in log.numbered(states, f"{where}, request"):
        if state.get("reference_index") is not None:
            raise DataError(
                f"{place}: each choice has a request of its own, and no answer; run HELM with a joint method"
            )
        instance = log.part(state, "instance", dict, place)
        key = _key(instance, log.part(instance, "id", str, place), state)
        present.add(key)
        yield Record(where, line, _values(state, instance, key, run))
    for key in [key for key in run.scores if key not in present]:
        yield Record(where, line + 1, log.missing(log.flat(**_named(key, run), scores={}), None))


def _named(key: Key, run: Run) -> dict[str, Any]:
    """Return id, candidate, draw and group."""
    instance, changed, trial = key
    of_instance = f"{run.task}/{instance}"
    name = log.members(log.decoded(changed)).get("name") if changed else None
    return {
        "id": f"{of_instance}/{name}" if name else of_instance,
        "candidate": run.model,
        "draw": str(int(trial) + 1) if run.has_trials and trial.isdigit() else None,
        "group": of_instance,
    }


def _values(state: Mapping[str, Any], instance: Mapping[str, Any], key: Key, run: Run) -> dict[str, Value]:
    result, choices = log.members(state.get("result")), log.members(state.get("output_mapping"))
    completions = log.items(result.get("completions"))
    text = log.text_of(completions[0]) if completions else None
    response = choices.get(text.strip(), text) if text is not None else None
    failed = (log.text_of(result.get("error")) or "error") if result.get("success") == "false" else None
    asked = [log.text_of(instance.get("input")), *(f"{letter}. {choice}" for letter, choice in choices.items())]
    references = [log.members(one) for one in log.items(instance.get("references"))]
    return log.flat(
        **_named(key, run),
        input="\n".join(filter(None, asked)) or None,
        references=[log.text_of(one.get("output")) for one in references if CORRECT in log.items(one.get("tags"))],
        response=response,
        error=failed or (None if response is not None else "no output"),
        latency=log.amount(result.get("request_time")),
        scores=run.scores.get(key, {}),
        metadata={"task": run.task, "split": instance.get("split"), "perturbation": _perturbation(instance)},
    )


def _perturbation(instance: Mapping[str, Any]) -> str | None:
    return log.text_of(log.members(instance.get("perturbation")).get("name"))
