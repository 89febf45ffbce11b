"""How often people bear out conclusions that `flows.robust` calls robust, and contradict those that it calls fragile.

Each pair of systems of each data set is compared by the offline judge, whose models never saw the questions, and on
NQ301 also by GPT-4 and text-davinci-003. People's labels decide who is right; they are no reading. A conclusion is
contradicted if people's difference is not significant in the same direction. Slices are the first words of questions.

Use: python -m benchmarks.robust NQ.json TQ.json NQ301/ (EVOUNA's two files, and the folder of NQ301)
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.judge_bias import judged_held_out
from benchmarks.nq301 import by_models, letters, listed, nq301
from benchmarks.offline_judge.labelled import Labelled, human_labelled
from benchmarks.offline_judge.training import training_rows
from goldmeter.comparison.frames import ColumnOptions, candidate, keyed
from goldmeter.comparison.pairing import distinct
from goldmeter.comparison.readings import readings, shared
from goldmeter.comparison.robustness import Asked, Robustness, robustness
from goldmeter.estimates.columns import Candidate
from goldmeter.metrics import scores
from goldmeter.metrics.base import Floats
from goldmeter.wording.verdicts import Verdict

OFFLINE, GPT4, DAVINCI, BEM = "offline", "GPT-4", "text-davinci-003", "BEM"
JUDGES = (OFFLINE, GPT4, DAVINCI, BEM)
MEASURES = ("string_presence_normalized", "rouge_recall", "f1", "exact_match")
METRICS = ["exact_match", "accuracy", "f1", "string_presence", "string_presence_normalized", "rouge",
           "non_llm_string_similarity"]  # fmt: skip
THRESHOLDS = {OFFLINE: 0.5, "f1": 0.5, "rouge_recall": 0.5, "non_llm_string_similarity": 0.5}
HEAD = """| data set | by | pairs | conclusions | robust | of these people's | contradicted | of these not robust |
|---|---|---|---|---|---|---|---|"""


def table(rows: Sequence[Labelled], probabilities: Floats, verdicts: Mapping[str, Floats]) -> pd.DataFrame:
    """The scores of each answer; verdicts: model → its verdicts on the rows, NaN without one."""
    found = scores(METRICS, [row.response for row in rows], [row.references for row in rows])
    attrs, found = found.attrs, found.select_dtypes("number").astype(float)
    found[OFFLINE] = probabilities
    for name, values in verdicts.items():
        found[name] = values
    found["label"], found["system"] = [float(row.verdict) for row in rows], [row.source for row in rows]
    found["id"] = [row.question for row in rows]
    found["word"] = [row.question.split()[0].lower() for row in rows]
    common = found["word"].value_counts().index[:6]
    found["word"] = found["word"].where(found["word"].isin(common), "other")
    found = found.drop_duplicates(["system", "id"])
    found.attrs = attrs
    return found


def systems(scored: pd.DataFrame) -> list[Candidate]:
    """The systems of a table, by name."""
    thresholds = THRESHOLDS | {name: 0.5 for name in (GPT4, DAVINCI, BEM) if name in scored}
    names = sorted(set(scored["system"]))
    found = []
    for name in names:
        part = scored[scored["system"] == name].drop(columns="system")
        part.attrs = scored.attrs
        options = ColumnOptions({one: (0.0, 1.0) for one in JUDGES if one in part}, thresholds,
                                frozenset(), None, ("word",), labels_random=False)  # fmt: skip
        found.append(candidate(keyed(name, part, "id"), options))
    return [one.__class__(**{**vars(one), "name": name}) for one, name in zip(distinct(found), names, strict=True)]


def conclusions(sides: Sequence[Candidate], primary: str) -> Iterator[tuple[Robustness, Verdict]]:
    """Yield what is concluded on each pair by the measure, and people's verdict."""
    for pair in combinations(sides, 2):
        every = [[one._replace(is_verdict=one.judge in JUDGES) for one in readings(side, None)] for side in pair]
        found = {**shared(every)}
        people = robustness(pair, {"label": found.pop("label")}, Asked("label"))
        yield robustness(pair, found, Asked(primary)), people.conclusion.verdict


def line(name: str, by: str, every: Sequence[tuple[Robustness, Verdict]]) -> str:
    """A row of the table."""
    decided = [(one.answer, one.conclusion.verdict == people) for one, people in every if one.answer != "open"]
    robust = [agrees for answer, agrees in decided if answer == "robust"]
    contradicted = [answer for answer, agrees in decided if not agrees]
    fragile = sum(answer != "robust" for answer in contradicted)
    return (
        f"| {name} | {by} | {len(every)} | {len(decided)} | {len(robust)} | {sum(robust)} | {len(contradicted)} | "
        f"{fragile} |"
    )


def verdicts_of(folder: Path, rows: Sequence[Labelled]) -> dict[str, Floats]:
    """Model → its verdicts on the rows of NQ301."""
    said = {(name, system, one.question): verdict for name, system, one, verdict in by_models(folder, rows)}
    bem = {(letters(one.answer.question), letters(one.answer.response)): one.bem for one in listed(folder, rows)}
    keys = [(letters(row.question), letters(row.response)) for row in rows]
    models = {name: np.array([said.get((name, row.source, row.question), np.nan) for row in rows])
              for name in (GPT4, DAVINCI)}  # fmt: skip
    return models | {BEM: np.array([bem.get(key, np.nan) for key in keys])}


def main(arguments: Sequence[str]) -> None:
    """Measure and print the table of docs/how-to/robust.md."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.robust", description=__doc__)
    parser.add_argument("nq", type=Path, help="NQ.json of EVOUNA")
    parser.add_argument("tq", type=Path, help="TQ.json of EVOUNA")
    parser.add_argument("nq301", type=Path, help="the folder of NQ301")
    chosen = parser.parse_args(arguments)
    trained = training_rows(chosen.nq)
    others = {"EVOUNA-TQ": [*human_labelled(chosen.tq)], "NQ301": [*nq301(chosen.nq301)]}
    known, elsewhere = judged_held_out(trained, others)
    judged = {"EVOUNA-NQ": ([row for row in trained if not row.written], known)}
    judged |= {one.name: (others[one.name], one.probabilities) for one in elsewhere}
    print(HEAD)
    for name, (rows, probabilities) in judged.items():
        models = verdicts_of(chosen.nq301, rows) if name == "NQ301" else {}
        sides = systems(table(rows, probabilities, models))
        for by in (OFFLINE, *models, *MEASURES):
            print(line(name, by, [*conclusions(sides, by)]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
