"""A run costs what its own calls cost: not what others paid, nor what came with the data."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from goldmeter.ledger import open_store, root
from goldmeter.ledger.entries import Entry
from goldmeter.ledger.vectors import Vectors
from goldmeter.ledger.verdicts import Verdicts
from goldmeter.versions import costs
from tests.small_project import edit

JUDGE, EMBED = Path("data/ledger/judge"), Path("data/ledger/embed")


@pytest.fixture(autouse=True)
def prices(project: Path) -> None:
    """The model of params.yaml costs 1 dollar for a million tokens asked, and 10 for a million answered."""

    def change(content: dict) -> None:  # type: ignore[type-arg]
        content["judge"]["model"] = "m"
        content["run"]["judge"]["prices"] = {"m": {"input": 1.0, "output": 10.0}}

    assert project == Path.cwd()
    edit(change)


def entry(key: str, raw: str | None = "{}", tokens: dict[str, int] | None = None) -> Entry:
    return Entry(
        key=key * 64, metric="meaning_match", prompt="p", draw=0, raw=raw, verdict=1.0, reason=None, problem=None,
        model="m-1", asked=None, tokens=tokens, latency=0.25, attempts=1,
    )  # fmt: skip


def paid(key: str) -> Entry:
    """1,000 tokens asked and 100 answered: 0.002 dollars."""
    return entry(key, tokens={"prompt": 1000, "completion": 100})


def judge(entries: Sequence[Entry], used: str) -> None:
    """A stage that takes in the evidence, asks, and writes the evidence of what its table rests on."""
    store = open_store("judge")
    assert isinstance(store, Verdicts)
    with store:
        store.take_in(JUDGE)
        store.add(entries)
        store.use(key * 64 for key in used)
        store.write_evidence(JUDGE)


def embed(names: str) -> None:
    store, keys = open_store("embed"), [name.encode() * 32 for name in names]
    assert isinstance(store, Vectors)
    store.take_in(EMBED)
    new = [key for key, known in zip(keys, store.known(keys), strict=True) if not known]
    if new:
        store.add(new, np.ones((len(new), 3), np.float32))
    store.use(keys)
    store.write_evidence(EMBED)


def served(content: dict) -> None:  # type: ignore[type-arg]
    content["embed"]["provider"] = "openai"


def test_a_run_without_a_call_costs_nothing() -> None:
    judge([paid("a")], "a")
    before = costs.paid_entries()

    judge([], "a")

    assert costs.since(before) == 0.0


def test_each_call_costs_what_the_server_counted() -> None:
    judge([paid("a")], "a")
    before = costs.paid_entries()

    judge([paid("b"), paid("c"), entry("d", tokens={"prompt": 0, "completion": 1})], "abcd")

    assert costs.since(before) == pytest.approx(0.00401)


def test_verdicts_that_came_with_the_data_were_paid_by_somebody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    judge([paid("a")], "a")
    monkeypatch.setenv("GOLDMETER_LEDGER", str(Path("another clone").absolute()))
    before = costs.paid_entries()

    judge([paid("b")], "ab")

    assert costs.since(before) == 0.002


def test_what_another_run_pays_meanwhile_is_not_ours() -> None:
    judge([paid("a")], "a")
    before = costs.paid_entries()
    with Verdicts(root() / "judge") as other:
        other.add([paid("f")])

    judge([paid("b")], "ab")

    assert costs.since(before) == 0.002


def test_what_a_killed_run_paid_before_is_not_ours() -> None:
    killed = Verdicts(root() / "judge")
    killed.add([paid("f")])
    before = costs.paid_entries()
    killed.close()

    judge([paid("b")], "bf")

    assert costs.since(before) == 0.002


def test_a_call_without_a_reply_cost_nothing() -> None:
    before = costs.paid_entries()

    judge([entry("a", raw=None)], "a")

    assert costs.since(before) == 0.0


def test_a_model_without_a_price_costs_nobody_knows_what() -> None:
    before = costs.paid_entries()
    edit(lambda content: content["run"]["judge"].update(prices={}))

    judge([paid("a")], "a")

    assert costs.since(before) is None


def test_tokens_that_the_server_did_not_count_cost_nobody_knows_what() -> None:
    before = costs.paid_entries()

    judge([paid("a"), entry("b")], "ab")

    assert costs.since(before) is None


def test_vectors_of_the_local_model_cost_nothing() -> None:
    before = costs.paid_entries()

    embed("ab")

    assert costs.since(before) == 0.0


def test_vectors_of_a_server_cost_nobody_knows_what_unless_all_were_there(monkeypatch: pytest.MonkeyPatch) -> None:
    edit(served)
    embed("a")
    monkeypatch.setenv("GOLDMETER_LEDGER", str(Path("another clone").absolute()))
    before = costs.paid_entries()

    embed("a")
    assert costs.since(before) == 0.0

    embed("ab")
    assert costs.since(before) is None
