"""A panel: judges of known behaviour on loopback, each asked for itself, and one verdict from their votes."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from goldmeter.asking import batch_dispatch
from goldmeter.errors import BatchesAtWorkError, ModelError, ParamsError, ServerError
from goldmeter.estimates.metrics_report import METRICS
from goldmeter.estimates.signature import VerdictSource
from goldmeter.judging.canaries import canaries
from goldmeter.judging.choice import Sample, choice, lines
from goldmeter.judging.plan import PanelPlan, Plan
from goldmeter.judging.verdict_table import Params
from goldmeter.pipeline.dvc_yaml import stages
from goldmeter.pipeline.hashing import sha256
from goldmeter.pipeline.run import Price
from goldmeter.pipeline.tables import about
from goldmeter.runner import run
from tasks.__main__ import main
from tests.judge_server import KNOWN, Answer, JudgeServer, completion, problem, question, serving, verdict
from tests.small_project import edit, write
from tests.test_judge import HOW, broken, column, judged, params, rows
from tests.test_report import words_of

ANSWERS = [("q1", "Paris"), ("q2", "London"), ("q3", "It is Paris."), ("q4", "Rome"), ("q5", None), ("q6", " ")]
Behaviour = Callable[[dict[str, Any]], Answer]


def says(right: Callable[[str], bool]) -> Behaviour:
    """A judge that calls an answer right by a rule of its own; it knows the canaries."""

    def answer(body: dict[str, Any]) -> Answer:
        nonce, fields = question(body)
        known = KNOWN.get((fields["input"], fields["output"]), right(fields["output"]))
        rates = "rating" in body["messages"][0]["content"]
        said = {"rating": 5 if known else 2} if rates else {"verdict": known}
        return completion(json.dumps({"nonce": nonce, "reason": body["model"], **said}), model=body["model"])

    return answer


HONEST, LENIENT, STRICT = says(lambda text: "Paris" in text), says(lambda _: True), says(lambda _: False)


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[JudgeServer]]:
    monkeypatch.setenv("JUDGE_KEY", "sk-canary-77")
    with ExitStack() as stack:
        yield [stack.enter_context(serving()) for _ in range(3)]


def panel(*servers: JudgeServer, **options: Any) -> Params:
    jurors = [{"model": f"m{number}", "base_url": one.url} for number, one in enumerate(servers)]
    return params(panel=jurors, **options)


def alone(number: int, server: JudgeServer, **options: Any) -> Params:
    return params(model=f"m{number}", base_url=server.url, api_key_env=None, **options)


def script(servers: list[JudgeServer], *behaviours: Behaviour) -> None:
    for server, behaviour in zip(servers, behaviours, strict=True):
        server.script = behaviour


def test_the_majority_decides_ratings_are_averaged_and_every_vote_is_kept(
    servers: list[JudgeServer], tmp_path: Path
) -> None:
    script(servers, HONEST, LENIENT, STRICT)

    options = panel(*servers, similarity_judge={})
    table = judged(rows(tmp_path / "rows", ANSWERS), options, tmp_path / "store")

    assert column(table, "similarity_judge")[:2] == [4.0, 3.0]  # 5, 5, 2 and 2, 5, 2
    assert column(table, "similarity_judge_votes")[:2] == [[5.0, 5.0, 2.0], [2.0, 5.0, 2.0]]
    assert column(table, "meaning_match") == [1.0, 0.0, 1.0, 0.0, None, 0.0]
    assert column(table, "meaning_match_votes")[:4] == [[1.0, 1.0, 0.0], [0.0, 1.0, 0.0]] * 2
    assert column(table, "meaning_match_votes")[4:] == [None, None]
    assert column(table, "meaning_match_result")[:4] == ["pass", "fail", "pass", "fail"]
    assert column(table, "meaning_match_reason")[:2] == ["2 of 3 judges: m0", "2 of 3 judges: m0"]
    assert column(table, "judge_status")[4:] == ["no response", "empty response"]
    assert column(table, "judge_draws")[:4] == [3] * 4
    assert column(table, "judge_agree")[:4] == [False] * 4
    assert not broken(table, options)
    signature = about(table.schema)["columns"]["meaning_match"]["signature"]
    assert "|provider:openai|panel:3|vote:majority|model:m0+m1+m2|server:" in signature
    assert VerdictSource.of(signature).name == "the panel of m0, m1 and m2"
    assert about(table.schema)["jurors"] == ["m0", "m1", "m2"]


def test_a_tie_is_half_a_point_and_passes_not(servers: list[JudgeServer], tmp_path: Path) -> None:
    script(servers, HONEST, LENIENT, STRICT)

    options = panel(*servers[:2])
    table = judged(rows(tmp_path / "rows", ANSWERS[:2]), options, tmp_path / "store")

    assert column(table, "meaning_match") == [1.0, 0.5]
    assert column(table, "meaning_match_result") == ["pass", "fail"]
    assert column(table, "judge_agree") == [True, False]
    assert not broken(table, options)


def test_jurors_with_seeds_of_their_own_judge_one_sample(servers: list[JudgeServer], tmp_path: Path) -> None:
    script(servers, HONEST, LENIENT, STRICT)
    jurors = [{"model": "m", "base_url": servers[0].url, "seed": seed} for seed in (1, 2, 3)]

    answers = [(f"q{number}", "Paris") for number in range(20)]
    table = judged(rows(tmp_path / "rows", answers), params(panel=jurors, sampling_rate=0.5), tmp_path / "store")

    assert {*column(table, "judge_draws")} == {0, 3}


def test_what_one_judge_was_paid_for_serves_the_panel_and_the_other_way_round(
    servers: list[JudgeServer], tmp_path: Path
) -> None:
    parts = rows(tmp_path / "rows", ANSWERS)
    judged(parts, alone(1, servers[1]), tmp_path / "store")
    of_one = len(servers[1].calls)

    judged(parts, panel(*servers), tmp_path / "store", tmp_path / "evidence")
    assert [len(one.calls) for one in servers] == [of_one] * 3
    assert of_one == 4

    for number, server in enumerate(servers):
        judged(parts, alone(number, server), tmp_path / "store")
    again = judged(parts, panel(*servers), tmp_path / "other", tmp_path / "evidence")
    assert [len(one.calls) for one in servers] == [of_one] * 3
    assert again.num_rows == 6


def test_one_judge_is_asked_everything_before_the_next(servers: list[JudgeServer], tmp_path: Path) -> None:
    order: list[str] = []

    def noted(body: dict[str, Any]) -> Answer:
        order.append(body["model"])
        return completion(verdict(body))

    script(servers, noted, noted, noted)

    judged(rows(tmp_path / "rows", ANSWERS[:2], ANSWERS[2:]), panel(*servers), tmp_path / "store")

    assert order == ["m0"] * 4 + ["m1"] * 4 + ["m2"] * 4


def test_a_juror_whose_server_is_down_has_no_vote_and_the_others_decide(
    servers: list[JudgeServer], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script(servers, HONEST, LENIENT, STRICT)

    def with_third(url: str) -> Params:
        two = [{"model": f"m{number}", "base_url": servers[number].url} for number in range(2)]
        return params(panel=[*two, {"model": "m2", "base_url": url, "server": "third"}])

    options = with_third("http://127.0.0.1:9/v1")
    table = judged(rows(tmp_path / "rows", ANSWERS), options, tmp_path / "store", tmp_path / "evidence")

    assert column(table, "meaning_match")[:4] == [1.0, 0.5, 1.0, 0.5]
    assert column(table, "meaning_match_votes")[:2] == [[1.0, 1.0, None], [0.0, 1.0, None]]
    assert column(table, "judge_draws")[:4] == [2] * 4
    said = capsys.readouterr().err
    assert "judge: m2 is left out, because its server does not answer: http://" in said
    assert "judge: 4 votes of m2 are missing, and the other judges decided without it: not asked: its server" in said
    assert not broken(table, options)

    options = with_third(servers[2].url)
    later = judged(rows(tmp_path / "later", ANSWERS), options, tmp_path / "store", tmp_path / "evidence")
    assert column(later, "meaning_match")[:4] == [1.0, 0.0, 1.0, 0.0]


def test_with_all_servers_down_the_stage_stops_as_with_one(servers: list[JudgeServer], tmp_path: Path) -> None:
    script(servers, *[lambda _: problem(503)] * 3)

    with pytest.raises(ServerError, match=servers[0].url):
        judged(rows(tmp_path / "rows", ANSWERS), panel(*servers), tmp_path / "store")


def test_a_juror_that_fails_a_canary_stops_the_stage(servers: list[JudgeServer], tmp_path: Path) -> None:
    def gullible(body: dict[str, Any]) -> Answer:
        nonce, _ = question(body)
        return completion(json.dumps({"nonce": nonce, "reason": "sure", "verdict": True}))

    script(servers, HONEST, gullible, HONEST)

    with pytest.raises(ModelError, match=r"judge\.model 'm1' calls wrong answers right"):
        judged(rows(tmp_path / "rows", ANSWERS), panel(*servers, canaries=True), tmp_path / "store")
    assert not servers[2].calls


def test_a_failed_reply_is_a_missing_vote_and_no_vote_is_no_verdict(servers: list[JudgeServer], tmp_path: Path) -> None:
    def garbled(body: dict[str, Any]) -> Answer:
        return completion("no idea") if question(body)[1]["output"] != "Paris" else HONEST(body)

    script(servers, garbled, garbled, garbled)
    parts = rows(tmp_path / "rows", ANSWERS[:2])
    none = judged(parts, panel(*servers), tmp_path / "store")
    assert column(none, "meaning_match") == [1.0, None]
    assert column(none, "judge_status") == ["answered", "failed"]
    assert column(none, "judge_reason")[1].startswith("m0: the reply is not one JSON object; m1: ")

    servers[0].script = LENIENT
    some = judged(rows(tmp_path / "again", ANSWERS[:2]), panel(*servers), tmp_path / "other")
    assert column(some, "meaning_match") == [1.0, 1.0]
    assert column(some, "meaning_match_votes") == [[1.0, 1.0, 1.0], [1.0, None, None]]


def test_a_panel_shares_one_budget(servers: list[JudgeServer], tmp_path: Path) -> None:
    limits = {"max_calls": 6, "max_tokens": None, "max_cost": None}
    how = HOW.model_copy(update={"budget": HOW.budget.model_copy(update=limits), "concurrency": 1})

    table = judged(rows(tmp_path / "rows", ANSWERS), panel(*servers), tmp_path / "store", how=how)

    assert [len(one.calls) for one in servers] == [4, 2, 0]
    assert [sum(vote is not None for vote in votes) for votes in column(table, "meaning_match_votes")[:4]] == [
        2,
        2,
        1,
        1,
    ]


@pytest.mark.exhaustive
def test_the_batches_of_all_jurors_are_sent_before_any_is_waited_for(
    servers: list[JudgeServer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("FIRST_PAUSE", "LONGEST_PAUSE"):
        monkeypatch.setattr(batch_dispatch, name, 0.01)
    script(servers, HONEST, LENIENT, STRICT)
    batch = HOW.model_copy(update={"batch": True})
    parts = rows(tmp_path / "rows", ANSWERS)

    with pytest.raises(BatchesAtWorkError, match=servers[0].url):
        judged(parts, panel(*servers), tmp_path / "store", how=batch.model_copy(update={"batch_wait": 0.0}))
    assert [len(one.batches.batches) for one in servers] == [1, 1, 1]
    by_batch = judged(parts, panel(*servers), tmp_path / "store", how=batch)

    assert by_batch.equals(judged(parts, panel(*servers), tmp_path / "other"))
    assert all(set(one.batches.asked.values()) == {1} for one in servers)


def test_the_plan_lists_each_judge_with_its_price() -> None:
    plans = [Plan(f"m{i}", "http://host/v1", 100 * i, 5e4 * i, Price(input=1.0, output=2.0), f"K{i}") for i in range(3)]

    plan = PanelPlan.of(plans, ["m0", "m1", "m2"])

    assert str(plan) == (
        "a panel of 3 judges, 300 calls, about 174,000 tokens, $0.20:\n"
        "  100 calls to m1 at http://host/v1, about 58,000 tokens, $0.07\n"
        "  200 calls to m2 at http://host/v1, about 116,000 tokens, $0.13"
    )
    assert (plan.calls, plan.waiting, plan.key) == (300, 0, "K1 and K2")
    assert PanelPlan.of(plans[:1], ["m0"]) is plans[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"panel": []}, "judge.panel: a panel has 2 judges or more, this one 0; write a single one into judge.model"),
        ({"panel": [{"model": "a"}]}, "judge.panel: a panel has 2 judges or more, this one 1"),
        (
            {"panel": [{"model": "a"}, {"model": "b"}, {"model": "a"}]},
            "judge.panel: in the panel, judges 1 and 3 are the same: model a",
        ),
        ({"panel": [{"model": "a"}, {"modle": "b"}]}, "judge.panel.1.modle: unknown option; did you mean model"),
        (
            {"panel": [{"model": "a"}, {"model": "b"}], "draws": 3},
            "judge.panel: a panel asks each judge once; set draws to 1",
        ),
        (
            {"panel": [{"model": "a"}, {"model": "b"}], "retest": 0.5},
            "judge.panel: a panel asks each judge once; set retest to 0",
        ),
        (
            {"panel": [{"model": "a"}, {"model": "b"}], "preference": {}},
            "judge.panel: a panel judges answers one by one; leave panel empty for a preference",
        ),
        (
            {"panel": [{"model": "a"}, {"model": "b"}], "provider": "cascade"},
            "judge.panel: a panel is asked by provider openai only, not by cascade",
        ),
    ],
)
def test_a_wrong_panel_is_refused_at_start(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParamsError) as error:
        params(**options)

    assert message in str(error.value)


def test_jurors_have_what_the_section_says_but_no_key_at_another_address() -> None:
    options = params(
        server="named",
        panel=[
            {"model": "a"},
            {"model": "b", "base_url": "http://127.0.0.1:8/v1"},
            {"base_url": "http://127.0.0.1:7/v1", "api_key_env": "OTHER", "seed": 7},
            {"model": "a", "temperature": 0.5},
        ],
    ).judge

    assert [(one.model, one.server, one.api_key_env, one.seed) for one in options.jurors] == [
        ("a", "named", "JUDGE_KEY", 1),
        ("b", None, None, 1),
        ("judge", None, "OTHER", 7),
        ("a", "named", "JUDGE_KEY", 1),
    ]
    assert options.juror_names == ("a, temp 0", "b", "judge", "a, temp 0.5")
    assert options.jurors[0].server_key == ("compatible", "named")
    assert options.jurors[1].server_key == ("compatible", "127.0.0.1:8/v1")


def errs(often: dict[bool, float], name: str) -> Behaviour:
    """A judge with known error rates: of answers that are right (True) and wrong (False); the canaries it knows."""

    def answer(body: dict[str, Any]) -> Answer:
        nonce, fields = question(body)
        right = fields["output"] in fields["ground_truth"]
        chance = int.from_bytes(sha256(f"{name} {fields['output']}")[:4]) / 2**32
        said = KNOWN.get((fields["input"], fields["output"]), right != (chance < often[right]))
        return completion(json.dumps({"nonce": nonce, "reason": "so", "verdict": said}), model=name)

    return answer


def labelled_rows(count: int) -> list[dict[str, Any]]:
    """Questions with one answer each, of which two thirds are right; the labels know."""
    return [
        {"id": f"q{i}", "question": f"Question {i}?", "references": [f"answer {i}"], "thread": None, "topic": "x",
         "language": "en", "aurora": f"answer {i}" if i % 3 else f"mistake {i}", "aurora_correct": i % 3 > 0}
        for i in range(count)
    ]  # fmt: skip


GOOD, STRICT_ONE, LENIENT_ONE = {True: 0.05, False: 0.05}, {True: 0.45, False: 0.15}, {True: 0.1, False: 0.5}
POOR, POORER = {True: 0.3, False: 0.35}, {True: 0.4, False: 0.3}


def ask(servers: list[JudgeServer], *errors: dict[bool, float], **options: Any) -> None:
    """Let judges with known error rates judge the project's rows."""
    script(servers, *[errs(often, f"m{number}") for number, often in enumerate(errors)])
    jurors = [{"model": f"m{number}", "base_url": one.url} for number, one in enumerate(servers)]

    def change(content: dict[str, Any]) -> None:
        content["judge"].update({"provider": "openai", "panel": jurors, "aliases": "none.csv", **options})
        content["dataset"]["candidates"] = {"aurora": {"response": "aurora", "label": "aurora_correct"}}

    edit(change)


@pytest.mark.exhaustive
def test_the_report_shows_disagreement_and_each_jurors_agreement_with_labels(
    servers: list[JudgeServer], project: Path
) -> None:
    write(project, labelled_rows(60))
    ask(servers, GOOD, STRICT_ONE, LENIENT_ONE)

    for stage in stages():
        run(stage)

    document = json.loads(Path(METRICS).read_text(encoding="utf-8"))
    votes = document["panel"]["candidates"]["aurora"]["meaning_match"]
    verdict = document["candidates"]["aurora"]["meaning_match"]
    assert document["panel"]["jurors"] == ["m0", "m1", "m2"]
    assert votes["n"] == 60
    assert 0.3 < votes["not_unanimous"] < 0.8
    assert votes["jurors"][0]["accuracy"]["value"] > votes["jurors"][1]["accuracy"]["value"]
    assert [one["votes"] for one in votes["jurors"]] == [60] * 3
    assert verdict["method"].endswith("+jurors")
    assert verdict["low"] < votes["low_of_rows"] <= verdict["value"] <= votes["high_of_rows"] < verdict["high"]
    page = Path("reports/index.html").read_text(encoding="utf-8")
    assert "Meaning_match by a panel of 3: m0, m1 and m2; their votes count equally." in page
    assert "m0 alone agrees with human labels: " in words_of(page)


def votes_and_labels(n: int, errors: list[float], seed: int = 5) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    labels = (rng.random(n) < 0.6).astype(float)
    return np.column_stack([np.where(rng.random(n) < often, 1.0 - labels, labels) for often in errors]), labels


def sample_of(labels: Any) -> Sample:
    ids = [f"q{number}" for number in range(len(labels))]
    return Sample(pa.table({"id": ids}), labels, ids)


def test_one_good_judge_among_poor_ones_is_better_alone() -> None:
    votes, labels = votes_and_labels(400, [0.08, 0.35, 0.4])

    found = choice(votes, sample_of(labels), ["good", "poor", "poorer"])

    assert [round(one.accuracy.value, 1) for one in found.jurors] == [0.9, 0.6, 0.6]
    said = [*lines(found, sample_of(labels))]
    assert said[0].startswith("judge: agreement with 400 human labels (2")
    assert said[-3].endswith(": better alone than the panel")
    assert [line.endswith(": the panel needs it") for line in said[-2:]] == [True, True]


def test_a_copy_of_a_judge_does_harm() -> None:
    votes, labels = votes_and_labels(300, [0.1, 0.1, 0.1])
    votes = np.column_stack([votes, votes[:, 2]])

    said = [*lines(choice(votes, sample_of(labels), ["a", "b", "c", "copy"]), sample_of(labels), ["b"])]

    roles = [line.rpartition(": ")[2] for line in said[-4:]]
    assert roles == ["the panel needs it", "the panel needs it", "it harms the panel", "it harms the panel"]


def test_what_labels_of_a_design_or_of_one_group_do_not_tell_is_said() -> None:
    votes, labels = votes_and_labels(40, [0.1, 0.1, 0.1])
    sample = sample_of(labels)._replace(groups=["one"] * 40, designed=True)

    said = [*lines(choice(votes, sample, [*"abc"]), sample)]

    assert said[1].startswith("caution: a design chose these labels")
    assert said[2].startswith("  a         ")
    assert " [0, 100], " in said[2]
    assert "  a         alone too few rows; without it too few rows" in said


def test_a_judge_without_influence_is_dispensable() -> None:
    votes, labels = votes_and_labels(400, [0.1, 0.1, 0.1, 0.1, 0.5])

    said = [*lines(choice(votes, sample_of(labels), [*"abcde"]), sample_of(labels))]

    assert said[-1].endswith(": dispensable, as far as these labels tell")


def test_two_judges_who_always_disagree_tie() -> None:
    votes = np.tile([1.0, 0.0], (50, 1))

    found = choice(votes, sample_of(np.ones(50)), ["a", "b"])

    assert found.ties == 50
    assert found.panel.value == 0.5


@pytest.mark.exhaustive
def test_choosing_asks_what_the_ledger_lacks(
    servers: list[JudgeServer], project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, labelled_rows(240))
    ask(servers, GOOD, POOR, POORER)
    edit(lambda content: content["run"]["judge"]["prices"].update({"m0": {"input": 1.0, "output": 1.0}}))

    main(["judge", "--choose", "100"])
    some = [len(one.calls) for one in servers]
    assert some == [100 + len(canaries())] * 3
    main(["judge", "--choose", "240"])
    assert [len(one.calls) for one in servers] == [240 + len(canaries())] * 3
    capsys.readouterr()
    main(["judge", "--choose", "240"])
    said = capsys.readouterr().out

    assert [len(one.calls) for one in servers] == [240 + len(canaries())] * 3
    assert "judge: agreement with 240 human labels (160 right, 80 wrong), 95% intervals" in said
    assert "$0.11 per 1,000 rows" in said
    assert ": better alone than the panel" in said


@pytest.mark.parametrize(
    ("change", "arguments", "message"),
    [
        ({"panel": None}, ["--choose"], "judge.panel: lists no judges to choose from"),
        ({}, ["--choose", "5"], "--choose 5: expected 20 rows or more"),
        ({}, ["--choose"], "10 rows to judge have a human label; 20 or more are needed"),
    ],
)
def test_what_choosing_needs(
    project: Path, capsys: pytest.CaptureFixture[str], change: dict[str, Any], arguments: list[str], message: str
) -> None:
    write(project, labelled_rows(10))
    ask([], **{"panel": [{"model": "a"}, {"model": "b"}], **change})

    assert main(["judge", *arguments]) == 2

    assert message in capsys.readouterr().err
