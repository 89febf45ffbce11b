"""The cascade: the offline judge decides what it is sure of, and a counting server judges the rest."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.errors import ModelError, ParamsError
from goldmeter.judging.cascade import is_decided
from goldmeter.models import offline
from goldmeter.pipeline.tables import Parts, about
from goldmeter.pipeline.workers import Processes, crew_of
from goldmeter.runner import run
from tasks.judge import STAGE
from tests.judge_server import JudgeServer, completion, problem, question, serving, verdict
from tests.small_project import edit
from tests.test_judge import broken, column, judged, params, rows
from tests.test_report import words_of

# Of a question whose references are Paris and City of Paris; None and blanks are no answers.
ANSWERS = [
    "Paris", "It is Paris.", "Paris, or maybe London", "I think Rome. Paris is a city, too.", "London", "not Paris",
    "Это Париж", "Die Antwort ist Paris, und das ist nicht falsch", None, " ", "\x00", "Capital of France",
    "paris " * 130,
]  # fmt: skip
ROWS = [(f"q{i}", answer) for i, answer in enumerate(ANSWERS)]
BANDS = [(0.0, 1.0), (0.5, 0.5), (0.05, 0.95), (0.0, 0.95), (0.4, 0.99)]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    monkeypatch.setenv("JUDGE_KEY", "sk-canary-2b7e")
    with serving() as running:
        yield running


cascade = partial(params, provider="cascade")


def asked(server: JudgeServer) -> set[str]:
    return {question(body)[1]["output"] for body in server.calls}


def sure(table: pa.Table, band: tuple[float, float]) -> list[bool]:
    """Which rows of the offline judge's table it is sure of."""
    probabilities, reasons = column(table, "offline_match"), column(table, "domain_reason")
    return [
        p is not None and reason is None and not band[0] <= p <= band[1]
        for p, reason in zip(probabilities, reasons, strict=True)
    ]


@pytest.mark.parametrize(("band", "draws"), zip(BANDS, [1, 3, 1, 3, 1], strict=True))
def test_each_row_is_that_of_the_judge_that_decides_it(
    server: JudgeServer, tmp_path: Path, band: tuple[float, float], draws: int
) -> None:
    parts = rows(tmp_path / "rows", ROWS[:5], ROWS[5:])
    alone = judged(parts, params(provider="offline"), tmp_path / "store")
    decided = sure(alone, band)
    options = cascade(server, band=band, draws=draws)

    table = judged(parts, options, tmp_path / "store")

    answers = zip(ANSWERS, decided, column(alone, "judge_status"), strict=True)
    assert asked(server) == {text for text, is_sure, status in answers if status == "answered" and not is_sure}
    model = judged(parts, params(server, draws=draws), tmp_path / "store")
    expected = [one if is_sure else other for one, other, is_sure in zip(*_lists(alone, model), decided, strict=True)]
    own = ["in_domain", "domain_reason", "judged_by"]
    assert table.drop_columns(own).to_pylist() == [
        {name: row.get(name) for name in table.column_names if name not in own} for row in expected
    ]
    assert [column(table, name) for name in own[:2]] == [column(alone, name) for name in own[:2]]
    judges = ["offline judge" if is_sure else "language model" for is_sure in decided]
    statuses = column(table, "judge_status")
    assert column(table, "judged_by") == [
        judge if status == "answered" else None for judge, status in zip(judges, statuses, strict=True)
    ]
    assert broken(table, options) == []


def _lists(*tables: pa.Table) -> list[list[dict[str, Any]]]:
    return [table.to_pylist() for table in tables]


@given(
    st.lists(st.tuples(st.floats(0, 1) | st.just(np.nan), st.booleans()), max_size=9),
    st.floats(0, 0.5),
    st.floats(0.5, 1),
)
def test_the_offline_judge_decides_outside_the_band_and_inside_its_domain_only(
    estimates: list[tuple[float, bool]], low: float, high: float
) -> None:
    probabilities = np.array([p for p, _ in estimates])
    outside = ["another script" if is_outside else None for _, is_outside in estimates]

    decided = is_decided(offline.Judged(probabilities, [None] * len(outside), outside), (low, high))

    assert decided.tolist() == [not is_outside and (p < low or p > high) for p, is_outside in estimates]


def test_verdicts_that_a_language_model_gave_alone_are_not_paid_for_again_and_the_other_way_round(
    server: JudgeServer, tmp_path: Path
) -> None:
    parts = rows(tmp_path / "rows", ROWS)
    judged(parts, params(server), tmp_path / "store")
    calls = len(server.calls)

    divided = judged(parts, cascade(server), tmp_path / "store")

    assert len(server.calls) == calls
    first = judged(parts, cascade(server), tmp_path / "other")
    bought = len(server.calls) - calls
    judged(parts, params(server), tmp_path / "other")
    assert 0 < bought < calls
    assert len(server.calls) == 2 * calls
    assert first.equals(divided)


def test_a_language_model_that_fails_leaves_its_rows_unmeasured(server: JudgeServer, tmp_path: Path) -> None:
    server.script = lambda _: completion("It depends.")
    options = cascade(server, max_unmeasured=0.9)
    many = [*ROWS, *((f"r{i}", "Paris") for i in range(200))]

    table = judged(rows(tmp_path / "rows", many), options, tmp_path / "store")

    by, scores = column(table, "judged_by"), column(table, "meaning_match")
    of_model = [i for i, judge in enumerate(by) if judge == "language model"]
    assert {column(table, "judge_status")[i] for i in of_model} == {"failed"}
    assert {scores[i] for i in of_model} == {None}
    assert [column(table, "offline_match")[i] for i in of_model].count(None) == 0
    assert sum(score == 1.0 for score in scores) >= 200
    # All that the language model was asked failed, although these are few of all rows.
    [check] = broken(table, options)
    assert "failed_allowed, failed" in check


def test_the_evidence_holds_the_language_models_verdicts_alone_and_gives_the_same_bytes(
    server: JudgeServer, tmp_path: Path
) -> None:
    parts, evidence = rows(tmp_path / "rows", ROWS), tmp_path / "evidence"
    judged(parts, params(server), tmp_path / "store")  # verdicts of all rows are in the store
    options = cascade(server)

    first = judged(parts, options, tmp_path / "store", evidence)

    entries = (evidence / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(entries) == column(first, "judged_by").count("language model")
    server.script = lambda _: problem(500)
    again = judged(parts, options, tmp_path / "new", evidence)
    assert again.equals(first, check_metadata=True)


@pytest.mark.exhaustive
def test_in_two_processes_and_other_parts_it_says_the_same(server: JudgeServer, tmp_path: Path) -> None:
    options = cascade(server)
    alone = judged(rows(tmp_path / "one", ROWS), options, tmp_path / "store")
    calls = len(server.calls)
    parts = rows(tmp_path / "three", ROWS[:1], ROWS[1:4], ROWS[4:])

    with crew_of(partial(Processes, STAGE.preload), 2) as crew:
        shared = judged(parts, options, tmp_path / "store", crew=crew)

    assert shared.equals(alone)
    assert len(server.calls) == calls


def signature(parts: Parts, store: Path, options: Any) -> str:
    return str(about(judged(parts, options, store).schema)["columns"]["meaning_match"]["signature"])


def test_the_signature_names_both_judges_and_the_band(server: JudgeServer, tmp_path: Path) -> None:
    parts = rows(tmp_path / "rows", ROWS)
    told = signature(parts, tmp_path / "store", cascade(server))

    band = f"band:0.05-0.95|offline:{offline.model_hash()[:12]}|offline_v:{offline.VERSION}"
    for part in ("|provider:cascade|", "|model:judge|", "|served:judge-2026-01|", "|prompt:", band):
        assert part in told
    assert signature(parts, tmp_path / "store", cascade(server, band=[0.05, 0.9500001])) != told
    # The band says nothing of the other providers.
    for provider in ("offline", "openai"):
        one, other = (params(server, provider=provider, band=band) for band in ([0.1, 0.9], [0.2, 0.8]))
        assert signature(parts, tmp_path / "store", one) == signature(parts, tmp_path / "store", other)


def test_a_model_that_fails_a_canary_is_refused(server: JudgeServer, tmp_path: Path) -> None:
    server.script = lambda body: completion(verdict(body).replace("false", "true"))

    with pytest.raises(ModelError, match="calls wrong answers right"):
        judged(rows(tmp_path / "rows", ROWS), cascade(server, canaries=True), tmp_path / "store")


def test_samples_and_filters_are_those_of_the_other_judges(server: JudgeServer, tmp_path: Path) -> None:
    chosen: dict[str, Any] = {
        "sampling_rate": 0.5,
        "filters": [{"field": "id", "operator": "!=", "value": "q0"}],
    }
    parts = rows(tmp_path / "rows", ROWS)

    table = judged(parts, cascade(server, **chosen), tmp_path / "store")

    alone = judged(parts, params(provider="offline", **chosen), tmp_path / "store")
    for name in ("judge_status", "judge_sampled"):
        assert column(table, name) == column(alone, name)
    assert "not sampled" in column(table, "judge_status")


@pytest.mark.exhaustive
@pytest.mark.usefixtures("project")
def test_the_report_says_who_judged(server: JudgeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-2b7e")
    edit(lambda content: content["judge"].update(provider="cascade", base_url=server.url))
    edit(lambda content: [one.update(label=None) for one in content["dataset"]["candidates"].values()])

    for stage in ("load", "normalize", "lexical", "embed", "semantic", "judge", "aggregate", "report"):
        run(stage)

    document = json.loads(Path("reports/metrics.json").read_text(encoding="utf-8"))
    table = Parts(Path("data/judge")).whole(["candidate", "judged_by"])
    went_to = [*zip(column(table, "candidate"), column(table, "judged_by"), strict=True)]
    shares = {name: went_to.count((name, "offline judge")) / 10 for name in ("aurora", "borealis")}
    assert document["by_offline_judge"] == shares
    by = {(entry["by"], entry["status"]) for entry in document["headlines"].values()}
    assert by == {("the cascade of the offline judge and gpt-5-mini", "estimated")}
    page = Path("reports/index.html").read_text(encoding="utf-8")
    assert "Answers that the offline judge decided (probability below " in words_of(page)
    assert "<code>judged_by</code>" in page


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"band": [0.6, 0.9]}, r"judge\.band\.0"),
        ({"band": [0.1, 0.4]}, r"judge\.band\.1"),
        ({"band": [float("nan"), 0.9]}, r"judge\.band\.0"),
        ({"band": [-0.1, 1.1]}, r"judge\.band\.0(.|\n)*judge\.band\.1"),
        ({"band": 0.9}, r"judge\.band: expected a list"),
        ({"band": [0.1]}, r"judge\.band"),
        ({"band": [True, True]}, r"judge\.band"),
        ({"similarity_judge": {}}, r"judge\.metrics: the offline judge gives meaning_match only"),
        ({"meaning_match": None, "similarity_judge": {}}, r"judge\.metrics: .*and not similarity_judge"),
    ],
)
def test_a_wrong_option_is_named_by_its_path(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParamsError, match=message):
        cascade(**options)
