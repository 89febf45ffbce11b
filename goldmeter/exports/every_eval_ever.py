"""A run as JSON for Every Eval Ever, one file per candidate.

Source: version 0.3.0 of the schema, every_eval_ever/schemas/eval.schema.json of
https://github.com/evaleval/every_eval_ever.
"""

import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from goldmeter.comparison.of_versions import scores_of
from goldmeter.errors import ExportError, unknown
from goldmeter.estimates.column_facts import ColumnFacts, stated
from goldmeter.estimates.metrics_report import Limited, MetricEntry
from goldmeter.exports.results import Results, safe_name, written
from goldmeter.pipeline.files import to_json
from goldmeter.pipeline.revisions import own_version
from goldmeter.pipeline.tables import about

SCHEMA = "0.3.0"
Relationship = Literal["first_party", "third_party", "collaborative", "other"]
MOST_OF_A_NAME = 100
_NOT_IN_FILES = re.compile(r"[^\w.-]", re.ASCII)


class Source(NamedTuple):
    """What no file of the project states. models: candidate → ID of its model; else the candidate's name is taken.

    relationship: of the organization to the developer of the models.
    """

    dataset: str
    organization: str
    relationship: Relationship
    models: Mapping[str, str]


def export(found: Results, folder: Path, source: Source) -> list[Path]:
    """Write a file for each candidate, which is created with its folder; returns their paths.

    Raises:
        ExportError: A model is given to an unknown candidate, or a file can't be written.
    """
    for candidate in source.models:
        if candidate not in found.candidates:
            raise ExportError(f"--model: {unknown('candidate', candidate, [*found.candidates])}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise ExportError(f"{folder}: is a file; expected a folder") from None
    facts, now, paths = _facts(found), int(time.time()), []
    for candidate in found.candidates:
        path = folder / f"{safe_name(candidate, _NOT_IN_FILES.sub('_', candidate), MOST_OF_A_NAME)}.json"
        with written(path) as temporary:
            temporary.write_text(to_json(document(found, candidate, source, facts, now)), encoding="utf-8")
        paths.append(path)
    return paths


def document(
    found: Results, candidate: str, source: Source, facts: Mapping[str, ColumnFacts], now: int
) -> dict[str, Any]:
    """The evaluation of one candidate; facts: of each score column; now: seconds since 1970."""
    model = source.models.get(candidate, candidate)
    unstated = {"deployment_type": "unknown", "model_availability": "unknown"}
    return {
        "schema_version": SCHEMA,
        "evaluation_id": f"{source.dataset}/{model}/{now}",
        "retrieved_timestamp": str(now),
        "source_metadata": {
            "source_type": "evaluation_run",
            "source_organization_name": source.organization,
            "evaluator_relationship": source.relationship,
        },
        "eval_library": {"name": "goldmeter", "version": own_version()},
        "model_info": {"name": candidate, "id": model, "additional_details": unstated},
        "evaluation_results": [
            result
            for name, entry in found.candidates[candidate].items()
            for result in _results(found, source.dataset, name, entry, facts[name])
        ],
    }


def _results(
    found: Results, dataset: str, name: str, entry: MetricEntry, facts: ColumnFacts
) -> Iterator[dict[str, Any]]:
    """Yield a metric's score, and its pass rate where that is another number."""
    data = found.report["dataset"]
    source = {
        "dataset_name": dataset,
        "source_type": "other",
        "additional_details": {"hash": data["hash"], "rows": str(data["rows"])},
    }
    shared: dict[str, Any] = {"evaluation_name": dataset, "source_data": source}
    if entry["value"] is not None:
        low, high = facts.bounds or (None, None)
        is_binary = facts.rate_signature is not None and not facts.has_graded_score
        config = {
            "metric_id": f"goldmeter.{name}",
            "metric_name": name,
            "lower_is_better": not facts.higher_is_better,
            "score_type": "binary" if is_binary else "continuous",
            "min_score": low,
            "max_score": high,
            "additional_details": {"signature": entry["signature"]},
        }
        yield shared | {"metric_config": config, "score_details": _details(found, entry, entry)}
    rate = entry.get("pass_rate")
    if rate is not None and facts.has_graded_score and rate["value"] is not None:
        config = {
            "metric_id": f"goldmeter.{name}.pass_rate",
            "metric_name": f"{name}, pass rate",
            "metric_kind": "pass_rate",
            "metric_unit": "proportion",
            "metric_parameters": {"threshold": rate["threshold"]},
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0.0,
            "max_score": 1.0,
            "additional_details": {"signature": rate["signature"]},
        }
        yield shared | {"metric_config": config, "score_details": _details(found, rate, entry)}


def _details(found: Results, number: Limited, entry: MetricEntry) -> dict[str, Any]:
    """A number with its interval, and the rows that it is of."""
    uncertainty: dict[str, Any] = {"num_samples": entry["n"]}
    if number["low"] is not None and number["high"] is not None:
        uncertainty["confidence_interval"] = {
            "lower": number["low"],
            "upper": number["high"],
            "confidence_level": found.report["confidence"],
            "method": entry["method"],
        }
    unmeasured = {"not_asked": str(entry["n_not_asked"]), "failed": str(entry["n_failed"])}
    return {"score": number["value"], "uncertainty": uncertainty, "details": unmeasured}


def _facts(found: Results) -> dict[str, ColumnFacts]:
    """Score column → its facts, of all tables with scores."""
    scores = scores_of(found.version)
    every = [stated(about(table.schema)) for table in (scores.load, *scores.tables.values())]
    return {name: facts for columns in every for name, facts in columns.items()}
