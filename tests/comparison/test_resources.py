"""What answers took, in two versions: differences on shared rows, verdicts of guards, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError
from rich.console import Console

from goldmeter.comparison import resources
from goldmeter.comparison.gate import Gate
from goldmeter.comparison.render import to_markdown, to_terminal
from goldmeter.errors import ComparisonError
from goldmeter.wording.verdicts import Decision
from tests.comparison.sample import Row, answers, gate, shuffled, version
from tests.comparison.test_document import compared, measures, refused, status

N = 300
SECONDS = np.random.default_rng(0).lognormal(size=N)
NOISE = np.random.default_rng(1).lognormal(sigma=0.05, size=N)
SAME = "+" * (N - 3) + "..."


def taking(seconds: Any, text: str = SAME, **others: Any) -> list[Row]:
    rows = answers(text, **others)
    return [
        row | {"latency": None if second is None else float(second)} for row, second in zip(rows, seconds, strict=True)
    ]


def guarded(margin: float = 0.1, **changed: Any) -> Gate:
    return gate(metrics={"latency_p95": margin, "latency_p50": margin}, **changed)


def test_slower_answers_stop_a_release_that_guards_their_latency() -> None:
    found = compared(taking(SECONDS), taking(2.0 * SECONDS * NOISE), guarded())
    slower = measures(found)["latency_p95"]

    assert (slower["role"], slower["verdict"], slower["higher_is_better"]) == ("guard", "worse", False)
    assert 0.0 < slower["difference"]["low"] < slower["difference"]["value"] < slower["difference"]["high"]
    assert slower["margin"] == pytest.approx(0.1 * slower["base"], rel=1e-5)
    assert status(found) == 1
    assert found["decision"]["sentence"].startswith(
        f"{Decision.DO_NOT_SHIP.capitalize()}: worse by the guard latency_p"
    )
    reason = next(one for one in found["decision"]["reasons"] if one.startswith("Guard latency_p"))
    assert "Significant increase of more than" in reason


def test_faster_answers_are_better_and_equal_ones_unchanged() -> None:
    faster = measures(compared(taking(SECONDS), taking(0.5 * SECONDS * NOISE)))
    same = measures(compared(taking(SECONDS), taking(SECONDS)))

    assert {faster[f"latency_{name}"]["verdict"] for name in ("p50", "p95", "mean")} == {"better"}
    assert {same[f"latency_{name}"]["verdict"] for name in ("p50", "p95", "mean")} == {"unchanged"}
    assert faster["latency_p95"]["role"] == "secondary"


def test_an_increase_within_the_margin_is_no_worse() -> None:
    found = compared(taking(SECONDS), taking(1.01 * SECONDS * NOISE), guarded(0.5))

    assert measures(found)["latency_p50"]["verdict"] == "no worse"
    assert status(found) == 0


def test_too_few_rows_decide_nothing() -> None:
    few = 40
    found = compared(taking(SECONDS[:few], "+" * few), taking(1.2 * SECONDS[:few], "+" * few), guarded())
    p95 = measures(found)["latency_p95"]

    assert p95["difference"]["high"] is None
    assert (p95["verdict"], found["failed"]) == ("cannot tell", False)
    assert compared(
        taking(SECONDS[:few], "+" * few), taking(1.2 * SECONDS[:few], "+" * few), guarded(fail_on="cannot_tell")
    )["failed"]


def test_a_guard_that_one_version_lacks_blocks_and_other_measures_do_not() -> None:
    found = compared(answers(SAME), taking(SECONDS), guarded())
    shown = compared(answers(SAME), taking(SECONDS))

    assert refused(found) == dict.fromkeys(["latency_p50", "latency_p95"], ("only there after", True))
    assert (found["blocked"], status(found)) == (True, 2)
    assert refused(shown) == {"latency": ("only there after", False)}
    assert status(shown) == 0


def test_missing_numbers_can_not_make_a_guard_pass() -> None:
    lost = [None if n % 4 == 0 else 0.5 * second for n, second in enumerate(SECONDS)]
    found = compared(taking(SECONDS), taking(lost), guarded())

    reason = "75 of 300 rows have no latency, before 0, after 75 (gate.max_unmeasured)"
    assert refused(found) == dict.fromkeys(["latency_p50", "latency_p95"], (reason, True))


def test_neither_parts_nor_the_order_of_rows_change_a_number() -> None:
    older, newer = taking(SECONDS, group=None), taking(1.1 * SECONDS * NOISE)
    older, newer = ([row | {"group": f"g{n // 3}"} for n, row in enumerate(rows)] for rows in (older, newer))

    assert measures(compared(shuffled(older, 1), shuffled(newer, 2), part_rows=37)) == measures(compared(older, newer))


def test_one_conversation_says_nothing_of_the_spread() -> None:
    found = compared(taking(SECONDS, group="one"), taking(2.0 * SECONDS, group="one"))

    assert measures(found)["latency_p50"]["difference"]["low"] is None
    assert measures(found)["latency_p50"]["verdict"] == "cannot tell"


def test_rows_of_other_questions_are_left_out() -> None:
    newer = taking([1e9, *SECONDS[1:]])
    newer[0] = newer[0] | {"input": "Another question?"}

    assert measures(compared(taking(SECONDS), newer))["latency_mean"]["verdict"] == "unchanged"


def test_a_guard_that_no_version_has_is_an_error(tmp_path: Path) -> None:
    from goldmeter.comparison.of_versions import compare_versions

    versions = version(tmp_path / "a", answers("++")), version(tmp_path / "b", answers("++"))
    with pytest.raises(ComparisonError, match=r"gate.metrics: unknown measure 'latency_p"):
        compare_versions(*versions, guarded())


def test_they_stand_apart_from_the_measures_of_answers() -> None:
    found = compared(taking(SECONDS), taking(2.0 * SECONDS * NOISE), guarded())
    text = to_markdown(found)
    screen = Console(record=True, width=140)
    to_terminal(found, screen, every=True)

    assert (
        text.index("| f1 (primary)")
        < text.index("<summary>Time and cost</summary>")
        < text.index("latency_p95 (guard)")
    )
    assert "less is better" in text
    assert "latency_p95 (guard)" in screen.export_text()


@pytest.mark.parametrize(
    ("maximum", "verdict", "ends", "said"),
    [
        (1000.0, "no worse", 0, "At most the maximum of 1,000"),
        (1.0, "worse", 1, "Above the maximum of 1.00"),
        (5.2, "cannot tell", 0, "Neither surely above nor surely below the maximum of 5.20"),
    ],
)
def test_a_maximum_is_decided_by_the_limits_of_the_newer_answers(
    maximum: float, verdict: str, ends: int, said: str
) -> None:
    found = compared(taking(SECONDS), taking(SECONDS), gate(metrics={"latency_p95": {"max": maximum}}))
    p95 = measures(found)["latency_p95"]

    assert (p95["verdict"], status(found)) == (verdict, ends)
    assert p95["maximum"]["max"] == maximum
    assert p95["maximum"]["low"] <= p95["head"] <= p95["maximum"]["high"]
    assert any(said in reason for reason in found["decision"]["reasons"])
    assert f"{verdict}, maximum" in to_markdown(found)


@pytest.mark.parametrize("guard", [{"max": -1.0}, {"max": "2 s"}, {"mx": 2.0}, {}, -0.1, 1.0, "2"])
def test_a_guard_is_a_margin_or_a_maximum(guard: Any) -> None:
    with pytest.raises(ValidationError, match=r"latency_p95"):
        gate(metrics={"latency_p95": guard})


def test_measures_of_answers_have_no_maximum() -> None:
    with pytest.raises(ValidationError, match=r"metrics.f1: max is for latency_mean, latency_p50"):
        gate(primary="bleu", metrics={"f1": {"max": 0.5}})


def test_answers_that_were_not_needed_leave_no_difference_and_it_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "is_stopped", lambda _: True)

    found = compared(taking(SECONDS), taking(SECONDS))

    assert "judge.stop), and this needs a fixed number of rows" in refused(found)["latency"][0]
