"""The lineage in a validation report: code, params and libraries, and no password."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.errors import ContractError
from goldmeter.pipeline.dvc_yaml import StageEntry, stages
from goldmeter.pipeline.lineage import _plain, dependency_versions, lineage
from goldmeter.pipeline.revisions import own_version, revision_of
from goldmeter.pipeline.yaml import load_yaml
from goldmeter.runner import run
from tests.small_project import ROOT, ROWS, edit, write

CODE = {
    "tasks/one.py": b"import numpy as np\nfrom goldmeter.estimates import x\nimport os\n    import scipy.stats\n",
    "tasks/many/a.py": b"from pyarrow.compute import equal\nimport a_library_that_is_nowhere\n",
    "tasks/many/words.txt": b"import pandas\n",
    "tasks/many/b/__init__.py": b"",
}
STAGE = StageEntry("one", "", "", ("data/load", "tasks/one.py", "tasks/many"), ("dataset",), ())


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Code of one file and one folder, with what Python compiled beside it."""
    for name, content in {**CODE, "tasks/many/__pycache__/a.cpython-311.pyc": b"1", "tasks/many/a.pyc": b"2"}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    return tmp_path


def code(tree: Path) -> str:
    return str(lineage(STAGE, tree)["code"])


def test_the_same_code_has_the_same_hash_wherever_it_lies_and_whatever_is_compiled(tree: Path, tmp_path: Path) -> None:
    before = code(tree)
    shutil.copytree(tree / "tasks", tmp_path / "elsewhere/tasks", ignore=shutil.ignore_patterns("*.pyc"))

    assert code(tmp_path / "elsewhere") == before
    assert before == "e8e83aa552dc71d3cd77f27acd5fd28bc50622ce4d8532f1751dbfbe9ed494f7"


@pytest.mark.parametrize("name", CODE)
def test_another_byte_of_any_file_is_another_hash(tree: Path, name: str) -> None:
    before = code(tree)
    with (tree / name).open("ab") as file:
        file.write(b"#")

    assert code(tree) != before


def test_a_file_of_another_name_is_another_hash(tree: Path) -> None:
    before = code(tree)
    (tree / "tasks/many/a.py").rename(tree / "tasks/many/c.py")

    assert code(tree) != before


@pytest.mark.usefixtures("project")
def test_versions_are_those_of_goldmeter_of_what_it_needs_and_of_what_the_stage_imports(tree: Path) -> None:
    (tree / "tasks/one.py").write_bytes(b"import os, rouge_score\nimport pytest\nfrom goldmeter import score\n")
    versions = lineage(STAGE, tree)["versions"]

    assert versions.items() >= dependency_versions().items()
    assert versions.keys() - dependency_versions().keys() == {"pytest"}
    assert {"python", "goldmeter", "numpy", "scipy", "torch"} <= versions.keys()
    assert not {"math-verify", "openvino", "ruff"} & versions.keys()  # an extra may be installed or not
    assert versions["goldmeter"] == own_version()


@pytest.mark.usefixtures("project")
def test_the_revision_is_that_of_the_librarys_part_of_the_stage() -> None:
    assert lineage(stages()["lexical"])["revision"] == revision_of("lexical")
    assert "revision" not in lineage(STAGE._replace(deps=()))


@pytest.mark.usefixtures("project")
def test_params_are_the_sections_of_the_stage_as_they_are_written() -> None:
    seen = lineage(stages()["embed"])["params"]

    assert list(seen) == ["embed", "semantic"]
    assert seen["semantic"]["similarity"] == {"threshold": 3.0}


@pytest.mark.usefixtures("project")
def test_what_an_address_says_of_a_user_is_hidden() -> None:
    edit(lambda p: p["dataset"].update(path="s3://me:pa/ss@w0rd@bucket/data.csv?sig=abc&part=1"))

    seen = lineage(stages()["load"])["params"]["dataset"]

    assert seen["path"] == "s3://***@bucket/data.csv?sig=***"


def test_what_is_named_like_a_credential_is_hidden() -> None:
    secrets = {"api_key": "sk-0123 4567", "API-KEY": ["sk-0123"], "password": 1234, "token": {"a": "sk-0123"}}
    secrets |= {"X-Secret": "https://host/hook", "Authorization": "Basic 0123"}

    assert _plain({"deep": [secrets], "temperature": 0.5}) == {
        "deep": [dict.fromkeys(secrets, "***")],
        "temperature": 0.5,
    }


@pytest.mark.parametrize("key", ["api_key_env", "max_tokens", "key", "style", "secrets_of_state"])
def test_what_only_sounds_like_a_credential_stays(key: str) -> None:
    assert _plain({key: "KEY", "api_key": None}) == {key: "KEY", "api_key": None}


@pytest.mark.usefixtures("project")
def test_values_that_only_yaml_has_become_what_json_has() -> None:
    text = "dataset: {a: 2026-11-22, b: .nan, c: [no, -.inf, ~, 0.5]}\n"
    Path("params.yaml").write_text(text, encoding="utf-8")

    seen = lineage(STAGE._replace(deps=()))["params"]

    assert {name: seen["dataset"][name] for name in "abc"} == {
        "a": "2026-11-22",
        "b": "nan",
        "c": ["no", "-inf", None, 0.5],
    }


TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc")))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(VALUES, st.text("abcdefXYZ0189!?", min_size=6))
def test_any_params_are_json_that_every_parser_reads_and_hold_no_password(value: Any, password: str) -> None:
    plain = _plain([value, {"base_url": f"https://me:{password}@host.example/v1", "api_key": f":{password}@"}])

    text = json.dumps(plain, allow_nan=False)

    assert f":{password}@" not in text
    assert json.loads(text) == plain
    assert _plain(plain) == plain


@pytest.mark.long
@pytest.mark.usefixtures("project")
def test_a_stage_writes_its_lineage_into_its_validation_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goldmeter.pipeline.workers.ROWS_A_WORKER", 5)
    edit(lambda p: p["run"].update(workers=1))
    for stage in ("load", "normalize"):
        run(stage)
    whole = json.loads(Path("reports/validation/normalize.json").read_bytes())
    edit(lambda p: (p["load"].update(part_rows=6), p["run"].update(workers=2)))

    for stage in ("load", "normalize"):
        run(stage)

    report = json.loads(Path("reports/validation/normalize.json").read_bytes())
    assert report == whole
    assert report["made"] == lineage(stages()["normalize"])
    assert report["made"]["params"]["normalize"] == load_yaml(Path("params.yaml"))["normalize"]


def test_a_report_about_a_broken_contract_has_the_lineage_too(project: Path) -> None:
    write(project, [*ROWS[:5], *(row | {"references": []} for row in ROWS[5:])])

    with pytest.raises(ContractError):
        run("load")

    assert json.loads(Path("reports/validation/load.json").read_bytes())["made"] == lineage(stages()["load"])


@pytest.mark.parametrize("stage", [name for name in stages() if name != "report"])
def test_every_stage_names_python_and_the_libraries_of_its_code(stage: str) -> None:
    found = lineage(stages()[stage])

    assert {"python", "pyarrow", "pydantic"} <= set(found["versions"])
    assert len(found["code"]) == 64
    assert str(ROOT) not in json.dumps(found)
