"""JUnit XML: valid whatever the names hold, and red exactly when the gate is."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from goldmeter.comparison.of_versions import compare_versions
from goldmeter.errors import ExportError
from goldmeter.exports.junit import Case, export, to_suites, to_xml
from goldmeter.wording import comparison_lines
from tests.comparison.sample import answers, gate, version
from tests.exports.conftest import RIGHT, put, told
from tests.hostile_texts import TEXTS
from tests.reporting.made import row

SCHEMA = etree.XMLSchema(etree.parse(Path(__file__).parent / "schemas/junit-10.xsd"))
RESULTS = {"failure", "error", "skipped"}


def read(text: str) -> Any:
    """The parsed document, which is valid."""
    root = etree.fromstring(text.encode())
    SCHEMA.assertValid(root)
    return root


def outcomes(root: Any) -> dict[str, str]:
    """Class and name of each test case → how it ended."""
    return {
        f"{case.get('classname')}: {case.get('name')}": next((one.tag for one in case if one.tag in RESULTS), "passed")
        for case in root.iter("testcase")
    }


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What a gate says of pairs of versions, by name and by what stops a release."""
    folder, good = tmp_path_factory.mktemp("versions"), "+" * 20
    base = version(folder / "base", answers(good))
    asked = [("same", "worse", good), ("worse", "worse", "." * 20)]
    asked += [("undecided", fail_on, "+" * 19 + ".") for fail_on in ("worse", "cannot_tell")]
    return {
        (name, fail_on): compare_versions(base, version(folder / name, answers(text)), gate(fail_on=fail_on))
        for name, fail_on, text in asked
    }


@pytest.mark.parametrize(
    ("name", "fail_on", "primary"),
    [
        ("same", "worse", "passed"),
        ("worse", "worse", "failure"),
        ("undecided", "worse", "skipped"),
        ("undecided", "cannot_tell", "failure"),
    ],
)
def test_a_case_ends_as_its_measure_does(compared: Any, name: str, fail_on: str, primary: str) -> None:
    found = outcomes(read(to_xml([*to_suites([compared[name, fail_on]])])))

    assert found["aurora: f1 (primary)"] == primary
    assert set(found) == {
        "release gate: release gate", "aurora: f1 (primary)", "aurora: exact_match (guard)", "aurora: bleu (guard)",
    }  # fmt: skip


def test_the_file_is_red_exactly_when_the_gate_is(compared: Any) -> None:
    for document in compared.values():
        root = read(to_xml([*to_suites([document])]))
        red = int(root.get("failures")) + int(root.get("errors"))

        assert (red > 0) == (comparison_lines.outcome(document).status != 0)
        assert int(root.get("tests")) == len(outcomes(root))


def test_a_measure_that_the_gate_asks_for_and_that_is_not_compared_is_an_error(compared: Any) -> None:
    document = copy.deepcopy(compared["same", "worse"])
    del document["pairs"][0]["measures"]["f1"]
    document["pairs"][0]["refused"] = [{"measure": "f1", "role": "primary", "reason": "other rows", "blocks": True}]

    assert outcomes(read(to_xml([*to_suites([document])])))["aurora: f1 (primary)"] == "error"


@given(texts=st.lists(st.text(st.characters(), max_size=20) | st.sampled_from(TEXTS), min_size=4, max_size=4))
def test_any_text_is_valid_xml(texts: list[str]) -> None:
    name, case, message, numbers = texts

    root = read(to_xml([(name, [Case(case, "failure", message, numbers), Case(case, None, "")])]))

    assert root.get("tests") == "2"
    assert len(root.findall(".//failure")) == 1


def test_two_versions_and_their_json_give_the_same_file(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from flows.compare import main

    main(["v1", "--json", "comparison.json"])
    capsys.readouterr()

    assert told(capsys, "junit", "a.xml", "v1") == (0, "a.xml: 3 test cases\n", "")
    assert told(capsys, "junit", "b.xml", "comparison.json") == (0, "b.xml: 3 test cases\n", "")
    assert (run / "a.xml").read_bytes() == (run / "b.xml").read_bytes()


def test_several_versions(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from flows.compare import main

    put([*RIGHT[:20], *[row(one["id"], one["candidate"], "Rome", False, 0.0, 0.1) for one in RIGHT[20:]]], run / "v2")
    main(["v1", "v2", "workspace", "--json", "comparison.json"])
    capsys.readouterr()

    assert told(capsys, "junit", "all.xml", "comparison.json")[0] == 0
    found = outcomes(read((run / "all.xml").read_text(encoding="utf-8")))
    assert found["release gate v1 → v2: release gate"] == found["aurora v1 → v2: label (primary)"] == "failure"
    assert found["aurora v1 → workspace: label (primary)"] == "passed"


@pytest.mark.parametrize("content", ["", "[]", "{}", '"x"', '{"comparisons": [{}]}', '{"pairs": 1}', "[" * 100_000])
def test_what_is_no_comparison_is_refused_in_a_line(
    run: Path, capsys: pytest.CaptureFixture[str], content: str
) -> None:
    (run / "x.json").write_text(content, encoding="utf-8")

    status, _, err = told(capsys, "junit", "a.xml", "x.json")

    assert status == 2
    assert err.startswith("error: x.json: no comparison as JSON (")
    assert "flows.compare BASE --json FILE" in err
    assert not (run / "a.xml").exists()


@pytest.mark.parametrize("key", ["decision", "gate", "pairs", "failed"])
def test_a_damaged_comparison_is_refused(compared: Any, key: str, tmp_path: Path) -> None:
    content = {name: value for name, value in compared["worse", "worse"].items() if name != key}
    (tmp_path / "x.json").write_text(json.dumps(content), encoding="utf-8")

    with pytest.raises(ExportError, match="no comparison as JSON"):
        export(tmp_path / "a.xml", str(tmp_path / "x.json"), "workspace")


def test_targets_that_can_not_be_written(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (run / "link").symlink_to("elsewhere.xml")

    assert told(capsys, "junit", "no/a.xml", "v1")[::2] == (
        2, "error: no/a.xml: there is no folder no; create it first\n",
    )  # fmt: skip
    for target in ("v1", "link"):
        assert told(capsys, "junit", target, "v1")[::2] == (
            2, f"error: {target}: is no regular file; expected the path of a file to write\n",
        )  # fmt: skip
