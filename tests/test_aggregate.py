"""Estimates from small tables whose numbers can be checked by hand."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from goldmeter.comparison.gate import Gate
from goldmeter.errors import DataError, ParamsError
from goldmeter.estimates.column_facts import SPLIT_IDS, statement
from goldmeter.estimates.primary import Targets
from goldmeter.estimates.tables import facts_of, own_scores, score_table
from goldmeter.metrics.catalogue import configure
from goldmeter.metrics.pairs import Pairs
from goldmeter.models.offline.measured import question_hash
from goldmeter.pipeline.tables import Parts, about, describe, write_part
from goldmeter.pipeline.validation import check
from goldmeter.pipeline.workers import Crew, Processes, crew_of
from goldmeter.reporting.metrics_document import SCHEMA, Aggregate, Params, aggregate
from tasks.aggregate import advice, counts, expect
from tests.reporting import made

GATE = Gate(primary="exact_match", metrics={}, margin=0.0, confidence=0.95, fail_on="worse", max_unmeasured=0.05)
PARAMS = Params(
    aggregate=Aggregate(confidence=0.95, guarantee=False, max_unmeasured=0.05, pass_at=(1, 5, 10)), gate=GATE
)
LABEL: dict[str, Any] = {
    "family": "dataset", "metric": "label", "options": {}, "bounds": [0, 1], "threshold": None, "corpus_is_mean": True,
    "higher_is_better": True, "signature": "label|v:1", "rate_signature": "label|v:1|pass:1",
}  # fmt: skip


def stored(folder: Path, *tables: pa.Table) -> Parts:
    folder.mkdir(parents=True)
    for number, table in enumerate(tables):
        write_part(table, folder, number)
    return Parts(folder)


def rows(labels: list[bool | None], groups: list[str | None] | None = None, about: Any = None) -> pa.Table:
    n = len(labels)
    table = pa.table(
        {
            "id": [f"q{i}" for i in range(n)],
            "candidate": ["a"] * n,
            "label": pa.array(labels, pa.bool_()),
            "group": pa.array(groups or [None] * n, pa.string()),
            "slices": pa.array([{"topic": "even" if i % 2 == 0 else "odd"} for i in range(n)]),
            "content": [f"{i:064x}" for i in range(n)],
        }
    )
    return describe(table, {"columns": {"label": about or LABEL}})


def lexical(responses: list[str | None], references: list[str]) -> pa.Table:
    options = {"exact_match": {}, "bleu": {"threshold": 0.5}}
    metrics = {name: configure("lexical", name, own) for name, own in options.items()}
    keys = pa.table({"id": [f"q{i}" for i in range(len(responses))], "candidate": ["a"] * len(responses)})
    return score_table(keys, Pairs.of(responses, references), metrics)


def run(
    tmp_path: Path, load: pa.Table, scores: pa.Table, params: Params = PARAMS
) -> tuple[dict[tuple[Any, ...], Any], Any]:
    nothing = pa.table({"id": pa.array([], pa.string()), "reason": pa.array([], pa.string())})
    unscored = load.select(["id", "candidate"]).replace_schema_metadata()
    names = ("load", "load_rejected", "embed", "lexical", "semantic", "judge")
    tables = zip(names, (load, nothing, nothing, scores, unscored, unscored), strict=True)
    [made] = aggregate({name: stored(tmp_path / name, table) for name, table in tables}, params)
    assert made["aggregate"].schema == SCHEMA
    found = {(r["metric"], r["slice"], r["slice_value"]): r for r in made["aggregate"].to_pylist()}
    return found, made


def test_a_rate_with_wilsons_interval_and_its_counts(tmp_path: Path) -> None:
    found, _ = run(tmp_path, rows([True] * 8 + [False] * 8 + [None] * 4), lexical(["x"] * 20, ["x"] * 20))

    label = found["label", None, None]
    assert (label["value"], label["n"], label["n_not_asked"], label["n_failed"]) == (0.5, 16, 4, 0)
    assert (round(label["low"], 4), round(label["high"], 4)) == (0.2800, 0.7200)


def test_wrong_answers_are_counted_by_kind_of_failure_among_the_measured_ones(tmp_path: Path) -> None:
    texts = {"input": pa.array(["When?"] * 5), "references": pa.array([["1912"]] * 5, pa.list_(pa.string()))}
    texts["response"] = pa.array(["1912", "In 1915", "", None, "In 1913"])
    load = rows([None] * 5)
    for name, values in texts.items():
        load = load.append_column(name, values)

    _, made = run(tmp_path, load, lexical(texts["response"].to_pylist(), ["1912"] * 5))

    failures = json.loads(made["reports/metrics.json"])["failures"]["a"]
    assert (failures["n"], failures["wrong"]) == (4, 3)
    assert [(one["kind"], one["n"], one["value"]) for one in failures["kinds"]] == [
        ("wrong number", 2, 0.5),
        ("empty", 1, 0.25),
    ]


def test_a_missing_response_is_failed_and_bounded(tmp_path: Path) -> None:
    found, _ = run(tmp_path, rows([None] * 4), lexical(["x", "x", "y", None], ["x"] * 4))

    exact = found["exact_match", None, None]
    assert (exact["n"], exact["n_not_asked"], exact["n_failed"], exact["failed_share"]) == (3, 0, 1, 0.25)
    assert (exact["value"], exact["worst"], exact["best"]) == (2 / 3, 2 / 4, 3 / 4)


def test_a_row_passes_when_its_table_says_so(tmp_path: Path) -> None:
    scores = lexical(["x", "x", "y", "y"], ["x"] * 4)
    said = pa.array(["fail", "pass", "fail", "fail"])  # as of a majority of draws, which no threshold tells
    place = scores.column_names.index("exact_match_result")

    found, _ = run(tmp_path, rows([None] * 4), scores.set_column(place, "exact_match_result", said))

    assert found["exact_match", None, None]["value"] == 0.5
    assert found["exact_match", None, None]["pass_value"] == 0.25
    assert found["bleu", None, None]["pass_value"] == 0.5


def test_corpus_bleu_is_a_score_of_sums_not_a_mean_of_rows(tmp_path: Path) -> None:
    texts = (["a b c d", "x y"], ["a b c d", "x z"])
    found, _ = run(tmp_path, rows([True, True]), lexical(*texts))

    metric = configure("lexical", "bleu", {})
    stats = metric.stats(Pairs.of(*texts))
    assert found["bleu", None, None]["value"] == pytest.approx(float(metric.score(stats.sum(0))))
    assert found["bleu", None, None]["value"] != pytest.approx(float(metric.score(stats).mean()))


def test_grouped_rows_get_a_wider_interval_than_loose_ones(tmp_path: Path) -> None:
    labels = [True] * 30 + [False] * 30
    scores = lexical(["x"] * 60, ["x"] * 60)

    loose, _ = run(tmp_path / "1", rows(labels), scores)
    grouped, _ = run(tmp_path / "2", rows(labels, [f"g{i // 5}" for i in range(60)]), scores)

    width = [each["label", None, None]["high"] - each["label", None, None]["low"] for each in (loose, grouped)]
    assert width[1] > 1.5 * width[0]
    assert grouped["label", None, None]["method"].startswith("cr2")


def test_a_row_without_a_group_is_a_cluster_of_its_own_even_when_a_group_has_its_id(tmp_path: Path) -> None:
    scores = lexical(["x"] * 12, ["x"] * 12)
    groups: list[str | None] = [None, None, *["q0"] * 5, *["q1"] * 5]
    renamed: list[str | None] = [None, None, *["g0"] * 5, *["g1"] * 5]

    found, _ = run(tmp_path / "1", rows([True, False] * 6, groups), scores)
    expected, _ = run(tmp_path / "2", rows([True, False] * 6, renamed), scores)

    assert found["label", None, None]["low"] == pytest.approx(expected["label", None, None]["low"])


def test_tables_of_another_version_are_not_paired(tmp_path: Path) -> None:
    scores = lexical(["x", "y", "z"], ["x"] * 3)

    with pytest.raises(DataError, match="rows are not those of data/load"):
        run(tmp_path, rows([True] * 3), scores.take([2, 1, 0]))


def test_worst_is_never_above_the_value_by_rounding(tmp_path: Path) -> None:
    tenth = LABEL | {"metric": "score_x", "bounds": [0.1, 0.9], "threshold": 0.5}
    load = rows([None] * 3).append_column("score_x", pa.array([0.1, 0.1, None]))

    found, made = run(tmp_path, describe(load, {"columns": {"score_x": tenth}}), lexical(["x"] * 3, ["x"] * 3))

    assert found["score_x", None, None]["worst"] == 0.1
    assert not [
        e for e in check(made["aggregate"].to_pandas(), expect(PARAMS).rows) if e.failed and "worst" in e.columns
    ]


def test_the_contract_finds_a_value_without_its_interval(tmp_path: Path) -> None:
    _, made = run(tmp_path, rows([True] * 4), lexical(["x"] * 4, ["x"] * 4))
    frame = made["aggregate"].to_pandas().assign(low=None)

    broken = [each.columns for each in check(frame, expect(PARAMS).rows) if each.failed]

    assert broken == ["low where lower_bound is not null"]


def test_the_contract_counts_the_rows_of_every_metric(tmp_path: Path) -> None:
    _, made = run(tmp_path, rows([True] * 4), lexical(["x", "y", None, "x"], ["x"] * 4))

    assert counts(made) == {"rows_of_a_metric": 4}


def test_slices_are_estimated_one_by_one(tmp_path: Path) -> None:
    found, _ = run(tmp_path, rows([True, False] * 10), lexical(["x"] * 20, ["x"] * 20))

    assert found["label", "topic", "even"]["value"] == 1.0
    assert found["label", "topic", "odd"]["value"] == 0.0
    assert found["label", "topic", "odd"]["n"] == 10


def test_the_documents_follow_the_table(tmp_path: Path) -> None:
    _, made = run(tmp_path, rows([True] * 2 + [False]), lexical(["x", "x", "y"], ["x"] * 3))

    metrics, summary = json.loads(made["reports/metrics.json"]), json.loads(made["reports/summary.json"])
    assert metrics["schema"] == 1
    assert metrics["dataset"].pop("hash")
    assert metrics["dataset"] == {"rows": 3, "ids": 3, "rejected": 0, "rejected_reasons": {}, "truncated_texts": 0}
    exact = metrics["candidates"]["a"]["exact_match"]
    assert exact["value"] == 0.666667
    assert exact["pass_rate"]["value"] == 0.666667
    assert exact["pass_rate"]["threshold"] is None
    assert exact["slices"]["topic"]["even"]["n"] == 2
    assert summary["a"]["exact_match"] == 0.6667
    assert "exact_match.pass" not in summary["a"]


@pytest.mark.parametrize(("threshold", "rate"), [(0.5, 0.75), (0.9, 0.5)])
def test_a_threshold_changes_a_number_that_dvc_shows(tmp_path: Path, threshold: float, rate: float) -> None:
    pairs = Pairs.of(["x y", "x y", "x z", "d e"], ["x y"] * 4)
    load = rows([True] * 4)
    scores = score_table(load, pairs, {"f1": configure("lexical", "f1", {"threshold": threshold})})

    params = PARAMS.model_copy(update={"gate": GATE.model_copy(update={"primary": "f1"})})
    _, made = run(tmp_path, load, scores, params)

    assert json.loads(made["reports/summary.json"])["a"] == {"label": 1.0, "f1": 0.625, "f1.pass": rate}


def test_records_of_joined_files_that_are_left_out_are_counted(tmp_path: Path) -> None:
    load = rows([True, None, None])
    load = describe(load, about(load.schema) | {"left_out": {"gpt4.jsonl": 7}})

    _, made = run(tmp_path, load, lexical(["x"] * 3, ["x"] * 3))

    assert json.loads(made["reports/metrics.json"])["dataset"]["left_out"] == {"gpt4.jsonl": 7}


def test_stale_labels_are_counted(tmp_path: Path) -> None:
    load = rows([True, None, None])
    status = pa.array([None, "stale", "stale"])
    load = load.append_column("label_status", status)

    _, made = run(tmp_path, load, lexical(["x"] * 3, ["x"] * 3))

    assert json.loads(made["reports/metrics.json"])["dataset"]["stale_labels"] == 2


@pytest.mark.parametrize(("provider", "said"), [("offline", True), ("openai", False), ("cascade", True)])
def test_agreement_of_a_judge_that_was_trained_on_these_questions_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, provider: str, *, said: bool
) -> None:
    facts = {"set": "S", "cross_validated": 0.914, "n": 1, "questions": question_hash("What?")}
    for module in ("goldmeter.models.offline.measured", "goldmeter.estimates.human_labels"):
        monkeypatch.setattr(f"{module}.measured", lambda: {"trained_on": facts})
    monkeypatch.setattr("goldmeter.estimates.judge_bias.measured", lambda: None)
    asked = [made.row(f"q{n}", "aurora", "x", n % 3 > 0, 1.0, 1.0) for n in range(40)]
    judge = made.score_table(asked, "meaning_match", "judge", None, [float(n % 2) for n in range(40)], [None] * 40)
    column = about(judge.schema)["columns"]["meaning_match"]
    stated = {"meaning_match": column | {"signature": f"meaning_match|provider:{provider}|v:1"}}
    judge = judge.append_column("judge_status", pa.array(["answered"] * 40))
    if provider == "cascade":
        judges = pa.array(["offline judge", "offline judge", "offline judge", "language model"] * 10)
        judge = judge.append_column("judged_by", judges)
        for column_name, values in (("in_domain", [True] * 40), ("domain_reason", pa.nulls(40, pa.string()))):
            judge = judge.append_column(column_name, pa.array(values))
    judge = describe(judge, {"columns": stated})

    _, documents = made.inputs(asked, tmp_path, extra={"judge": judge})

    document = documents["reports/metrics.json"]
    [entry] = document["candidates"].values()
    assert document.get("by_offline_judge") == ({"aurora": 0.75} if provider == "cascade" else None)
    expected = {"share": 1.0, "data": "S", "cross_validated": 0.914}
    assert entry["meaning_match"]["agreement"].get("in_sample") == (expected if said else None)
    assert "in_sample" not in entry["f1"]["agreement"]


@pytest.mark.parametrize("part_rows", [100, 7])
def test_a_judge_that_passes_long_answers_is_found_by_labels(tmp_path: Path, part_rows: int) -> None:
    """It passes the wrong answers of 32 characters, and fails those of 8 or 16; a third has no label."""
    asked = [
        made.row(f"q{n}", "aurora", " " * n + "x" * 2 ** (n % 3 + 3), [True, False, None][n // 3 % 3], 1.0, 1.0)
        for n in range(90)
    ]
    verdicts = [1.0 if one["label"] or n % 3 == 2 else 0.0 for n, one in enumerate(asked)]
    judge = made.score_table(asked, "meaning_match", "judge", None, verdicts, [None] * 90)
    judge = judge.append_column("judge_status", pa.array(["answered"] * 90))

    _, documents = made.inputs(asked, tmp_path, part_rows, extra={"judge": judge})

    found = documents["reports/metrics.json"]["length_bias"]
    # Verdict less label: 0 for the 30 right answers; 0, 0, 1 for the 30 wrong ones of 3, 4 and 5 doublings.
    assert found["all"]["value"] == pytest.approx(0.25)
    assert found["all"]["low"] > 0.1
    assert found == {"all": found["all"], "systems": {"aurora": found["all"]}}
    assert found["all"]["n"] == 60


@pytest.mark.parametrize(
    ("provider", "states", "said"), [("offline", False, True), ("openai", False, False), ("decisions", True, True)]
)
def test_probabilities_of_the_judge_that_labels_reject_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, provider: str, *, states: bool, said: bool
) -> None:
    monkeypatch.setattr("goldmeter.estimates.judge_bias.measured", lambda: None)
    asked = [made.row(f"q{n}", "aurora", "x", n % 3 > 0, 1.0, 1.0) for n in range(60)]
    judge = made.score_table(asked, "meaning_match", "judge", None, [float(n % 2) for n in range(60)], [None] * 60)
    column = about(judge.schema)["columns"]["meaning_match"]
    stated = {"meaning_match": column | {"signature": f"meaning_match|provider:{provider}|v:1"}}
    judge = judge.append_column("judge_status", pa.array(["answered"] * 60))
    p, more = [0.99, 0.01] * 30, {}
    if states:
        judge = judge.append_column("meaning_match_probability", pa.array(p))
        p, more = [0.7] * 60, {"stated_probability": "meaning_match_probability"}
    judge = describe(judge.append_column("offline_match", pa.array(p)), {"columns": stated, **more})

    _, documents = made.inputs(asked, tmp_path, extra={"judge": judge})

    found = documents["reports/metrics.json"].get("calibration")
    assert (found is not None) == said
    if found:
        assert (found["n"], found["p_value"], found["expected"], found["right"]) == (60, 0.001, 0.5, 0.666667)
        assert found["error_recalibrated"] < found["error"]
    groups = documents["reports/metrics.json"].get("reliability", [])
    assert [(one["n"], one["expected"], one["right"]["value"]) for one in groups] == (
        [(30, 0.01, 0.666667), (30, 0.99, 0.666667)] if said else []
    )


TOO_SURE = [0.999, 0.001] * 200


def few_labels(tmp_path: Path, p: list[float], labels: str) -> tuple[dict[tuple[Any, ...], Any], Any]:
    """400 rows of which 6 in 10 are right, whatever the judge says, and 1 in 4 has a label."""
    right = [i % 10 < 6 for i in range(400)]
    is_chosen = [i % 8 < 2 for i in range(400)]
    load = rows([one if chosen else None for one, chosen in zip(right, is_chosen, strict=True)])
    if labels == "designed":
        chances = pa.array([0.25 if one else None for one in is_chosen], pa.float64())
        load = load.append_column("label_probability", chances)
    load = describe(load, {"columns": {"label": LABEL}, "labels": labels})
    judge = load.select(["id", "candidate"]).append_column("offline_match", pa.array(p))
    judge = describe(judge.append_column("judge_status", pa.array(["disabled"] * 400)), {"columns": {}})
    nothing = pa.table({"id": pa.array([], pa.string()), "reason": pa.array([], pa.string())})
    unscored = load.select(["id", "candidate"]).replace_schema_metadata()
    names = ("load", "load_rejected", "embed", "lexical", "semantic", "judge")
    tables = (load, nothing, nothing, unscored, unscored, judge)
    params = PARAMS.model_copy(update={"gate": GATE.model_copy(update={"primary": "label"})})
    [made] = aggregate({name: stored(tmp_path / name, each) for name, each in zip(names, tables, strict=True)}, params)
    found = {(r["metric"], r["slice"], r["slice_value"]): r for r in made["aggregate"].to_pylist()}
    return found, json.loads(made["reports/metrics.json"])


@pytest.mark.parametrize("labels", ["random", "designed"])
def test_estimates_from_labels_take_the_judges_probabilities_as_they_are(tmp_path: Path, labels: str) -> None:
    found, document = few_labels(tmp_path, TOO_SURE, labels)

    assert "calibration" not in document  # no verdict goes by them
    assert document["candidates"]["a"]["label"]["ppi"]["score"] == "1 score, cross-fitted"
    assert {row["signature"] for place, row in found.items() if place[0] == "label"} == {"label|v:1"}


@pytest.mark.parametrize("labels", ["random", "designed"])
def test_probabilities_that_labels_do_not_reject_are_used_as_they_are(tmp_path: Path, labels: str) -> None:
    found, document = few_labels(tmp_path, [0.6] * 399 + [0.5], labels)

    assert "calibration" not in document
    assert "signature" not in document["candidates"]["a"]["label"]["ppi"]
    assert found["label", None, None]["signature"] == "label|v:1"


def test_labels_of_selected_rows_recalibrate_nothing(tmp_path: Path) -> None:
    _, document = few_labels(tmp_path, TOO_SURE, "all")

    assert "calibration" not in document
    assert "ppi" not in document["candidates"]["a"]["label"]


def test_numbers_without_bounds_get_a_t_interval(tmp_path: Path) -> None:
    load = rows([None] * 4)
    latency = LABEL | {"metric": "score_ms", "bounds": None, "signature": "score|name:ms|v:1"}
    del latency["rate_signature"], latency["threshold"]  # as load describes a score without a threshold
    table = describe(load.append_column("score_ms", pa.array([1.0, 2.0, 3.0, 4.0])), {"columns": {"score_ms": latency}})

    found, _ = run(tmp_path, table, lexical(["x"] * 4, ["x"] * 4))

    row = found["score_ms", None, None]
    assert (row["value"], round(row["low"], 4), round(row["high"], 4)) == (2.5, 0.4457, 4.5543)
    assert row["pass_value"] is None


def test_the_contract_stops_when_too_many_rows_failed(tmp_path: Path) -> None:
    _, made = run(tmp_path, rows([True] * 4), lexical(["x", "x", "y", None], ["x"] * 4))

    broken = [each for each in check(made["aggregate"].to_pandas(), expect(PARAMS).rows) if each.failed]

    assert [each.columns.split(",")[0] for each in broken] == ["failed_share"]
    assert broken[0].failed == 2  # exact_match and bleu
    table = stored(tmp_path / "failed", made["aggregate"])
    assert advice({"aggregate": table}, PARAMS) == [
        "  a/exact_match and 1 more: 25.0% of its rows failed (1 of 4), allowed 5%"
    ]


def test_a_guarantee_is_refused_for_grouped_rows(tmp_path: Path) -> None:
    params = Params(
        aggregate=Aggregate(confidence=0.95, guarantee=True, max_unmeasured=0.05, pass_at=(1, 5, 10)), gate=GATE
    )

    with pytest.raises(ParamsError, match=r"aggregate\.guarantee"):
        run(tmp_path, rows([True] * 4, ["g"] * 4), lexical(["x"] * 4, ["x"] * 4), params)


def test_every_score_column_says_what_it_is() -> None:
    facts = statement(facts_of(configure("lexical", "rouge", {"threshold": 0.5}), {}))["columns"]

    assert list(facts) == ["rouge_precision", "rouge_recall", "rouge_f1_score"]
    assert "threshold" not in facts["rouge_recall"]
    assert facts["rouge_f1_score"]["threshold"] == 0.5


def drawn(results: dict[str, list[bool | None]]) -> pa.Table:
    """data/load of questions with several draws; results: question → its labels."""
    flat = [(name, number, label) for name, labels in results.items() for number, label in enumerate(labels, 1)]
    table = rows([label for *_, label in flat], [name for name, *_ in flat])
    table = table.append_column("question", pa.array([name for name, *_ in flat]))
    return table.append_column("draw", pa.array([number for _, number, _ in flat], pa.int64()))


def test_questions_with_several_draws_get_pass_at_k_and_pass_all_k(tmp_path: Path) -> None:
    load = drawn({"a": [True, True, False, False], "b": [True] * 4, "c": [False] * 4, "d": [True, None]})

    _, made = run(tmp_path, load, lexical(["x"] * 14, ["x"] * 14), of_draws(1, 2, 5))

    document = json.loads(made["reports/metrics.json"])
    label = document["candidates"]["a"]["label"]
    counts = {"n_questions": 3, "n_left_out": 1, "n_draws": 12}
    assert [label["pass_at"]["1"][name] for name in ("value", "n_questions", "n_draws")] == [0.625, 4, 13]
    assert {name: label["pass_at"]["2"][name] for name in counts} == counts
    assert label["pass_at"]["2"]["value"] == round((1 - 1 / 6 + 1) / 3, 6)
    assert label["pass_all"]["2"]["value"] == round((1 / 6 + 1) / 3, 6)
    assert label["pass_at"]["5"] | {"method": ""} == {
        "value": None, "low": 0.0, "high": 1.0, "n_questions": 0, "n_left_out": 4, "n_draws": 0, "method": ""
    }  # fmt: skip
    assert label["pass_all"]["1"] == label["pass_at"]["1"]
    assert document["pass_at"] == [1, 2, 5]
    assert (document["dataset"]["questions"], document["dataset"]["draws_each"]) == (4, [2, 4])


def test_the_spread_of_draws_comes_with_advice(tmp_path: Path) -> None:
    load = drawn({f"q{i}": [i < 15] * 3 + [i < 10] for i in range(20)})

    _, made = run(tmp_path, load, lexical(["x"] * 80, ["x"] * 80), of_draws(1))

    spread = json.loads(made["reports/metrics.json"])["candidates"]["a"]["label"]["spread"]
    assert spread["between"] > spread["within"]
    assert spread["favours"] == "questions"
    assert spread["advice"].startswith("More questions help more than more draws: twice the questions would lower")


def test_a_score_without_a_pass_rate_and_rows_without_draws_have_no_pass_at_k(tmp_path: Path) -> None:
    ungated = LABEL | {"metric": "score_x", "rate_signature": None}
    load = drawn({"a": [True] * 2, "b": [True] * 2}).append_column("score_x", pa.array([0.1, 0.2, 0.3, 0.4]))

    _, made = run(tmp_path / "1", describe(load, {"columns": {"score_x": ungated}}), lexical(["x"] * 4, ["x"] * 4))
    _, plain = run(tmp_path / "2", rows([True] * 4), lexical(["x"] * 4, ["x"] * 4))

    assert "pass_at" not in json.loads(made["reports/metrics.json"])["candidates"]["a"]["score_x"]
    assert "pass_at" in json.loads(made["reports/metrics.json"])["candidates"]["a"]["exact_match"]
    assert "pass_at" not in plain["reports/metrics.json"]


def of_draws(*ks: int) -> Params:
    return Params(aggregate=PARAMS.aggregate.model_copy(update={"pass_at": ks}), gate=GATE)


def test_the_k_of_pass_at_k_ascend_and_are_not_repeated() -> None:
    assert Aggregate(confidence=0.95, guarantee=False, max_unmeasured=0.05, pass_at=(5, 1, 5)).pass_at == (1, 5)
    with pytest.raises(ValueError, match="greater than or equal to 1"):
        Aggregate(confidence=0.95, guarantee=False, max_unmeasured=0.05, pass_at=(0,))


def in_parts(folder: Path, size: int, groups: list[str | None] | None = None) -> dict[str, Parts]:
    """The tables of 60 questions with two candidates, in parts of so many rows."""
    n = 60
    texts = ["a b c d", "a b x d", "y", "a b c d e f"]
    labels = [None if i % 7 == 0 else i % 3 > 0 for i in range(n)]
    both = rows(labels * 2, None if groups is None else groups * 2)
    for name, values in (("candidate", ["a"] * n + ["b"] * n), ("id", [f"q{i}" for i in range(n)] * 2)):
        both = both.set_column(both.column_names.index(name), name, pa.array(values))
    answers: list[str | None] = [None if i % 11 == 0 else texts[i * i % 4] for i in range(2 * n)]
    scores = lexical(answers, [texts[i % 4] for i in range(n)] * 2)
    scores = scores.set_column(0, "id", both["id"]).set_column(1, "candidate", both["candidate"])
    order = sorted(range(2 * n), key=lambda i: i % n)  # rows of an id stand in one part
    both = describe(both, about(both.schema) | {SPLIT_IDS: size % 2 > 0})
    both, scores = both.take(order), scores.take(order)
    unscored = both.select(["id", "candidate"]).replace_schema_metadata()
    nothing = pa.table({"id": pa.array([], pa.string()), "reason": pa.array([], pa.string())})
    own = own_scores(unscored, "steady", [0.4 + 0.2 * (i * i % 3 > 0) for i in range(2 * n)])
    tables = {"load": both, "load_rejected": nothing, "embed": unscored, "lexical": scores, "judge": unscored}
    tables |= {"own": own}
    folder.mkdir()
    return {
        name: stored(folder / name, *(table.slice(at, size) for at in range(0, max(1, table.num_rows), size)))
        for name, table in tables.items()
    }


def written(
    tables: dict[str, Parts], crew: Crew | None = None, scratch: Path | None = None, *, guarantee: bool = False
) -> tuple[Any, ...]:
    params = PARAMS.model_copy(update={"aggregate": PARAMS.aggregate.model_copy(update={"guarantee": guarantee})})
    [made] = aggregate(tables, params, crew=crew, scratch=scratch)
    return tuple(each.to_pylist() if isinstance(each, pa.Table) else each for each in made.values())


def test_a_part_without_rows_changes_nothing(tmp_path: Path) -> None:
    expected, tables = written(in_parts(tmp_path / "a", 40)), in_parts(tmp_path / "b", 40)
    for parts in tables.values():
        if len(parts) > 1:
            last = len(parts)
            write_part(parts.part(last - 1), parts.folder, last)
            write_part(parts.part(0).slice(0, 0), parts.folder, last - 1)
            write_part(parts.part(0).slice(0, 0), parts.folder, last + 1)

    assert written({name: Parts(parts.folder) for name, parts in tables.items()}) == expected


def test_scores_beyond_any_square_have_an_interval_of_any_width(tmp_path: Path) -> None:
    free = LABEL | {"bounds": None, "rate_signature": None, "threshold": None}
    load = rows([True, False, True, True], about=free)
    load = load.set_column(2, "label", pa.array([1.0, 2.0, 3e160, 4.0]))

    found, _ = run(tmp_path, load, lexical(["a b c d"] * 4, ["a b c d"] * 4))

    assert found["label", None, None]["value"] == 7.5e159
    assert found["label", None, None]["low"] is None


GROUPS = [None if i % 5 == 0 else f"g{i // 4}" for i in range(60)]


@pytest.mark.parametrize(("groups", "guarantee"), [(None, False), (None, True), (GROUPS, False)])
def test_parts_of_any_size_give_the_same_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, groups: list[str | None] | None, *, guarantee: bool
) -> None:
    monkeypatch.setattr("goldmeter.comparison.blocks.BLOCK_ROWS", 25)
    found = [
        written(in_parts(tmp_path / str(size), size, groups), scratch=tmp_path / f"of-{size}", guarantee=guarantee)
        for size in (120, 14)
    ]

    (whole, *expected), (table, *reports) = found
    assert [to_six_decimals(row) for row in table] == [to_six_decimals(row) for row in whole]
    assert reports == expected
    steady = {row["method"] for row in whole} & {"steady"}
    assert bool(steady) == (groups is None and not guarantee)


def to_six_decimals(row: dict[str, Any]) -> dict[str, Any]:
    return {name: round(value, 6) if isinstance(value, float) else value for name, value in row.items()}


@pytest.mark.long  # two processes import the stage
def test_processes_give_the_bytes_of_one_process(tmp_path: Path) -> None:
    tables = in_parts(tmp_path / "tables", 14)

    with crew_of(partial(Processes, ["goldmeter.reporting.metrics_document"]), 2) as crew:
        assert written(tables, crew) == written(tables)


def test_labels_beyond_the_largest_number_are_chosen_by_their_ids_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("human_labels", "score_parts"):
        monkeypatch.setattr(f"goldmeter.estimates.{module}.MOST_LABELLED", 40)

    found = [json.loads(written(in_parts(tmp_path / str(size), size))[1]) for size in (120, 14)]

    assert found[0] == found[1]
    agreement = [one["exact_match"]["agreement"]["n"] for one in found[0]["candidates"].values()]
    left_out = found[0]["dataset"]["labels_left_out"]
    assert 30 < sum(agreement) <= 40
    assert {one["label"]["n"] for one in found[0]["candidates"].values()} == {51}
    assert left_out + 40 in {102, 103}


# labels that a design chose


def designed(n: int = 400) -> tuple[pa.Table, pa.Table]:
    """Rows of which the sure half is right, and the unsure half wrong in every second one; labelled 1 in 10 and 1 in 2.

    Returns data/load, and data/judge with the probabilities of the offline judge.
    """
    labels: list[bool | None] = []
    chances: list[float | None] = []
    for i in range(n):
        is_sure, place = i % 2 == 0, i // 2
        is_chosen = place % (10 if is_sure else 2) == 0
        labels.append((is_sure or place % 4 == 0) if is_chosen else None)
        chances.append((0.1 if is_sure else 0.5) if is_chosen else None)
    table = rows(labels).append_column("label_probability", pa.array(chances, pa.float64()))
    load = describe(table, {"columns": {"label": LABEL}, "labels": "designed"})
    judge = load.select(["id", "candidate"]).append_column("offline_match", pa.array([1.0, 0.5] * (n // 2)))
    status = pa.array(["ok"] * n)
    return load, describe(judge.append_column("judge_status", status), {"columns": {}})


def of_designed(tmp_path: Path, params: Params = PARAMS) -> tuple[dict[tuple[Any, ...], Any], Any]:
    load, judge = designed()
    nothing = pa.table({"id": pa.array([], pa.string()), "reason": pa.array([], pa.string())})
    unscored = load.select(["id", "candidate"]).replace_schema_metadata()
    names = ("load", "load_rejected", "embed", "lexical", "semantic", "judge")
    tables = (load, nothing, nothing, lexical(["x"] * 400, ["x"] * 400), unscored, judge)
    stored_tables = {name: stored(tmp_path / name, table) for name, table in zip(names, tables, strict=True)}
    [made] = aggregate(stored_tables, params)
    found = {(r["metric"], r["slice"], r["slice_value"]): r for r in made["aggregate"].to_pylist()}
    return found, json.loads(made["reports/metrics.json"])


def test_labels_that_a_design_chose_count_for_the_rows_that_they_stand_for(tmp_path: Path) -> None:
    found, document = of_designed(tmp_path)

    whole, sure, unsure = (found["label", *part] for part in ((None, None), ("topic", "even"), ("topic", "odd")))
    # 20 right labels for 200 sure rows, 50 of 100 for 200 unsure ones; the plain mean of the labels is 70 of 120.
    assert [round(one["value"], 2) for one in (whole, sure, unsure)] == [0.75, 1.0, 0.5]
    assert whole["low"] < 0.75 < whole["high"]
    assert whole["method"].startswith("designed")
    assert (whole["pass_value"], whole["pass_low"]) == (whole["value"], whole["low"])
    assert whole["worst"] == whole["value"] == whole["best"]
    ppi = document["candidates"]["a"]["label"]["ppi"]
    assert (ppi["value"], ppi["n"], ppi["n_rest"]) == (pytest.approx(whole["value"], abs=1e-6), 120, 280)


def test_a_headline_by_labels_that_a_design_chose_says_so(tmp_path: Path) -> None:
    gate = GATE.model_copy(update={"primary": "label"})
    _, document = of_designed(tmp_path, PARAMS.model_copy(update={"gate": gate}))

    headline = document["headlines"]["a"]
    assert headline["value"] == pytest.approx(0.75, abs=0.01)
    assert headline["note"].startswith("by human labels of 120 of 400 rows, chosen by a design")
    # What would be counted over labelled rows alone is left out.
    assert document["failures"] == {}
    assert document["worst_slices"]["slices"] == []
    assert document["thresholds"] == {}
    assert "agreement" not in document["candidates"]["a"]["exact_match"]


def test_headlines_and_targets_go_by_the_mix_beside_the_rows_as_they_are(tmp_path: Path) -> None:
    options = {**PARAMS.aggregate.model_dump(), "mix": {"topic": {"even": 0.25, "odd": 0.75}}}
    report = Targets(targets={"exact_match": 0.5})
    params = PARAMS.model_copy(update={"aggregate": Aggregate.model_validate(options), "report": report})
    right = ["x", "y"] * 50

    _, made = run(tmp_path, rows([True, False] * 50), lexical([*right], ["x"] * 100), params)

    document = json.loads(made["reports/metrics.json"])
    weighted, [headline] = document["candidates"]["a"]["exact_match"]["weighted"], document["headlines"].values()
    assert (weighted["value"], weighted["n_eff"]) == (0.25, 80.0)  # 1/(.25²/50 + .75²/50)
    assert (headline["value"], headline["plain"]["value"]) == (0.25, 0.5)
    assert (weighted["low"], weighted["high"]) == (0.176462, pytest.approx(0.345, abs=0.02))
    assert document["targets"]["a"]["exact_match"]["verdict"] == "not met"


def test_a_value_without_a_share_is_refused_and_a_share_without_rows_allows_no_claim(tmp_path: Path) -> None:
    def params(shares: dict[str, float]) -> Params:
        options = {**PARAMS.aggregate.model_dump(), "mix": {"topic": shares}}
        return PARAMS.model_copy(update={"aggregate": Aggregate.model_validate(options)})

    data = rows([True, False] * 10), lexical(["x"] * 20, ["x"] * 20)
    with pytest.raises(ParamsError, match="no share for odd"):
        run(tmp_path / "one", *data, params({"even": 1.0}))
    _, made = run(tmp_path / "two", *data, params({"even": 0.5, "odd": 0.25, "third": 0.25}))

    [headline] = json.loads(made["reports/metrics.json"])["headlines"].values()
    assert headline["status"] == "unknown"
    assert "no measured row where topic is third (25.0 %)" in headline["note"]
