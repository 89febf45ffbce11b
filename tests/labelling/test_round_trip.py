"""What was labelled comes back, whatever the texts: chosen, written, filled in, taken, and loaded by params.yaml."""

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goldmeter.dataset.settings import Dataset
from goldmeter.labelling import command
from goldmeter.labelling import sheet as sheets
from goldmeter.labelling.choice import base_design
from goldmeter.labelling.choice import choose as choice_of
from goldmeter.labelling.command import with_labels
from goldmeter.labelling.label_file import design_of, raters, read_entries, take, write_entries
from goldmeter.labelling.run_rows import read_run
from goldmeter.labelling.sheet import COLUMNS, defused, restored, write_sheet
from goldmeter.pipeline import git, params
from goldmeter.pipeline.files import remove
from goldmeter.reporting.page import FOLDER
from tests.labelling.made_run import CANDIDATES, DATA, QUESTIONS, load_again, loaded, make_run, write_questions
from tests.small_project import edit
from tests.test_load import params as load_params

LABELS = Path("data/labels/labels.jsonl")
Fill = Callable[[dict[str, str]], str]


@pytest.fixture
def clone(project: Path) -> Path:
    (project / ".dvc").mkdir()
    git.run("init", "-q")
    return project


def choose(*arguments: str) -> Path:
    """Choose, and return the table of the sheet."""
    remove(Path("out"))
    assert command.main(["--output", "out", *arguments]) == 0
    return next(Path("out").glob("*.csv"))


def filled(sheet: Path, name: str, fill: Fill, **others: str) -> str:
    """Fill a column `label` as a spreadsheet would; returns the path of the new file."""
    rows = [*csv.DictReader(io.StringIO(sheet.read_text(encoding="utf-8-sig"), newline=""))]
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, COLUMNS, delimiter=";")
    writer.writeheader()
    writer.writerows({**row, "label": fill(row), **others} for row in rows)
    Path(name).write_text(out.getvalue(), encoding="utf-8", newline="")
    return name


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    capsys.readouterr()
    status = command.main(arguments)
    said = capsys.readouterr()
    return status, said.out + said.err


def labels() -> dict[tuple[str, str], bool]:
    return {(row["id"], row["candidate"]): row["label"] for row in load_again() if row["label"] is not None}


texts = st.text(st.characters(codec="utf-8"), max_size=8)
some = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8).filter(str.strip)
made = st.lists(
    st.fixed_dictionaries(
        {"id": some, "q": some, "ref": st.lists(some, min_size=1, max_size=2), "a": texts, "b": some}
    ),
    min_size=2,
    max_size=4,
    unique_by=lambda one: one["id"],
)
words = st.lists(st.sampled_from(["1", "0", "u", ""]), min_size=8, max_size=8)


@pytest.mark.usefixtures("project")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(made, words, some.filter(lambda text: "\r" not in text), some)  # CSV knows one line end
def test_what_was_labelled_comes_back(questions: list[Any], given_words: list[str], comment: str, name: str) -> None:
    remove(LABELS)
    write_questions(questions)
    wanted = load_params(path=DATA.as_posix(), candidates=CANDIDATES)
    loaded(wanted)
    run = read_run()
    choice = choice_of(run, base_design(~run.answered, run.answered, "all"), len(run.ids), "random", 0.95)
    _, sheet = write_sheet(run, choice, Path("out"))
    given = ["1", *given_words][: len(run.ids)]
    left = iter(given)
    file = filled(sheet, "x.csv", lambda _: next(left), comment=defused(comment), rater=defused(name))

    entries = take(run, {}, [Path(file)]).entries
    write_entries(LABELS, run, entries, design_of(run, entries))

    assert read_entries(LABELS) == entries
    section = with_labels(wanted.dataset.model_dump(), wanted.dataset, raters(entries), "random")
    rows = loaded(wanted.model_copy(update={"dataset": Dataset.model_validate(section)}))
    expected = {run.keys[row]: word == "1" for row, word in zip(choice.rows, given, strict=True) if word in {"1", "0"}}
    assert {(row["id"], row["candidate"]): row["label"] for row in rows if row["label"] is not None} == expected
    assert {text for entry in entries.values() for text in entry.comments.values()} == {comment}


def test_the_page_and_the_table_defuse_by_one_rule() -> None:
    [rule] = re.findall(r"text\.replace\(/\^(.*?)/, ", (FOLDER / "sections/csv_cell.js").read_text(encoding="utf-8"))

    assert sheets.FORMULA.pattern == rule.replace(r"\s*", r"[\s\ufeff]*")  # in JavaScript \s is U+FEFF too


@given(texts | st.from_regex(r"\A'*\s*[=+@-].*\Z"))
def test_a_defused_text_is_restored_and_begins_no_formula(text: str) -> None:
    assert restored(defused(text)) == text
    assert defused(text).lstrip()[:1] not in {*"=+-@＝＋－＠"}


@pytest.mark.usefixtures("clone")
def test_labels_are_loaded_and_the_rest_of_params_stays(capsys: pytest.CaptureFixture[str]) -> None:
    make_run()
    before = params.effective()
    sheet = choose("--by", "random", "--rows", "10")

    status, said = told(
        capsys, "--take", filled(sheet, "anna.csv", lambda row: "1" if row["candidate"] == "a" else "0")
    )

    after = params.effective()
    assert status == 0
    assert "data/labels/labels.jsonl: 10 labels added; 10 answers of the present run have one" in said
    assert "next: dvc add data/labels/labels.jsonl\n" in said
    assert after.pop("dataset") == before.pop("dataset") | {
        "labels": "random",
        "label_file": {
            "path": "data/labels/labels.jsonl", "id": "id", "candidate": "candidate", "response": "response",
            "label": {"columns": ["rater_anna"], "unsure": ["unsure"]},
        },
    }  # fmt: skip
    assert after == before
    assert len(labels()) == 10
    assert all(right == (candidate == "a") for (_, candidate), right in labels().items())


@pytest.mark.usefixtures("clone")
def test_marks_of_references_become_a_version_of_the_data_and_touch_no_label(
    capsys: pytest.CaptureFixture[str],
) -> None:
    make_run()
    before = params.effective()
    sheet = choose("--by", "random", "--rows", "40")
    file = filled(sheet, "anna.csv", lambda _: "", reference="wrong", add_reference="=new")

    status, said = told(capsys, "--take", file)

    after = params.effective()["dataset"]
    assert status == 0
    assert "data/labels/references.jsonl: 20 marks of references added" in said
    assert "next: dvc add data/labels/references.jsonl\n" in said
    assert after == before["dataset"] | {"corrections": "data/labels/references.jsonl"}
    assert {tuple(row["references"]) for row in load_again()} == {("=new",)}
    status, said = told(capsys, "--take", file)
    assert "40 labels not taken, their answer, question or references changed since the sheet was written" in said


@pytest.mark.usefixtures("clone")
@pytest.mark.parametrize("mark", ["", "wrong"])
def test_what_was_taken_is_json_also_without_the_folder_of_labels(
    mark: str, capsys: pytest.CaptureFixture[str]
) -> None:
    make_run()
    sheet = choose("--by", "random", "--rows", "40")
    remove(LABELS.parent)
    capsys.readouterr()

    status = command.main(["--take", filled(sheet, "anna.csv", lambda _: "1", reference=mark), "--json"])

    found = json.loads(capsys.readouterr().out)
    assert (status, found["added"], found["marks"]) == (0, 40, 20 if mark else 0)
    assert found["corrections"] == ("data/labels/references.jsonl" if mark else None)


@pytest.mark.usefixtures("clone")
def test_marks_are_not_taken_while_the_earlier_ones_are_missing(capsys: pytest.CaptureFixture[str]) -> None:
    make_run()
    sheet = choose("--by", "random", "--rows", "40")
    edit(lambda content: content["dataset"].update(corrections="data/labels/references.jsonl"))

    status, said = told(capsys, "--take", filled(sheet, "anna.csv", lambda _: "1", reference="wrong"))

    assert status == 2
    assert "data/labels/references.jsonl is missing; restore it by git or DVC" in said


@pytest.mark.usefixtures("clone")
def test_a_mark_that_is_none_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    make_run()
    sheet = choose("--by", "random", "--rows", "2")

    status, said = told(capsys, "--take", filled(sheet, "anna.csv", lambda _: "1", reference="bad"))

    assert status == 2
    assert "line 2: reference 'bad'; allowed: wrong, incomplete, ambiguous, or nothing" in said


@pytest.mark.usefixtures("clone")
def test_raters_are_columns_more_files_add_to_them_and_what_was_labelled_stays(
    capsys: pytest.CaptureFixture[str],
) -> None:
    make_run()
    sheet = choose("--by", "random", "--rows", "10")
    assert command.main(["--take", filled(sheet, "anna.csv", lambda _: "right")]) == 0
    first = LABELS.read_bytes()

    files = [filled(sheet, "ben.csv", lambda _: "wrong"), filled(sheet, "c.csv", lambda _: "1", rater="Cé D.")]
    assert command.main(["--take", *files]) == 0
    assert command.main(["--take", "anna.csv"]) == 0

    entries = read_entries(LABELS)
    assert LABELS.read_bytes() != first
    assert {tuple(entry.ratings.items()) for entry in entries.values()} == {
        (("rater_Cé_D", True), ("rater_anna", True), ("rater_ben", False))
    }
    assert {*labels().values()} == {True}
    before = LABELS.read_bytes(), params.PATH.read_bytes()
    assert command.main(["--take", *files]) == 0
    _, said = told(capsys, "--take", filled(sheet, "anna.csv", lambda _: "wrong"))
    assert (LABELS.read_bytes(), params.PATH.read_bytes()) == before
    assert (
        "note: 10 labels not taken, the rater had labelled the answer otherwise before; the first label is kept" in said
    )


@pytest.mark.usefixtures("clone")
def test_labels_of_changed_answers_are_named_and_not_taken(capsys: pytest.CaptureFixture[str]) -> None:
    make_run()
    sheet = choose("--by", "random", "--rows", "40")
    make_run([{**QUESTIONS[0], "a": "another answer"}, *QUESTIONS[2:]])

    status, said = told(capsys, "--take", filled(sheet, "anna.csv", lambda _: "1"))

    assert status == 0
    assert (
        "1 labels not taken, their answer, question or references changed since the sheet was written: q0 of a" in said
    )
    assert "2 labels not taken, no such answer is in the present run: q1 of " in said
    assert ("q0", "a") not in labels()
    assert len(labels()) == 37


@pytest.mark.usefixtures("clone")
def test_earlier_labels_in_columns_are_kept_and_not_chosen_again() -> None:
    questions = [{**one, "ok": number % 2} for number, one in enumerate(QUESTIONS)]
    make_run(questions, candidates={**CANDIDATES, "a": {"response": "a", "label": "ok"}}, labels="random")
    sheet = choose("--by", "random", "--rows", "20")

    assert command.main(["--take", filled(sheet, "anna.csv", lambda _: "1")]) == 0

    found = labels()
    assert len(found) == 40
    assert [found[f"q{number}", "a"] for number in range(20)] == [False, True] * 10
    assert params.raw()["dataset"]["labels"] == "random"


@pytest.mark.usefixtures("clone")
def test_labels_by_disagreement_are_not_called_random(capsys: pytest.CaptureFixture[str]) -> None:
    make_run()
    sheet = choose("--by", "disagreement", "--rows", "4")

    _, said = told(capsys, "--take", filled(sheet, "anna.csv", lambda _: "1"))

    assert params.raw()["dataset"]["labels"] == "other"
    assert "no rate is estimated from these labels" in said


@pytest.mark.usefixtures("clone")
def test_rows_are_chosen_again_only_after_labels_were_taken() -> None:
    make_run()
    first = choose("--by", "random", "--rows", "10")
    command.main(["--take", filled(first, "anna.csv", lambda _: "1")])
    second = choose("--by", "random", "--rows", "30")

    assert command.main(["--take", filled(second, "anna.csv", lambda _: "0")]) == 0

    assert len(labels()) == 40
    assert params.raw()["dataset"]["labels"] == "random"


@pytest.mark.usefixtures("clone")
def test_repeated_answers_are_labelled_one_by_one() -> None:
    rows = [{"id": "1", "q": "Q?", "ref": ["x"], "m": text} for text in ("one", "two", "three")]
    make_run(rows, draw=True, candidates={"m": {"response": "m"}})
    sheet = choose("--by", "random", "--rows", "3")

    assert command.main(["--take", filled(sheet, "a.csv", lambda row: str(int(row["response"] == "two")))]) == 0

    assert [(row["response"], row["label"]) for row in load_again()] == [
        ("one", False),
        ("two", True),
        ("three", False),
    ]


@pytest.mark.usefixtures("clone")
def test_questions_without_ids_are_joined_by_their_input() -> None:
    make_run(QUESTIONS, id=None)
    sheet = choose("--by", "random", "--rows", "40")

    assert command.main(["--take", filled(sheet, "a.csv", lambda row: str(int(row["candidate"] == "a")))]) == 0

    assert params.raw()["dataset"]["label_file"]["input"] == "input"
    assert [row["label"] for row in load_again()] == [True, False] * 20


@pytest.mark.usefixtures("clone")
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: text.replace(";label;", ";x;").replace("label;", "x;", 1), "no sheet of flows.label"),
        (lambda text: text.replace("\r\n1;", "\r\nperhaps;", 1), "label 'perhaps'; allowed: 1 or right"),
        (lambda text: text.replace("random-", "any-", 1), "not the name of a sheet"),
        (lambda text: text.split("\r\n")[0], "no rows"),
        (lambda _: "", "no rows"),
        (lambda text: text.replace("comment", "label", 1), "'label' appears twice"),
        (lambda text: text.replace("\r\n1;", "\r\n;"), "no label to take"),
        (lambda text: text.replace("0.25", "2", 1), "label_probability '2': expected a number from 0 to 1"),
    ],
)
def test_damaged_sheets_are_refused(
    damage: Callable[[str], str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    make_run()
    before = params.PATH.read_bytes()
    sheet = Path(filled(choose("--by", "random", "--rows", "10"), "a.csv", lambda _: "1"))
    sheet.write_text(damage(sheet.read_bytes().decode()), encoding="utf-8", newline="")

    status, said = told(capsys, "--take", "a.csv")

    assert (status, params.PATH.read_bytes(), LABELS.exists()) == (2, before, False)
    assert message in said


@pytest.mark.usefixtures("clone")
@pytest.mark.parametrize("place", ["data/q.jsonl", "q.jsonl", "data/mine/q.jsonl", "../q.jsonl"])
def test_labels_are_taken_wherever_the_data_are(place: str) -> None:
    make_run()
    Path("data/mine/q.jsonl").rename(place)
    edit(lambda content: content["dataset"].update(path=place))
    load_again()
    sheet = choose("--by", "random", "--rows", "3")

    assert command.main(["--take", filled(sheet, "anna.csv", lambda _: "1")]) == 0

    assert params.raw()["dataset"]["path"] == place
    assert [*labels().values()] == [True] * 3


@pytest.mark.usefixtures("clone")
def test_labels_that_params_name_beside_the_data_stay_there() -> None:
    make_run()
    first = choose("--by", "random", "--rows", "10")
    command.main(["--take", filled(first, "anna.csv", lambda _: "1")])
    beside = LABELS.rename("data/mine/labels.jsonl")
    edit(lambda content: content["dataset"].update(path="data/mine", pattern="q.jsonl"))
    edit(lambda content: content["dataset"]["label_file"].update(path="labels.jsonl"))
    load_again()
    second = choose("--by", "random", "--rows", "5")

    assert command.main(["--take", filled(second, "anna.csv", lambda _: "0")]) == 0

    assert len(read_entries(beside)) == 15
    assert not LABELS.exists()
    assert params.raw()["dataset"]["label_file"]["path"] == "labels.jsonl"


@pytest.mark.usefixtures("clone")
def test_a_pipeline_that_does_not_watch_the_labels_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    make_run()
    pipeline = Path("dvc.yaml").read_text(encoding="utf-8")
    Path("dvc.yaml").write_text(pipeline.replace("      - data/labels\n", ""), encoding="utf-8")

    status, said = told(capsys, "--rows", "3")

    assert status == 2
    assert "dvc.yaml: stage load does not watch data/labels" in said


@pytest.mark.usefixtures("clone")
def test_git_sees_no_sheet() -> None:
    make_run()

    assert command.main(["--rows", "3"]) == 0

    assert len([*Path("reports/label").glob("*.csv")]) == 1
    assert "label/" not in git.run("status", "--porcelain", "--untracked-files=all", "reports").stdout


@pytest.mark.usefixtures("clone")
def test_a_damaged_file_of_labels_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    make_run()
    LABELS.write_text("{}\n", encoding="utf-8")

    status, said = told(capsys, "--rows", "3")

    assert status == 2
    assert "data/labels/labels.jsonl, line 1: not written by flows.label (KeyError: 'id')" in said


def test_one_of_two_things_is_done() -> None:
    for arguments in ([], ["--rows", "3", "--take", "x.csv"], ["--rows", "0"]):
        with pytest.raises(SystemExit) as ended:
            command.main(arguments)
        assert ended.value.code == 2


@pytest.mark.usefixtures("project")
def test_without_a_run_it_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    status, said = told(capsys, "--rows", "3")

    assert status == 2
    assert "dvc repro" in said
