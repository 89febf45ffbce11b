"""The files of NQ301: answers matched by their letters, verdicts row by row, and damage that is refused."""

import json
from math import isnan
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.nq301 import BEM, GPT4, HUMAN, listed, nq301
from goldmeter.errors import DataError

TABLES = {
    HUMAN: [
        "id\tQuestion\tModel answer\tAcceptable?\tannotator1\tannotator2\tannotator3",
        "1\twho?\tmr. smith\tYes\tYes\tNo\tYes",
        "1\twho?\tjones , a man\tNo\tNo\tNo\t",
        "1\twho?\tthe judge\tNo\tNo\t\tNo",
    ],
    BEM: [
        "id\tQuestion\tGold answers\tModel answer\tAcceptable?\tBEM probs per gold answer",
        '1\tWho?\t"Smith | Smyth"\tMr. Smith\tYes\t"[[0.9, 0.1], [0.25, 0.75]]"',
        "2\tWho?\tSmith\tjones, a man\tNo\t[[0.9, 0.1]]",
        "3\tWho?\tSmith\tanother\tNo\t[[0.8, 0.2]]",
    ],
    GPT4: [
        "id\tQuestion\tModel answer\tAcceptable?\tgpt-4",
        "1\twho?\tmr. smith\tYes\tYes, it is.",
        "1\twho?\tjones , a man\t\tI don't know.",
        "1\twho?\tthe judge\tNo\tNo.",
    ],
}
LINES = [
    {"question": "Who?", "answer": ["Smith"], "prediction": "Mr Smith"},
    {"question": "Who?", "answer": ["Smith"], "prediction": ["Jones", "a man"]},
    {"question": "Who?", "answer": ["Smith"], "prediction": ["The judge", "of all"]},
    {"question": "Who?", "answer": ["Smith"], "prediction": "nobody"},
    {"question": "When?", "answer": ["now"], "prediction": "now"},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path)


def written(folder: Path) -> Path:
    for name, rows in TABLES.items():
        (folder / name).write_text("\n".join(rows), encoding="utf-8")
    (folder / "NQ_x.jsonl").write_text("\n".join(map(json.dumps, LINES)), encoding="utf-8")
    return folder


def test_answers_are_matched_by_their_letters(folder: Path) -> None:
    rows = [*nq301(folder)]

    assert [(row.response, row.verdict, row.source) for row in rows] == [
        ("Mr Smith", True, "NQ_x"),
        ("Jones, a man", False, "NQ_x"),
        ("The judge", False, "NQ_x"),
    ]


def test_each_listed_answer_has_the_verdicts_of_its_row(folder: Path) -> None:
    first, second, third = listed(folder, [*nq301(folder)])

    assert first.answer[:4] == ("Who?", ["Smith"], "mr. smith", True)
    assert first[1:] == (1, 0, 0.75, 1)
    assert second.answer.verdict is False
    assert second[1:4] == (0, 0, 0.1)
    assert isnan(second.gpt4)
    assert (third.first, third.gpt4) == (0, 0)
    assert isnan(third.second)
    assert isnan(third.bem)  # BEM's row is about another answer


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        (HUMAN, "Acceptable?", "Right?", "row 1: Acceptable"),
        (HUMAN, "smith\tYes", "smith\tMaybe", "row 1: Acceptable"),
        (HUMAN, "smith\tYes", "smith\t", "row 1: Acceptable"),
        (HUMAN, "\tNo\tNo\t", "", "row 2: Acceptable"),
        (HUMAN, "\tNo\tYes", "\tNo\tYes\tNo", "row 1 has more cells"),
        (BEM, "0.75", "1.75", "row 1: BEM probs"),
        (BEM, "0.75", "NaN", "row 1: BEM probs"),
        (BEM, "[[0.9, 0.1]]", "[]", "row 2: BEM probs"),
        (BEM, "[[0.9, 0.1]]", "0.9", "row 2: BEM probs"),
        (BEM, "2\tWho?", "2\tWhen?", "row by row"),
        (GPT4, "\n1\twho?\tthe judge\tNo\tNo.", "", "row by row"),
        ("NQ_x.jsonl", '"now"}', '"now"', "line 5"),
        ("NQ_x.jsonl", '"Mr Smith"', "3", "line 1: prediction"),
        ("NQ_x.jsonl", '"question": "Who?"', '"asked": "Who?"', "line 1: question"),
    ],
)
def test_a_damaged_file_is_refused_with_its_place(folder: Path, name: str, old: str, new: str, message: str) -> None:
    text = (folder / name).read_text(encoding="utf-8")
    (folder / name).write_text(text.replace(old, new, 1), encoding="utf-8")

    with pytest.raises(DataError, match=message) as error:
        [*listed(folder, [*nq301(folder)])]
    assert name in str(error.value)


def test_a_question_without_references_is_refused(folder: Path) -> None:
    (folder / "NQ_x.jsonl").unlink()

    with pytest.raises(DataError, match=r"\*\.jsonl.*'who\?'"):
        [*listed(folder, [*nq301(folder)])]


@given(st.sampled_from([*TABLES, "NQ_x.jsonl"]), st.floats(0, 1, exclude_max=True), st.binary(max_size=3))
def test_any_damage_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, name: str, at: float, new: bytes
) -> None:
    folder = written(tmp_path_factory.mktemp("damaged"))
    content = (folder / name).read_bytes()
    place = int(at * len(content))
    (folder / name).write_bytes(content[:place] + new + content[place + 2 :])

    try:
        rows = [*listed(folder, [*nq301(folder)])]
    except DataError:
        return
    assert all(isnan(row.bem) or 0 <= row.bem <= 1 for row in rows)
