"""A run to choose from and to take labels back to: loaded for real, with given probabilities of the offline judge."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from goldmeter.dataset.settings import Params
from goldmeter.estimates.columns import STATED_PROBABILITY
from goldmeter.pipeline import params
from goldmeter.pipeline.files import remove
from goldmeter.pipeline.tables import describe, write_part
from tasks.load import load, source
from tests.small_project import edit

DATA = Path("data/mine/q.jsonl")
CANDIDATES = {"a": {"response": "a"}, "b": {"response": "b"}}
QUESTIONS = [
    {"id": f"q{i}", "q": f"Question {i}?", "ref": [f"answer {i}"], "a": f"answer {i}", "b": f"reply {i}"}
    for i in range(20)
]


def make_run(questions: Sequence[Mapping[str, Any]] = QUESTIONS, **dataset: Any) -> None:
    """Write questions to the project, with a section `dataset` that reads them, and load them."""
    write_questions(questions)
    given = {
        "path": DATA.as_posix(), "pattern": None, "id": "id", "input": "q", "references": "ref", "labels": "all",
        "candidates": CANDIDATES, "group": None, "slices": [], "label_file": None,
    }  # fmt: skip
    edit(lambda content: content["dataset"].update(given | dataset))
    load_again()


def write_questions(questions: Sequence[Mapping[str, Any]]) -> None:
    """Write the file of the questions."""
    DATA.parent.mkdir(parents=True, exist_ok=True)
    DATA.write_text("".join(json.dumps(each) + "\n" for each in questions), encoding="utf-8")


def load_again() -> list[dict[str, Any]]:
    """Load by the present params.yaml, and return the rows of data/load."""
    return loaded(params.for_stage("load"))


def loaded(wanted: Params) -> list[dict[str, Any]]:
    """Load by sections `dataset` and `load`, and return the rows of data/load."""
    parts = [part["load"] for part in load(source(wanted), wanted)]
    remove(Path("data/load"))
    Path("data/load").mkdir()
    for number, part in enumerate(parts):
        write_part(part, Path("data/load"), number)
    rows = [row for part in parts for row in part.to_pylist()]
    judge(rows, [(number % 10 + 0.5) / 10 for number in range(len(rows))])
    return rows


def judge(
    rows: Sequence[Mapping[str, Any]], p: Sequence[float | None], stated: Sequence[float | None] | None = None
) -> None:
    """Write data/judge: the offline judge's probability of each row, and whether it is at least .5.

    stated: the probabilities of another judge.
    """
    keys = {name: [row[name] for row in rows] for name in ("id", "candidate")}
    results = ["unmeasured" if one is None else "pass" if one >= 0.5 else "fail" for one in p]
    table = pa.table({**keys, "offline_match": pa.array(p, pa.float64()), "meaning_match_result": results})
    if stated is not None:
        table = table.append_column("meaning_match_probability", pa.array(stated, pa.float64()))
        table = describe(table, {STATED_PROBABILITY: "meaning_match_probability"})
    Path("data/judge").mkdir(exist_ok=True)
    pq.write_table(table, "data/judge/part-00000.parquet")
