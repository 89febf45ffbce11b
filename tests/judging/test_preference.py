"""Preferences between two candidates' answers: both orders, one verdict a pair, and a reason where there is none."""

import json
import math
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.errors import ParamsError
from goldmeter.judging.preference import SCHEMA, check_preference, request_blocks, require_candidates
from goldmeter.judging.preflight import plan_next_run
from goldmeter.judging.verdict_table import Params, judge
from goldmeter.ledger.verdicts import Verdicts
from goldmeter.metrics.preference import preference
from goldmeter.pipeline.hashing import sha256
from goldmeter.pipeline.tables import Parts, about, write_part
from goldmeter.runner import run
from tasks.judge import advice, counts, expect
from tests.judge_server import Answer, JudgeServer, completion, problem, verdict
from tests.own_judge import is_own, own_question, reply, schema, write_prompt
from tests.small_project import ROOT, ROWS, edit, write
from tests.test_judge import HOW, column, params, rows, server

__all__ = ["server"]
PROMPT = "{{ input }}{% for one in references %}{{ one }}{% endfor %}{{ response_a }}{{ response_b }}"
# Id → the answers of candidates x, y and z.
ANSWERS: dict[str, tuple[str | None, ...]] = {
    "q1": ("good 3", "good 2", "bad"),
    "q2": ("good 2", "good 2 ", "good 9"),
    "q3": (None, "good 1", ""),
}


@pytest.fixture(autouse=True)
def _prompt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_prompt(PROMPT, "pair.txt")


def pairs(answers: dict[str, tuple[str | None, ...]], folder: Path, parts: int = 1) -> Parts:
    folder.mkdir()
    ids = [*answers]
    for number in range(parts):
        found = [
            (key, name, text) for key in ids[number::parts] for name, text in zip("xyz", answers[key], strict=False)
        ]
        write_part(table_of(found), folder, number)
    return Parts(folder)


def table_of(found: list[tuple[str, str, str | None]]) -> pa.Table:
    texts = [text for _, _, text in found]
    return pa.table(
        {
            "id": [key for key, _, _ in found],
            "candidate": [name for _, name, _ in found],
            "input": [f"Which? ({key})" for key, _, _ in found],
            "response": pa.array(texts, pa.string()),
            "references": [["good"]] * len(found),
            "phrases": pa.nulls(len(found), pa.list_(pa.string())),
            "response_normalized": pa.array(texts, pa.string()),
            "references_normalized": [["good"]] * len(found),
        }
    )


def options(server: JudgeServer | None = None, /, **chosen: Any) -> Params:
    asked = {"pairs": "all", "prompt": "prompts/pair.txt"} | chosen.pop("preference", {})
    return params(server, preference=asked, **chosen)


def fair(body: dict[str, Any]) -> Answer:
    """A judge that prefers the answer with the larger number; answers of the same worth are a tie."""
    if not is_own(body):
        return completion(verdict(body))
    first, second = (int("0" + "".join(filter(str.isdigit, text))) for text in own_question(body)[1][-2:])
    return completion(reply(body, "tie" if first == second else "A" if first > second else "B"))


def compared(parts: Parts, chosen: Params, store: Path, **how: Any) -> pa.Table:
    with Verdicts(store) as ledger:
        tables = [each["preference"] for each in judge(parts, chosen, ledger, HOW.model_copy(update=how))]
    return pa.concat_tables(tables)


def by_pair(table: pa.Table, name: str = "verdict") -> dict[tuple[str, str], Any]:
    return {(row["id"], row["candidate_a"] + row["candidate_b"]): row[name] for row in table.to_pylist()}


def test_each_pair_is_asked_about_in_both_orders_and_has_one_verdict(server: JudgeServer, tmp_path: Path) -> None:
    server.script = fair
    chosen = options(server)

    table = compared(pairs(ANSWERS, tmp_path / "rows"), chosen, tmp_path / "store")

    assert table.schema.equals(SCHEMA)
    assert by_pair(table) == {
        ("q1", "xy"): "a", ("q1", "xz"): "a", ("q1", "yz"): "a",
        ("q2", "xy"): "tie", ("q2", "xz"): "b", ("q2", "yz"): "b",
        ("q3", "xy"): None, ("q3", "xz"): None, ("q3", "yz"): "a",
    }  # fmt: skip
    status = by_pair(table, "preference_status")
    assert Counter(status.values()) == {"answered": 6, "identical": 1, "no response": 2}
    assert by_pair(table, "problem")["q3", "xy"] == "no response of x"
    asked = [body for body in server.calls if is_own(body)]
    shown = Counter(tuple(own_question(body)[1][-2:]) for body in asked)
    assert shown["good 3", "good 2"] == shown["good 2", "good 3"] == 1
    assert len(asked) == 2 * 6
    assert {tuple(schema(body)["enum"]) for body in asked} == {("A", "B", "tie")}
    assert {tuple(own_question(body)[1][:2]) for body in asked} == {(f"Which? ({key})", "good") for key in ANSWERS}
    signature = about(table.schema)["signature"]
    assert signature.startswith("preference|provider:openai|model:judge|")
    assert f"|prompt:{chosen.judge.questions['preference'].prompt_hash[:12]}|" in signature


def test_the_first_shown_is_no_winner(server: JudgeServer, tmp_path: Path) -> None:
    server.script = lambda body: completion(reply(body, "A") if is_own(body) else verdict(body))

    table = compared(pairs({"q1": ("good 3", "bad")}, tmp_path / "rows"), options(server), tmp_path / "store")

    [row] = table.to_pylist()
    assert (row["verdict"], row["verdict_a_first"], row["verdict_b_first"]) == ("tie", "a", "b")
    assert row["reason_a_first"] == "as asked"


@pytest.mark.parametrize("failing", [0, 1])
def test_a_failed_call_leaves_the_pair_without_a_verdict_and_says_why(
    server: JudgeServer, tmp_path: Path, failing: int
) -> None:
    def script(body: dict[str, Any]) -> Answer:
        if is_own(body) and own_question(body)[1][-2] == ("bad", "good 3")[failing]:
            return problem(400, "too long")
        return fair(body)

    server.script = script
    chosen = options(server)

    with Verdicts(tmp_path / "store") as ledger:
        [tables] = judge(pairs({"q1": ("good 3", "bad")}, tmp_path / "rows"), chosen, ledger, HOW)

    [row] = tables["preference"].to_pylist()
    assert (row["verdict"], row["preference_status"]) == (None, "failed")
    assert "too long" in row["problem"]
    assert [row["verdict_a_first"], row["verdict_b_first"]].count("a") == 1
    totals = counts(tables)
    assert (totals["pairs_asked"], totals["pairs_failed"], totals["pairs_failed_allowed"]) == (1, 1, 0.5)
    for name, table in tables.items():
        (tmp_path / name).mkdir()
        write_part(table, tmp_path / name, 0)
    failed, kept = advice({name: Parts(tmp_path / name) for name in tables}, chosen)
    assert failed.startswith("  1 pairs of answers failed: ")
    assert "kept in the ledger" in kept
    assert any(each.column_A == "pairs_failed_allowed" for each in expect(chosen).counts if hasattr(each, "column_A"))


def test_nothing_is_paid_for_twice_and_parts_change_nothing(server: JudgeServer, tmp_path: Path) -> None:
    server.script = fair
    chosen = options(server)
    whole = compared(pairs(ANSWERS, tmp_path / "one"), chosen, tmp_path / "store")
    calls = len(server.calls)

    divided = compared(pairs(ANSWERS, tmp_path / "three", 3), chosen, tmp_path / "store")

    assert by_pair(divided) == by_pair(whole)
    assert len(server.calls) == calls
    write_prompt(PROMPT + "!", "pair.txt")
    again = compared(pairs(ANSWERS, tmp_path / "again"), options(server), tmp_path / "store")
    assert len(server.calls) == calls + 12
    assert about(again.schema)["signature"] != about(whole.schema)["signature"]


def test_without_a_preference_the_table_is_empty_and_no_call_is_made_for_it(
    server: JudgeServer, tmp_path: Path
) -> None:
    parts = rows(tmp_path / "rows")

    table = compared(parts, params(server), tmp_path / "store")

    assert table.num_rows == 0
    assert not any(is_own(body) for body in server.calls)


def test_in_a_cascade_the_language_model_alone_compares(server: JudgeServer, tmp_path: Path) -> None:
    server.script = fair
    chosen, parts = options(server), pairs({"q1": ("good 3", "bad")}, tmp_path / "rows")
    cascade = options(server, provider="cascade", retest=1.0)

    alone = compared(parts, chosen, tmp_path / "store")

    assert compared(parts, cascade, tmp_path / "store").equals(alone, check_metadata=True)


def test_pairs_may_be_named_and_rows_chosen(server: JudgeServer, tmp_path: Path) -> None:
    server.script = fair
    only = [{"field": "id", "operator": "!=", "value": "q1"}]

    table = compared(
        pairs(ANSWERS, tmp_path / "rows"),
        options(server, preference={"pairs": [["z", "x"]]}, filters=only),
        tmp_path / "store",
    )

    assert by_pair(table) == {("q1", "zx"): None, ("q2", "zx"): "a", ("q3", "zx"): None}
    assert by_pair(table, "preference_status")["q1", "zx"] == "filtered"


def test_a_budget_ends_a_pair_with_its_reason(server: JudgeServer, tmp_path: Path) -> None:
    server.script = fair
    budget = {"max_calls": 5, "max_tokens": None, "max_cost": None}

    table = compared(
        pairs(ANSWERS, tmp_path / "rows"),
        options(server, max_unmeasured=1),
        tmp_path / "store",
        budget=type(HOW.budget)(**budget),
    )

    problems = [text for text in column(table, "problem") if text and text.startswith("not asked")]
    assert len(server.calls) == 5
    assert problems == ["not asked: run.judge.budget.max_calls (5) is used up"] * len(problems) != []


def test_batches_take_preferences_too(server: JudgeServer, tmp_path: Path) -> None:
    server.script = fair
    alone = compared(pairs(ANSWERS, tmp_path / "one"), options(server), tmp_path / "store")

    by_batch = compared(pairs(ANSWERS, tmp_path / "two"), options(server), tmp_path / "other", batch=True)

    assert by_batch.equals(alone)


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"pairs": [["x", "x"]]}, "x with itself"),
        ({"pairs": [["x", "y"], ["y", "x"]]}, "a pair twice"),
        ({"pairs": []}, "no pair"),
        ({"pairs": "some"}, r"judge\.preference\.pairs"),
        ({"prompt": "pair.txt"}, "must lie in the folder prompts"),
        ({"prompt": "prompts/none.txt"}, "no such file"),
        ({"prompt": "prompts/one.txt"}, "does not read response_b"),
        ({"prompt": "prompts/wrong.txt"}, "unknown variable 'response'"),
    ],
)
def test_wrong_options_are_named(chosen: dict[str, Any], message: str) -> None:
    write_prompt("{{ response_a }}", "one.txt")
    write_prompt("{{ response }}{{ response_a }}{{ response_b }}", "wrong.txt")

    with pytest.raises(ParamsError, match=message):
        options(preference=chosen)


@pytest.mark.parametrize("provider", ["offline", "none"])
def test_a_preference_needs_a_language_model(provider: str) -> None:
    with pytest.raises(ParamsError, match="preference needs a language model: set provider to openai or cascade"):
        options(provider=provider)


class Named:
    """Section `dataset` as far as the check reads it."""

    long = None
    contexts = None
    slices = ("topic",)

    def __init__(self, *names: str) -> None:
        self.named = dict.fromkeys(names)


def test_names_are_checked_before_anything_runs(tmp_path: Path) -> None:
    def check(dataset: Named, **chosen: Any) -> None:
        check_preference({"judge": options(preference=chosen).judge, "dataset": dataset})

    check(Named("x", "y"), pairs=[["x", "y"]])
    with pytest.raises(ParamsError, match="unknown candidate 'w'"):
        check(Named("x", "y"), pairs=[["x", "w"]])
    with pytest.raises(ParamsError, match="1 candidates; a preference is one between two or more"):
        check(Named("x"))
    write_prompt("{{ response_a }}{{ response_b }}{{ contexts_a }}", "contexts.txt")
    with pytest.raises(ParamsError, match=r"reads contexts, but dataset\.contexts names no column"):
        check(Named("x", "y"), prompt="prompts/contexts.txt")
    write_prompt("{{ response_a }}{{ response_b }}{{ slices.topik }}", "slices.txt")
    with pytest.raises(ParamsError, match="unknown slice 'topik'; did you mean topic"):
        check(Named("x", "y"), prompt="prompts/slices.txt")
    with pytest.raises(ParamsError, match="unknown candidate 'w'"):
        require_candidates(pairs(ANSWERS, tmp_path / "rows"), options(preference={"pairs": [["x", "w"]]}).judge)


def test_the_shipped_prompt_shows_the_question_the_references_and_both_answers(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "prompts", tmp_path / "prompts", dirs_exist_ok=True)
    rows_of = {"input": "Where?", "references": ["Paris"]}

    fields = preference("prompts/preference.txt", "p").fields_of(
        rows_of | {"response": "Rome"}, rows_of | {"response": "Paris!"}, ["Paris"]
    )

    data = [json.loads(line) for line in fields.split("\n") if line.startswith(('"', "["))]
    assert data == ["Where?", ["Paris"], "Rome", "Paris!"]
    without = preference("prompts/preference.txt", "p").fields_of(rows_of, rows_of, [])
    assert "Accepted answers" in fields
    assert "Accepted answers" not in without


def test_contexts_are_each_candidate_s_own() -> None:
    path = write_prompt("{{ response_a }}{{ response_b }}{{ contexts_a }}{{ contexts_b }}", "contexts.txt")
    first, second = ({"response": name, "contexts": [f"of {name}"]} for name in "xy")

    fields = preference(path, "p").fields_of(first, second, [])

    assert [json.loads(line) for line in fields.split("\n") if line.startswith(('"', "["))] == [
        "x", "y", ["of x"], ["of y"]
    ]  # fmt: skip


def test_blocks_of_ids_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part, chosen = pairs(ANSWERS, tmp_path / "rows").whole(), options().judge

    def keys() -> list[str]:
        return [request.key for block in request_blocks(part, chosen) for request in block]

    whole = keys()
    monkeypatch.setattr("goldmeter.judging.preference.BLOCK_IDS", 1)

    assert keys() == whole


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["A", "B", "tie"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)
FIELDS = st.fixed_dictionaries(
    {}, optional={name: JSON | st.just("NONCE") for name in ("nonce", "reason", "verdict", "more")}
)


@given(st.text(max_size=60) | JSON.map(json.dumps) | FIELDS.map(json.dumps))
def test_a_reply_is_a_verdict_only_with_the_nonce_a_reason_and_one_of_three_words(said: str) -> None:
    question = preference(write_prompt(PROMPT, "pair.txt"), "p")
    try:
        found = question.parse(said, "NONCE")
    except ValueError:
        return
    values = json.loads(said)
    assert values["nonce"] == "NONCE"
    assert {*values} == {"nonce", "reason", "verdict"}
    assert ["A", "B", "tie"][int(found.score)] == values["verdict"]


# Candidates of simulated strengths, the strongest first; the second and the third one are equal.
STRENGTHS = {"alpha": 1.5, "beta": 0.2, "gamma": 0.2, "delta": -1.5}


def drawn(body: dict[str, Any]) -> Answer:
    """A judge that prefers by strength: each question and pair by a draw of its own, whatever the order."""
    if not is_own(body):
        return completion(verdict(body))
    key, *_, first, second = (text.partition(" says ")[0] for text in own_question(body)[1])
    names = sorted([first, second])
    chance = 1.0 / (1.0 + math.exp(STRENGTHS[names[1]] - STRENGTHS[names[0]]))
    wins = names[0] if int.from_bytes(sha256(f"{key} {names}")[:8]) < chance * 2**64 else names[1]
    return completion(reply(body, "A" if first == wins else "B"))


@pytest.mark.exhaustive
def test_four_candidates_of_known_strengths_go_all_the_way(
    server: JudgeServer, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-2b7e")
    shutil.copytree(ROOT / "prompts", "prompts", dirs_exist_ok=True)
    server.script = drawn
    write(
        project,
        [ROWS[0] | {"id": f"q{i}", "question": f"Question {i}?", "thread": f"t{i}"}
         | {name: f"{name} says {i}" for name in STRENGTHS} for i in range(60)],
    )  # fmt: skip
    write_prompt(PROMPT, "pair.txt")
    edit(lambda content: content["dataset"].update(candidates={name: {"response": name} for name in STRENGTHS}))
    edit(
        lambda content: content["judge"].update(
            provider="openai", base_url=server.url, preference={"prompt": "prompts/pair.txt"}
        )
    )
    edit(lambda content: content["report"].update(targets={"preferred_over.delta": 0.5}))
    plan = plan_next_run()
    assert plan is not None
    assert plan.comparing == 2 * 6 * 60

    for stage in ("load", "normalize", "lexical", "embed", "semantic", "judge", "aggregate", "report"):
        run(stage)

    document = json.loads(Path("reports/metrics.json").read_text(encoding="utf-8"))
    found = document["preference"]
    assert all((pair["n"], pair["flips"]) == (60, 0) for pair in found["pairs"])
    ranks = {one["candidate"]: (one["best"], one["worst"]) for one in found["ranks"]}
    assert ranks["alpha"] == (1, 1)
    assert ranks["delta"] == (4, 4)
    assert ranks["beta"] == ranks["gamma"] == (2, 3)
    targets = {name: one.get("preferred_over.delta") for name, one in document["targets"].items()}
    assert targets["delta"] is None
    assert targets["alpha"]["verdict"] == "met"
    assert json.loads(Path("reports/summary.json").read_text(encoding="utf-8"))["alpha"]["preferred_over.delta"] > 0.5
    page = Path("reports/index.html").read_text(encoding="utf-8")
    assert "alpha is preferred to all others" in page
    calls = len(server.calls)
    run("judge")
    assert len(server.calls) == calls
