"""Versions made by the real stages from a few rows, in folders."""

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from goldmeter.comparison.gate import Gate
from goldmeter.dataset.description import LABEL
from goldmeter.dataset.normalized import Normalize
from goldmeter.estimates.column_facts import RESOURCES, SPLIT_IDS
from goldmeter.estimates.tables import pairs_of, score_table
from goldmeter.metrics.catalogue import configure
from goldmeter.pipeline.tables import Parts, about, describe, write_part
from goldmeter.versions.version import Version
from tasks.normalize import Params as NormalizeParams
from tasks.normalize import normalize

GUARDS = {"exact_match": 0.0, "bleu": 0.0}
GATE = Gate(primary="f1", metrics=GUARDS, margin=0.0, confidence=0.95, fail_on="worse", max_unmeasured=0.05)
METRICS: dict[str, dict[str, Any]] = {"exact_match": {}, "f1": {"threshold": 0.5}, "bleu": {"threshold": 0.5}}
NORMALIZE = {"unicode": "NFKC", "case": True, "punctuation": True, "articles": False}
LATENCY = {
    "metric": "score_ms", "family": "dataset", "options": {}, "signature": "score|name:ms|v:1", "bounds": None,
    "higher_is_better": False, "corpus_is_mean": True,
}  # fmt: skip
COST = LATENCY | {"metric": "score_cost", "signature": "score|name:cost|v:1", "bounds": [0.0, 2.0]}
Row = dict[str, Any]


def gate(**changed: Any) -> Gate:
    return Gate.model_validate(GATE.model_dump() | changed)


def gate_on(primary: str, *guards: str, **changed: Any) -> Gate:
    """A gate with this primary measure, and guards that may not lose anything."""
    return gate(primary=primary, metrics=dict.fromkeys(guards, 0.0), **changed)


def row(number: int, response: str | None, candidate: str = "aurora", **others: Any) -> Row:
    """An answer to question `number`, of which "right" is the reference."""
    asked = {"id": f"q{number}", "input": f"Question {number}?", "references": ["right"], "candidate": candidate}
    return asked | {"response": response, "label": None, "group": None, "topic": "x"} | others


def answers(text: str, candidate: str = "aurora", **others: Any) -> list[Row]:
    """One row per sign: `+` is the reference, `.` is not, `-` is no response."""
    said = {"+": "right", ".": "something else", "-": None}
    return [row(number, said[sign], candidate, **others) for number, sign in enumerate(text)]


def drawn(*texts: str, candidate: str = "aurora", **others: Any) -> list[Row]:
    """Questions with several answers: one text per question, one sign per answer, as of `answers`."""
    found = []
    for number, text in enumerate(texts):
        for draw, one in enumerate(answers(text, candidate, **others), 1):
            asked = row(number, one["response"], candidate, **others)
            found.append(asked | {"id": f"q{number}#{draw}", "group": f"q{number}", "question": f"q{number}"})
    return found


def load_table(rows: Sequence[Row], scores: Mapping[str, dict[str, Any]] | None = None) -> pa.Table:
    """data/load of these rows; scores: column → what the table says of it, for numbers that the rows hold."""
    texts = pa.list_(pa.string())
    asked = [hashlib.sha256(json.dumps([each["input"], each["references"]]).encode()).hexdigest() for each in rows]
    columns: dict[str, Any] = {
        **{name: pa.array([each[name] for each in rows], pa.string()) for name in ("id", "candidate", "input")},
        "response": pa.array([each["response"] for each in rows], pa.string()),
        "references": pa.array([each["references"] for each in rows], texts),
        "label": pa.array([each["label"] for each in rows], pa.bool_()),
        "label_status": pa.array([each.get("label_status") for each in rows], pa.string()),
        "group": pa.array([each["group"] for each in rows], pa.string()),
        "slices": pa.array([{"topic": each["topic"]} for each in rows], pa.struct([("topic", pa.string())])),
        "phrases": pa.nulls(len(rows), texts),
        **{name: pa.array([each.get(name) for each in rows], pa.float64()) for name in scores or {}},
        "content": pa.array(asked, pa.string()),
    }
    columns |= {
        name: pa.array([each.get(name) for each in rows], pa.float64())
        for name in RESOURCES
        if any(name in each for each in rows)
    }
    if weighted := any("weight" in each for each in rows):
        columns["weight"] = pa.array([each["weight"] for each in rows], pa.float64())
    if any("question" in each for each in rows):
        columns["question"] = pa.array([each["question"] for each in rows], pa.string())
        columns["draw"] = pa.array([int(each["id"].partition("#")[2]) for each in rows], pa.int64())
    labelled = {"label": LABEL.to_json()} if any(each["label"] is not None for each in rows) else {}
    facts = {"columns": labelled | dict(scores or {}), "missing_response": "unmeasured", "labels": "all"}
    facts |= {"weight": "w"} if weighted else {}
    return describe(pa.table(columns), facts)


def version(
    folder: Path,
    rows: Sequence[Row],
    *,
    metrics: Mapping[str, Mapping[str, Any]] = METRICS,
    scores: Mapping[str, dict[str, Any]] | None = None,
    part_rows: int = 1000,
    normalized: Mapping[str, Any] = NORMALIZE,
) -> Version:
    """A folder of an earlier run with the tables load, normalize and lexical."""
    options = NormalizeParams(normalize=Normalize.model_validate(normalized))
    configured = {name: configure("lexical", name, chosen) for name, chosen in metrics.items()}
    shutil.rmtree(folder / "data", ignore_errors=True)
    for name in ("load", "normalize", "lexical"):
        (folder / "data" / name).mkdir(parents=True)
    whole = load_table(rows, scores)
    places = {(each["id"], number // part_rows) for number, each in enumerate(rows)}
    whole = describe(whole, about(whole.schema) | {SPLIT_IDS: len(places) > len({each["id"] for each in rows})})
    for number, start in enumerate(range(0, max(1, len(rows)), part_rows)):
        load = whole.slice(start, part_rows).combine_chunks()
        texts = normalize(load, options)
        made = {"load": load, "normalize": texts, "lexical": score_table(texts, pairs_of(texts), configured)}
        for name, table in made.items():
            write_part(table, folder / "data" / name, number)
    return Version(folder.name, folder, None)


def change_facts(folder: Path, table: str, column: str, **facts: Any) -> None:
    """Let a version's table say something else of a column, as another setting would."""
    parts = Parts(folder / "data" / table)
    for number, part in enumerate([*parts]):
        known = dict(parts.about)
        known["columns"] = known["columns"] | {column: known["columns"][column] | facts}
        write_part(describe(part, known), parts.folder, number)


def shuffled(rows: Sequence[Row], seed: int) -> list[Row]:
    return [rows[i] for i in np.random.default_rng(seed).permutation(len(rows))]
