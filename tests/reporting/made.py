"""Small tables as the stages before the report make them."""

import json
from hashlib import sha256
from pathlib import Path

import pyarrow as pa

from goldmeter.comparison.gate import Gate
from goldmeter.pipeline.tables import Parts, about, describe, write_part
from goldmeter.reporting.assembly import report_files
from goldmeter.reporting.metrics_document import Aggregate, aggregate
from goldmeter.reporting.metrics_document import Params as AggregateParams
from goldmeter.reporting.settings import Report

GATE = Gate(primary="f1", metrics={}, margin=0.0, confidence=0.95, fail_on="worse", max_unmeasured=0.05)
SECTION = {"rows_to_look_at": 6, "answers": 1000, "max_chars": 200, "slice_values": 2, "small_n": 3, "targets": {}}
LABEL = {"metric": "label", "family": "dataset", "options": {}, "signature": "label|v:1"}
LABEL |= {"rate_signature": "label|v:1|pass:1", "bounds": (0.0, 1.0), "threshold": None}
LABEL |= {"higher_is_better": True, "corpus_is_mean": True}


def column(metric, family, threshold, bounds=(0.0, 1.0)):
    signature = f"{metric}|v:1"
    return {
        "metric": metric,
        "family": family,
        "options": {},
        "bounds": bounds,
        "higher_is_better": True,
        "corpus_is_mean": True,
        "signature": signature,
        "threshold": threshold,
        "rate_signature": f"{signature}|thr",
    }


def row(key, candidate, response, label, f1, meaning, **others):
    """One answer: its human label, and the scores of two metrics; meaning None = failed."""
    answer = {
        "id": key,
        "candidate": candidate,
        "response": response,
        "label": label,
        "f1": f1,
        "meaning": meaning,
    }
    return answer | {"input": "What?", "references": ("Paris",), "topic": "places"} | others


ROWS = [
    row("q1", "aurora", "Paris", True, 1.0, 0.9),
    row("q1", "borealis", "It may be Paris", False, 0.8, 0.85),
    row("q2", "aurora", "The capital", True, 0.1, 0.3, topic="words"),
    row("q2", "borealis", "", False, 0.0, 0.0, topic="words"),
    row("q3", "aurora", "Rome", False, 0.0, 0.4, topic="words"),
    row("q3", "borealis", "Paris", True, 1.0, None, topic="words"),
    row("q4", "aurora", "Lutetia", False, 0.25, 0.55, topic="names"),
    row("q4", "borealis", "Paris!", True, 1.0, 0.95, topic="names"),
]


def load_table(rows):
    texts = ["id", "candidate", "input", "response"]
    columns = {name: pa.array([each[name] for each in rows], pa.string()) for name in texts}
    columns["references"] = pa.array([list(each["references"]) for each in rows], pa.list_(pa.string()))
    columns["label"] = pa.array([each["label"] for each in rows], pa.bool_())
    columns["group"] = pa.nulls(len(rows), pa.string())
    columns["slices"] = pa.array([{"topic": each["topic"]} for each in rows], pa.struct([("topic", pa.string())]))
    columns["content"] = pa.array([sha256(each["id"].encode()).hexdigest() for each in rows])
    if any("question" in each for each in rows):
        columns["group"] = columns["question"] = pa.array([each["question"] for each in rows], pa.string())
        columns["draw"] = pa.array([each["draw"] for each in rows], pa.int64())
    if any("ratings" in each for each in rows):
        columns["ratings"] = pa.array([each["ratings"] for each in rows], pa.list_(pa.bool_()))
    if any("weight" in each for each in rows):
        columns["weight"] = pa.array([each["weight"] for each in rows], pa.float64())
    for kind in ("latency", "tokens", "cost"):
        if any(kind in each for each in rows):
            columns[kind] = pa.array([each.get(kind) for each in rows], pa.float64())
    labelled = any(each["label"] is not None for each in rows)
    return describe(pa.table(columns), {"columns": {"label": LABEL} if labelled else {}})


def with_score(load):
    """data/load with numbers from elsewhere that have neither bounds nor a threshold."""
    known = about(load.schema)["columns"]
    ungated = {"metric": "score_toxicity", "family": "dataset", "options": {}, "signature": "score_toxicity|v:1"}
    ungated |= {"bounds": None, "higher_is_better": False, "corpus_is_mean": True}
    values = pa.array([i / 10 for i in range(load.num_rows)])
    return describe(load.append_column("score_toxicity", values), {"columns": {**known, "score_toxicity": ungated}})


def score_table(rows, name, family, threshold, values, details):
    keys = {key: [each[key] for each in rows] for key in ("id", "candidate")}
    columns = {
        **keys,
        name: pa.array(values, pa.float64()),
        f"{name}_details": pa.array(details, pa.string()),
    }
    return describe(pa.table(columns), {"columns": {name: column(name, family, threshold)}})


def tables(rows):
    """Table name → table; the judge is off."""
    failed = [json.dumps({"unmeasured": "no vector"}) if each["meaning"] is None else None for each in rows]
    meaning = [each["meaning"] for each in rows]
    nothing = [None] * len(rows)
    judge = score_table(rows, "meaning_match", "judge", None, nothing, nothing).drop_columns("meaning_match_details")
    return {
        "load": load_table(rows),
        "lexical": score_table(rows, "f1", "lexical", 0.5, [each["f1"] for each in rows], nothing),
        "semantic": score_table(rows, "semantic_similarity", "semantic", 0.7, meaning, failed),
        "judge": judge.append_column("judge_status", pa.array(["disabled"] * len(rows), pa.string())),
        "load_rejected": pa.table({"reason": pa.array([], pa.string())}),
        "embed": describe(pa.table({"key": pa.array([], pa.string())}), {"truncated": 1}),
    }


def parts_of(made, folder: Path, part_rows):
    found = {}
    for name, table in made.items():
        (folder / name).mkdir(parents=True)
        for number, start in enumerate(range(0, max(1, table.num_rows), part_rows)):
            write_part(table.slice(start, part_rows), folder / name, number)
        found[name] = Parts(folder / name)
    return found


def validation(success=True):
    check = {"expectation": "expect_column_values_to_not_be_null", "columns": "id", "checked": 8, "failed": 0}
    broken = {
        "expectation": "expect_column_values_to_be_between",
        "columns": "f1, max_value 1",
        "checked": 8,
        "failed": 2,
    }
    checks = [check | {"first": []}, *([] if success else [broken | {"first": ["q1/aurora", "q2/aurora"]}])]
    return {"success": success, "counts": {"rows": 8, "rows_load": 1234567}, "checks": checks}


def inputs(rows, folder: Path, part_rows=100, extra=()):
    """The report's tables and documents, with the real estimates in them."""
    made = parts_of(tables(rows) | dict(extra), folder, part_rows)
    gate = GATE.model_copy(update={"primary": _primary(rows, dict(extra))})
    options = AggregateParams(
        aggregate=Aggregate(confidence=0.95, guarantee=False, max_unmeasured=0.5, pass_at=(1, 5, 10)), gate=gate
    )
    (written,) = aggregate(made, options)
    (folder / "aggregate").mkdir()
    write_part(written["aggregate"], folder / "aggregate", 0)
    documents = {"reports/metrics.json": json.loads(written["reports/metrics.json"])}
    documents |= {f"reports/validation/{name}.json": validation() for name in ("load", "lexical")}
    return made | {"aggregate": Parts(folder / "aggregate")}, documents


def _primary(rows, extra):
    """The measure that decides: labels if there are any, else the first one with a pass rate."""
    if any(each["label"] is not None for each in rows):
        return "label"
    scored = [name for table in extra.values() for name in about(table.schema).get("columns", {}) if name != "label"]
    return "f1" if "lexical" not in extra else next(iter(scored), "label")


def written(rows, folder: Path, part_rows=100, section=None, documents=None, extra=(), **more):
    """What the report writes for these rows; more: what else it is given, such as past runs."""
    made, found = inputs(rows, folder, part_rows, extra)
    options = Report(**(SECTION | (section or {})))
    return report_files(made, options, documents=found | (documents or {}), **more)


def section_of(html, name):
    """The part of a page that is called so."""
    return html.split(f'<section id="{name}"')[1].split("</section>")[0]
