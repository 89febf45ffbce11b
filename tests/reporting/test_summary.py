"""What is told at the end of a run, on a terminal and as Markdown."""

import hashlib
import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.console import Console

from goldmeter.console.terminal import console
from goldmeter.errors import DataError
from goldmeter.estimates import metrics_report
from goldmeter.reporting import summary
from tasks.__main__ import main

METRICS = {"label": 0.75, "bleu": 0.125, "non_llm_string_similarity": 0.5, "meaning_match": 0.7}
UNHARMED = {"rows": 80, "rejected": 0, "rejected_reasons": {}, "truncated_texts": 0}


def entry(value: float | None = 0.5, n: int = 40, not_asked: int = 0, failed: int = 0) -> dict[str, Any]:
    limits = {"low": 0.25, "high": 0.75} if value is not None else {"low": None, "high": None}
    numbers = {"value": value, **limits}
    rate = {**numbers, "threshold": 0.5}
    return {**numbers, "n": n, "n_not_asked": not_asked, "n_failed": failed, "signature": "s|v:1", "pass_rate": rate}


def read(folder: Path, candidates: dict[str, Any], more: Any = None, **dataset: Any) -> summary.Summary:
    """The summary of a run; the first metric of the first candidate is the primary measure."""
    path = folder / "metrics.json"
    measure = next((name for metrics in candidates.values() for name in metrics), "label")
    document = {
        "confidence": 0.95,
        "joint_confidence": 0.95,
        "dataset": UNHARMED | dataset,
        "candidates": candidates,
        "primary": {"measure": measure, "reason": "named in gate.primary"},
        "headlines": {name: headline(metrics.get(measure), measure) for name, metrics in candidates.items()},
        "leaders": {"names": [*candidates]},
        "comparisons": [],
    }
    path.write_text(json.dumps(document | (more or {})), encoding="utf-8")
    found = summary.of_last_run(path, folder / "validation")
    assert found is not None
    return found


def headline(entry: Any, measure: str) -> dict[str, Any]:
    numbers = {name: entry and entry[name] for name in ("value", "low", "high")}
    n = entry["n"] if entry else 0
    return {
        **numbers,
        "n": n,
        "measure": measure,
        "by": "human labels",
        "status": "measured",
        "note": "by human labels",
    }


def terminal(found: summary.Summary, width: int = 80, *, every: bool = False) -> str:
    console = Console(file=io.StringIO(), width=width)
    with console.capture() as capture:
        summary.to_terminal(found, console, every=every)
    return capture.get()


def several(*names: str) -> dict[str, Any]:
    return {name: {metric: entry(value) for metric, value in METRICS.items()} for name in names}


def test_it_begins_with_the_conclusion_and_each_candidates_rate(tmp_path: Path) -> None:
    two = {"small": {"label": entry(0.5)}, "large": {"label": entry(0.7)}}
    difference = {"value": 0.2, "low": 0.1, "high": 0.3}
    measures = {"label": {"difference": difference, "unit": "points", "higher_is_better": True, "n": 40}}
    compared = {
        "comparisons": [{"base": "small", "head": "large", "measures": measures}],
        "leaders": {"names": ["large"]},
    }

    lines = terminal(read(tmp_path, two, compared), 120).splitlines()

    assert lines[0] == "large is better than small by human labels: +20.0 points [+10.0, +30.0]."
    assert lines[1].split("  ")[1:] == ["large", "70.0 %", "25.0 % to 75.0 %", "human labels, 40 answers"]
    assert lines[2].split("  ")[1] == "small"


def test_below_the_rates_stand_targets_failures_and_the_worst_slice(tmp_path: Path) -> None:
    difference = {"value": -0.2, "low": -0.3, "high": -0.1}
    worst = {"candidate": "small", "n": 9, "rate": 0.3, "rest": 0.5, "difference": difference, "worse": True}
    more = {
        "targets": {"small": {"label": {"target": 0.6, "verdict": "undecided"}}},
        "failures": {"small": {"kinds": [{"kind": "hedge", "n": 7}]}},
        "worst_slices": {
            "measure": "label",
            "tests": 4,
            "left_out": 0,
            "slices": [{"column": "topic", "value": "art", "candidates": [worst]}],
        },
    }

    found = read(tmp_path, {"small": {"label": entry(0.5)}}, more)

    assert found.evidence == [
        "Target label ≥ 60.0 %: undecided: small",
        "Worst slice: topic = art: small 30.0 % of 9 answers, −20.0 points [−30.0, −10.0] to the others",
        "Wrong answers by kind: hedge 7",
    ]


def test_without_a_claim_it_says_why_and_no_rate(tmp_path: Path) -> None:
    note = "by gpt; its error on your data is not known, so no claim."
    unknown = {"measure": "label", "value": 0.8, "low": None, "high": None, "n": 40, "by": "gpt", "status": "unknown"}
    more = {"headlines": {name: unknown | {"note": note} for name in ("small", "large")}}

    found = terminal(read(tmp_path, several("small", "large"), more), 120).split("metric ")[0]

    assert found.startswith("No conclusion: which candidate is better is not known.\n")
    assert found.count("unknown  gpt says 80.0 %") == 2
    assert f"B{note[1:]}" in found


def test_the_conclusion_is_short_whatever_the_number_of_candidates(tmp_path: Path) -> None:
    shown = terminal(read(tmp_path, several(*(f"candidate {n}" for n in range(40)))), 200)

    assert len(shown.split("\n\n")[0].splitlines()) <= 12


def test_a_row_per_metric_with_value_and_interval_of_each_candidate(tmp_path: Path) -> None:
    lines = terminal(read(tmp_path, several("small", "large"))).splitlines()

    assert ["metric", "n", "40", "n", "40"] in [line.split() for line in lines]
    assert "bleu                       12.5 % [25.0, 75.0]  12.5 % [25.0, 75.0]" in lines


@pytest.mark.parametrize(("width", "tables"), [(120, 2), (80, 3), (60, 5), (40, 5), (200, 1)])
def test_candidates_without_room_stand_below_the_others(tmp_path: Path, width: int, tables: int) -> None:
    found = read(tmp_path, several("a", "b", "c", "d", "e"))

    lines = terminal(found, width).splitlines()

    assert max(map(len, lines)) <= width
    assert sum(line.startswith("metric ") for line in lines) == tables
    assert sum(line.count("12.5 % [25.0, 75.0]") for line in lines) == 5


def test_a_name_is_the_pass_rate_and_value_the_score_as_in_comparisons(tmp_path: Path) -> None:
    graded = entry(0.433) | {"pass_rate": {"value": 0.65, "low": 0.5, "high": 0.78, "threshold": 0.5}}
    plain = entry(0.3)
    del plain["pass_rate"]

    shown = read(tmp_path, {"a": {"exact": entry(0.5), "f1": graded, "bleu": plain}})

    assert {name: cells["a"].text for name, cells in shown.cells.items()} == {
        "exact": "50.0 % [25.0, 75.0]",
        "f1": "65.0 % [50.0, 78.0]",
        "f1.value": "0.433 [0.250, 0.750]",
        "bleu.value": "0.300 [0.250, 0.750]",
    }


def test_first_are_the_primary_measure_and_those_that_differ_most_without_equal_ones(tmp_path: Path) -> None:
    others = {f"m{n}": (0.5, 0.5 + n / 40) for n in range(9)}
    values = {"label": (0.5, 0.5), **others, "copy": (0.5, 0.7), "meaning_match": (0.5, 0.51)}
    two = {name: {metric: entry(pair[place]) for metric, pair in values.items()} for place, name in enumerate("ab")}
    found = read(tmp_path, two)

    assert found.first == ["label", "meaning_match", "m8", "m7", "m6", "m5"]
    short, every = terminal(found), terminal(found, every=True)
    assert "6 more: python -m tasks summary --all" in short
    assert sum(line.startswith(("m", "copy", "label ")) for line in short.splitlines()) == 7  # with the head
    assert sum(line.startswith(("m", "copy", "label ")) for line in every.splitlines()) == 13
    assert "--all" not in every


def test_metrics_of_wording_beside_the_measure_that_decides_are_said_to_be_that(tmp_path: Path) -> None:
    names = ["label", "f1", *(f"m{n}" for n in range(8))]
    found = read(tmp_path, {"a": {name: entry(0.5 + n / 40) for n, name in enumerate(names)}})

    assert "Only label decides; others compare wording. " in terminal(found)


def test_first_is_one_measure_of_a_metric(tmp_path: Path) -> None:
    rates = {"label": (0.5, 0.5), "f1": (0.2, 0.6), "bleu": (0.3, 0.4)}
    two = {
        name: {metric: entry(pair[place]) | {"value": pair[place] / 2} for metric, pair in rates.items()}
        for place, name in enumerate("ab")
    }

    found = read(tmp_path, two)

    assert {"f1", "f1.value", "bleu", "bleu.value"} <= found.cells.keys()
    assert found.first == ["label", "f1", "bleu"]


def test_the_report_is_a_link_in_a_terminal_and_a_path_elsewhere(a_run: None) -> None:  # noqa: ARG001
    shown = {}
    for is_terminal in (True, False):
        file = io.StringIO()
        summary.show(Console(file=file, width=80, force_terminal=is_terminal), reported=True)
        shown[is_terminal] = file.getvalue().splitlines()[-1]

    assert shown[False] == f"report: {summary.REPORT}"
    assert f";{summary.REPORT.resolve().as_uri()}\x1b\\{summary.REPORT}\x1b]8;;" in shown[True]


def test_what_three_decimals_would_lose_has_significant_digits(tmp_path: Path) -> None:
    small = entry(0.0000123) | {"low": 0.0, "high": 0.0125}
    del small["pass_rate"]

    assert "1.23e−05 [0.000, 0.013]" in terminal(read(tmp_path, {"a": {"toxicity": small}}))


def test_candidates_whose_long_names_differ_in_the_middle_are_told_apart(tmp_path: Path) -> None:
    found = read(tmp_path, several(*(f"{'n' * 30}v{number}{'n' * 30}" for number in (13, 14))))

    for shown in (terminal(found, 200), summary.to_markdown(found)):
        assert shown.count("v13n") == shown.count("v14n") > 1


def test_counts_stand_in_the_head_and_beside_numbers_of_other_counts(tmp_path: Path) -> None:
    small = {name: entry(n=38, failed=2) for name in ("bleu", "f1", "gleu")} | {"label": entry(n=30, not_asked=10)}

    lines = [line.split() for line in terminal(read(tmp_path, {"small": small})).splitlines()]

    assert ["metric", "n", "38", "of", "40"] in lines
    assert lines[lines.index(["label", "50.0", "%", "[25.0,", "75.0]"]) + 1] == ["n", "30", "of", "40"]


def test_what_is_missing_is_a_dash(tmp_path: Path) -> None:
    lines = terminal(read(tmp_path, {"small": {"bleu": entry()}, "large": {"judge": entry(None, n=40)}})).splitlines()

    assert ["bleu", "50.0", "%", "[25.0,", "75.0]", "–"] in [line.split() for line in lines]
    assert ["judge", "–", "–"] in [line.split() for line in lines]


def test_a_metric_that_nobody_was_asked_for_is_one_line(tmp_path: Path) -> None:
    off = {"meaning_match": entry(None, n=0)}

    found = read(
        tmp_path,
        {"small": {"label": entry()} | off, "large": {"label": entry()} | off},
        {"leaders": {"names": ["small"]}},
    )

    assert "Not asked: meaning_match" in found.evidence
    assert "meaning_match" not in found.cells


def test_what_could_not_be_measured_is_told_once_for_all_metrics_it_is_about(tmp_path: Path) -> None:
    small = {name: entry(n=38, failed=2) for name in ("bleu", "exact", "f1", "gleu")} | {"judge": entry(n=39, failed=1)}

    assert read(tmp_path, {"small": small}).warnings == [
        "small: 2 of 40 answers could not be measured: bleu, exact, f1 and 1 more",
        "small: 1 of 40 answers could not be measured: judge",
    ]


def test_what_was_lost_before_is_told(tmp_path: Path) -> None:
    reasons = {"name: a list": 1, "id: no id": 19}

    found = read(tmp_path, several("a"), rejected=20, rejected_reasons=reasons, truncated_texts=5)

    assert found.warnings == [
        "20 of 100 answers rejected: id: no id (19), name: a list (1); all in data/load_rejected",
        "5 texts are longer than the embedding model reads: only the beginning counts (embed.long)",
    ]


def test_checks_that_failed_are_told_first(tmp_path: Path) -> None:
    (tmp_path / "validation").mkdir()
    for stage, success in (("judge", False), ("load", True)):
        (tmp_path / "validation" / f"{stage}.json").write_text(json.dumps({"success": success}), encoding="utf-8")

    [warning] = read(tmp_path, several("a")).warnings

    assert warning == f"validation of the stage judge failed: {tmp_path}/validation/judge.json"


def test_a_warning_is_marked_by_more_than_its_colour(tmp_path: Path) -> None:
    assert "\n! 5 texts are longer" in terminal(read(tmp_path, several("a"), truncated_texts=5))


def test_labels_of_other_answers_are_counted(tmp_path):
    assert "\n! 2 labels are of another answer (stale)" in terminal(read(tmp_path, several("a"), stale_labels=2))


def test_the_section_with_references_to_look_at_is_named(tmp_path):
    suspect = {"id": "q", "candidate": "a", "score": 1.0, "systems": 2, "agree": 2}

    told = terminal(read(tmp_path, several("a"), {"suspects": {"measure": "f1", "rows": [suspect]}}))

    assert "1 reference to look at first." in told
    assert "The page lists them: Rows to look at, References to look at first." in " ".join(told.split())
    assert "to look at" not in terminal(read(tmp_path, several("a")))


def test_corrections_that_do_not_apply_are_counted(tmp_path):
    told = terminal(read(tmp_path, several("a"), stale_corrections={"questions": 9, "first": ["q1", "q2"]}))

    assert "! dataset.corrections: 9 questions have corrections that do not apply" in told
    assert "since: q1, q2, …. Mark" in " ".join(told.split())


def test_questions_that_a_model_did_not_answer_are_counted_by_reason(tmp_path: Path) -> None:
    told = terminal(read(tmp_path, several("a"), failed_answers={"live": {"timeout": 1_200, "content filter": 1}}))

    assert "! 1,201 questions without an answer of the model: live: timeout (1,200), live: \ncontent filter (1)" in told


def test_answers_scored_without_their_thought_are_counted(tmp_path: Path) -> None:
    told = terminal(read(tmp_path, several("a"), thoughts={"live": 1_200, "file": 3}))

    assert "! answers scored without the thought before them (dataset.thoughts): live (1,200)" in told.replace("\n", "")


def test_records_of_joined_files_that_are_left_out_are_counted(tmp_path: Path) -> None:
    told = terminal(read(tmp_path, several("a"), left_out={"gpt4.jsonl": 3_309, "labels.csv": 2}))

    assert "3,311 records of joined files left out" in told
    assert "gpt4.jsonl (3,309), labels.csv (2)" in " ".join(told.split())


def test_the_markdown_has_the_same_numbers(tmp_path: Path) -> None:
    shown = summary.to_markdown(read(tmp_path, several("small", "large"), truncated_texts=5)).splitlines()

    assert shown == [
        "**No conclusion: not all of large and small could be compared by human labels.**",
        "",
        "| candidate | label | interval | by |",
        "|---|---|---|---|",
        "| large | 75.0 % | 25.0 % to 75.0 % | human labels, 40 answers |",
        "| small | 75.0 % | 25.0 % to 75.0 % | human labels, 40 answers |",
        "",
        "",
        "| metric | small (n 40) | large (n 40) |",
        "|---|---|---|",
        "| label | 75.0 % \\[25.0, 75.0\\] | 75.0 % \\[25.0, 75.0\\] |",
        "| bleu | 12.5 % \\[25.0, 75.0\\] | 12.5 % \\[25.0, 75.0\\] |",
        "| non_llm_string_similarity | 50.0 % \\[25.0, 75.0\\] | 50.0 % \\[25.0, 75.0\\] |",
        "| meaning_match | 70.0 % | 70.0 % |",
        "",
        "- 5 texts are longer than the embedding model reads: only the beginning counts (embed.long)",
    ]


@given(st.text(min_size=1, max_size=80), st.text(max_size=40), st.integers(20, 200))
@example("a|b", "<i>`", 20)
def test_whatever_a_candidate_is_called_it_moves_nothing(
    tmp_path_factory: pytest.TempPathFactory, name: str, reason: str, width: int
) -> None:
    folder = tmp_path_factory.mktemp("named")
    found = read(folder, {name: {"bleu": entry(failed=1)}}, rejected=1, rejected_reasons={reason: 1})

    shown, kept = terminal(found, width), summary.to_markdown(found)

    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]", shown + kept)
    unescaped = re.sub(r"\\.", "", kept)
    assert {line.count("|") for line in unescaped.splitlines() if line.startswith("|")} <= {3, 5}
    assert not re.search(r"[<>`]", unescaped)


def test_without_a_run_there_is_nothing_to_tell(tmp_path: Path) -> None:
    assert summary.of_last_run(tmp_path / "metrics.json") is None


def test_before_any_run_it_says_how_to_make_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("reports").mkdir()
    summary.REPORT.touch()

    summary.show(console())

    assert capsys.readouterr().out == f"{summary.NO_RUN}\n"


@pytest.fixture
def a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of a run with its numbers and its report."""
    monkeypatch.chdir(tmp_path)
    Path("reports").mkdir()
    read(Path("reports"), several("a"))
    summary.REPORT.touch()


@pytest.mark.usefixtures("a_run")
@pytest.mark.parametrize(
    ("seen", "reported", "named"),
    [("these", False, True), ("others", False, False), ("others", True, True), (None, False, True)],
)
def test_the_report_is_named_when_it_was_made_from_these_numbers(
    seen: str | None, reported: bool, named: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    these = hashlib.md5(Path(metrics_report.METRICS).read_bytes(), usedforsecurity=False).hexdigest()
    if seen:
        md5 = these if seen == "these" else these[::-1]
        stages = {"report": {"deps": [{"path": "data/load", "md5": "0"}, {"path": metrics_report.METRICS, "md5": md5}]}}
        Path("dvc.lock").write_text(json.dumps({"stages": stages}), encoding="utf-8")

    summary.show(console(), reported=reported)

    last = capsys.readouterr().out.splitlines()[-1]
    assert last == (f"report: {summary.REPORT}" if named else summary.OTHER_REPORT)


@pytest.mark.usefixtures("a_run")
@pytest.mark.parametrize("lock", ["<<<<<<< ours", "[]", "stages: {report: {deps: [1]}}", ""])
def test_a_lock_that_can_not_be_read_hides_no_report(lock: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("dvc.lock").write_text(lock, encoding="utf-8")

    summary.show(console())

    assert f"report: {summary.REPORT}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("stage", "terminal", "done"),
    [("report", True, ["report", "summary"]), ("report", False, ["report"]), ("load", True, ["load"])],
)
def test_stages_run_by_hand_end_with_the_summary(
    stage: str, terminal: bool, done: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    noted: list[str] = []
    monkeypatch.setattr("goldmeter.runner.run", noted.append)
    monkeypatch.setattr(summary, "show", lambda _, *, reported: noted.append("summary" if reported else "other"))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)

    assert main([stage]) == 0
    assert noted == done


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"candidates": 1}', '{"candidates": {"a": {"bleu": 1}}}', "\x00"])
def test_what_aggregate_did_not_write_is_an_error_that_says_what_to_do(tmp_path: Path, text: str) -> None:
    path = tmp_path / "metrics.json"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(DataError, match=r"not what aggregate writes .*`dvc repro`"):
        summary.of_last_run(path)


def test_what_answers_took_is_one_line_for_each_candidate(tmp_path: Path) -> None:
    def took(value: float, high: float | None) -> dict[str, Any]:
        one = {"value": value, "low": value / 2, "high": high, "method": "order statistics", "notes": []}
        return {"mean": one, "p50": one, "p95": one, "total": 40 * value, "n": 40, "n_missing": 0}

    resources = {"a": {"latency": took(1.5, None), "tokens": took(300.0, 400.0), "cost": took(2e-5, 3e-5)}}
    found = read(tmp_path, {"a": {"label": entry()}, "b": {"label": entry()}}, {"resources": resources})

    [line] = [line for line in found.evidence if line.startswith(("a:", "b:"))]
    assert line.split("; ") == [
        "a: latency 1.50 s (median), 1.50 s (95th percentile, 0.750 or more)",
        "tokens 300 (median), 300 (95th percentile, 150 to 400)",
        "cost 0.00002 US$ on average, 0.000800 in all",
    ]
