"""`--json` of every command: one object on standard output, as its schema in docs/reference/json says."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import flows.compare
import flows.robust
from benchmarks import adopt as made
from goldmeter.console.json_output import print_json
from goldmeter.dataset.proposal import command as init
from goldmeter.history import store
from goldmeter.labelling import command as label
from goldmeter.project import adopt
from scripts.reference import json_output
from scripts.reference.json_output import DOCUMENTS, schema, text
from tasks.__main__ import main
from tests.exports.conftest import with_derived_numbers
from tests.labelling.made_run import make_run
from tests.labelling.test_round_trip import filled
from tests.reporting.past import entry, past
from tests.small_project import ROOT

Prepare = Callable[[Path], list[str]]


def nothing(_: Path) -> list[str]:
    return []


def a_history(_: Path) -> list[str]:
    store.path().parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(past(entry(), entry(candidate="borealis", alarm="aurora f1: worse than v1 by 0.100")), store.path())
    return []


def an_attestation(run: Path) -> list[str]:
    with_derived_numbers(run)
    assert main(["attest", "x.json"]) == 0
    return ["x.json"]


def a_table(run: Path) -> list[str]:
    (run / ".dvc").mkdir()
    (run / "mine.csv").write_text("question,gold,answer_v1\nWho?,me,me\nWhat?,this,that\n", encoding="utf-8")
    return ["mine.csv"]


def logs(run: Path) -> list[str]:
    folder = run / "logs"
    folder.mkdir()
    for place in range(3):
        answers = [made.Answer(n, f"Question {n}?", n % 3 > place or None) for n in range(20)]
        made.promptfoo(made.Version(place, f"model-{place}", answers), folder)
    (folder / "other.txt").write_text("?")
    return [str(folder)]


def a_run_to_label(run: Path) -> list[str]:
    (run / ".dvc").mkdir()
    shutil.rmtree("data")
    Path("data/labels").mkdir(parents=True)
    make_run()
    return ["--rows", "4", "--output", "out"]


def a_labelled_sheet(run: Path) -> list[str]:
    assert label.main(a_run_to_label(run)) == 0
    return ["--take", filled(next(Path("out").glob("*.csv")), "anna.csv", lambda _: "1")]


PREPARED: dict[str, Prepare] = {
    "init": a_table,
    "adopt": logs,
    "label-rows": a_run_to_label,
    "label-take": a_labelled_sheet,
    "history": a_history,
    "compare": lambda _: ["v1"],
    "compare-several": lambda _: ["v1", "workspace", "v2"],
    "attest": lambda run: with_derived_numbers(run) or ["x.json"],
    "recheck": an_attestation,
}
MAIN = {
    "init": init.main,
    "adopt": adopt.main,
    "label-rows": label.main,
    "label-take": label.main,
    "compare": flows.compare.main,
    "compare-several": flows.compare.main,
    "robust": flows.robust.main,
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_object_is_as_its_schema_says(
    name: str, run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, function in ((init, "_load"), (init.show, "loaded"), (init, "texts_to_embed")):
        monkeypatch.setattr(module, function, lambda *_: False)
    subprocess.run(["git", "init", "-q"], check=True)
    subprocess.run(["cp", "-r", "v1", "v2"], check=True)
    arguments = [*PREPARED.get(name, nothing)(run), "--json"]
    capsys.readouterr()

    status = MAIN[name](arguments) if name in MAIN else main([name, *arguments])

    said = capsys.readouterr()
    assert status == 0, said.err
    jsonschema.validate(json.loads(said.out), schema(name))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_schema_that_is_published_is_the_one_of_the_code(name: str) -> None:
    assert (ROOT / json_output.FOLDER / f"{name}.json").read_text(encoding="utf-8") == text(name)
    jsonschema.Draft202012Validator.check_schema(schema(name))


@given(st.dictionaries(st.text(), st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text())))
def test_any_text_is_json_for_any_terminal(document: dict[str, object]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        written: list[str] = []
        patched.setattr("sys.stdout.write", written.append)
        print_json(document)

    assert json.loads("".join(written)) == {"schema": 1} | document
    assert "".join(written).isascii()
