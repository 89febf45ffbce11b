"""Labels of recorded runs: a label that such a run had for another answer is stale, whatever it is compared with."""

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.compare import compare_by_params
from flows.evaluate import _numbers
from goldmeter.errors import LedgerError
from goldmeter.history import decision, labelled_answers
from goldmeter.pipeline.tables import Parts, write_part
from goldmeter.reporting import summary
from goldmeter.serving.record import Recorded
from tasks.__main__ import _summary
from tests.comparison.repository import write_params
from tests.comparison.sample import Row, load_table, row, version
from tests.history.made_nights import experiment, facts, run_night, schedule, score
from tests.small_project import edit


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOLDMETER_LEDGER", str(tmp_path / "ledger"))
    monkeypatch.chdir(tmp_path)


def labelled(answers: str, labels: str, status: str | None = None, candidate: str = "aurora") -> list[Row]:
    """One row per sign: the answer, and its label: `+` right, `.` wrong, `-` none."""
    values = {"+": True, ".": False, "-": None}
    return [
        row(number, answer, candidate, label=values[sign], label_status=status)
        for number, (answer, sign) in enumerate(zip(answers, labels, strict=True))
    ]


def load(rows: Sequence[Row]) -> Parts:
    folder = Path("made")
    folder.mkdir(exist_ok=True)
    write_part(load_table(rows), folder, 0)
    return Parts(folder)


def stale(rows: Sequence[Row]) -> list[bool]:
    return labelled_answers.stale(load(rows)).tolist()


def add(rows: Sequence[Row]) -> None:
    labelled_answers.add(load(rows))


def test_nothing_is_stale_and_nothing_is_written_before_there_is_a_label() -> None:
    add(labelled("ab", "--"))

    assert not labelled_answers.path().exists()
    assert stale(labelled("xy", "++")) == [False, False]


def test_a_label_left_with_another_answer_than_that_of_any_recorded_run_is_stale() -> None:
    add(labelled("abc", "+++"))

    for _ in range(2):  # the second run has the same answers as the first one after the change
        assert stale(labelled("axy", "+++")) == [False, True, True]
        add(labelled("axy", "+++"))
    assert stale(labelled("abc", "+++")) == [False] * 3
    assert stale(labelled("axy", "+--")) == [False] * 3


def test_labels_given_anew_belong_to_the_new_answers() -> None:
    add(labelled("abc", "+++"))
    assert stale(labelled("axy", "++.")) == [False] * 3
    add(labelled("axy", "++."))

    assert stale(labelled("axy", "++.")) == [False] * 3
    assert stale(labelled("abc", "+++")) == [False] * 3
    assert stale(labelled("azz", "++.")) == [False, True, True]


def test_candidates_and_questions_are_told_apart() -> None:
    add([*labelled("ab", "++"), *labelled("ab", "++", candidate="borealis")])

    changed = [*labelled("xb", "++"), *labelled("xy", "+.", candidate="borealis")]
    assert stale(changed) == [True, False, False, False]
    asked_otherwise = [each | {"references": ["else"]} for each in labelled("xy", "++")]
    assert stale(asked_otherwise) == [False, False]


SIGNS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("+.-"), st.booleans()), min_size=1, max_size=6)


@given(st.lists(SIGNS, min_size=1, max_size=5))
def test_runs_in_a_row_against_the_obvious_implementation(runs: list[list[tuple[str, str, bool]]]) -> None:
    labelled_answers.path().unlink(missing_ok=True)
    answers: set[tuple[int, str]] = set()  # answers that were labelled, and the last label of each row
    last: dict[int, str] = {}
    for run in runs:
        rows = [
            labelled(answer, sign, "confirmed" if confirmed else None)[0] | {"id": f"q{number}"}
            for number, (answer, sign, confirmed) in enumerate(run)
        ]
        at_stake = [
            number in last and (number, answer) not in answers and sign != "-" and not confirmed
            for number, (answer, sign, confirmed) in enumerate(run)
        ]
        anew = any(one and last[number] != run[number][1] for number, one in enumerate(at_stake))
        expected = [one and not anew for one in at_stake]

        assert stale(rows) == expected
        add(rows)
        for number, (answer, sign, _) in enumerate(run):
            if sign != "-" and not expected[number]:
                answers.add((number, answer))
                last[number] = sign


@pytest.mark.parametrize(
    "told",
    [lambda: _summary(Namespace(all=False, json=False)), lambda: print(_numbers(Recorded(None, None, None)), end="")],
)
def test_stale_labels_of_the_last_run_are_told_on_the_terminal(
    told: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(summary, "show", lambda *_, **__: None)
    told()
    version(Path(), labelled("axy", "+++"))
    told()
    assert capsys.readouterr().out == ""

    add(labelled("abc", "+++"))
    told()
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.startswith("! 2 labels belong to another answer, by recorded runs (stale):")

    labelled_answers.path().write_bytes(b"PAR1 no")
    told()
    assert "history-labels.parquet: not a list of labelled answers" in " ".join(capsys.readouterr().out.split())


def test_a_damaged_file_is_named_and_stays() -> None:
    add(labelled("a", "+"))
    labelled_answers.path().write_bytes(b"PAR1 no")

    with pytest.raises(LedgerError, match=r"history-labels\.parquet: not a list of labelled answers"):
        stale(labelled("a", "+"))
    with pytest.raises(LedgerError, match=r"history-labels\.parquet: not a list of labelled answers"):
        add(labelled("a", "+"))
    assert labelled_answers.path().read_bytes() == b"PAR1 no"


N = 40
BEFORE, AFTER = labelled("a" * N, "+" * N), labelled("a" * (N // 2) + "x" * (N // 2), "+" * N)


def _by_label() -> None:
    write_params()
    edit(lambda content: content["gate"].update(primary="label"))


def _blocked(document: Any) -> tuple[bool, int]:
    [pair] = document["pairs"]
    return document["blocked"], pair["rows"].get("stale_labels", 0)


@pytest.mark.parametrize("recorded", ["by hand", "scheduled"])
def test_a_release_whose_base_already_has_the_stale_labels_does_not_pass(recorded: str) -> None:
    _by_label()
    for name in ("base", "head"):
        version(Path(name), AFTER)
    assert _blocked(compare_by_params("base", "head", renamed={}, rescore=False)) == (False, 0)

    if recorded == "by hand":
        score(BEFORE)
        decision.add_run(experiment(1), facts(1))
    else:
        run_night(BEFORE, 1, schedule())

    assert _blocked(compare_by_params("base", "head", renamed={}, rescore=False)) == (True, N // 2)
