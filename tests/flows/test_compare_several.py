"""`python -m flows.compare V1 V2 V3 …`: each version against the first or the last, in every form."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prefect.client.schemas.objects import StateType

from flows import compare as flow
from flows.compare import main
from goldmeter.console.markdown import escaped
from goldmeter.errors import ComparisonError
from goldmeter.wording.verdicts import Decision
from tests.comparison.repository import write_params
from tests.comparison.sample import answers, version
from tests.small_project import edit

BEST, GOOD, BAD = "+" * 40, "+" * 39 + ".", "+" * 10 + "." * 30
NAMES = ("one", "two", "three", "four")


@pytest.fixture(scope="module", autouse=True)
def _folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Four versions: the best answers, nearly the same, bad ones, and the best again; `other` is of other data."""
    folder = tmp_path_factory.mktemp("several")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("GIT_CEILING_DIRECTORIES", str(folder.parent))
        write_params()
        edit(lambda params: params["gate"].update(primary="exact_match", confidence=0.97))
        for name, results in zip(NAMES, (BEST, GOOD, BAD, BEST), strict=True):
            version(Path(name), answers(results))
        version(Path("other"), answers(BEST, "another candidate"))
        yield


def found(capsys: pytest.CaptureFixture[str], *arguments: str, status: int) -> Any:
    """The document; the command must end with `status`."""
    ended = main([*arguments, "--json"])
    out, err = capsys.readouterr()
    assert (ended, err) == (status, "")
    return json.loads(out)


def verdicts(document: Any) -> list[tuple[str, str, str]]:
    """Both names of each comparison, and the verdict on the primary measure."""
    return [
        (one["base"]["name"], one["head"]["name"], one["document"]["pairs"][0]["measures"]["exact_match"]["verdict"])
        for one in document["comparisons"]
    ]


def test_each_version_is_compared_with_the_first(capsys: pytest.CaptureFixture[str]) -> None:
    document = found(capsys, *NAMES, status=0)

    assert verdicts(document) == [
        ("one", "two", "cannot tell"),
        ("one", "three", "worse"),
        ("one", "four", "unchanged"),
    ]


@pytest.fixture
def artifacts(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Each artifact's Markdown and description, in place of those of a server."""
    kept: list[tuple[str, str]] = []
    monkeypatch.setattr(
        flow, "create_markdown_artifact", lambda text, description, **_: kept.append((text, description))
    )
    return kept


@pytest.mark.parametrize(
    ("given", "kind", "name"),
    [
        ({"head": "three"}, StateType.FAILED, Decision.DO_NOT_SHIP.capitalize()),
        ({"head": "two", "more": ["four"]}, StateType.COMPLETED, "Ship"),
        ({"head": "two", "more": ["three"]}, StateType.FAILED, Decision.DO_NOT_SHIP.capitalize()),
        ({"head": "three", "more": ["two"]}, StateType.COMPLETED, "Undecided"),
    ],
)
def test_the_state_of_a_flow_run_is_named_by_the_decision_on_the_newest(
    artifacts: list[tuple[str, str]], given: dict[str, Any], kind: StateType, name: str
) -> None:
    state = flow.compare.fn("one", **given)

    assert (state.type, state.name) == (kind, name)
    document = flow._document(state)
    assert document["head"]["name"] == given.get("more", [given["head"]])[-1]
    [(text, description)] = artifacts
    assert description == escaped(state.message)
    assert all(version in text for version in ("one", given["head"], *given.get("more", ())))


def test_a_flow_renames_nothing_in_more_than_two_versions() -> None:
    with pytest.raises(ComparisonError, match="renamed: of two versions, not of more"):
        flow.compare.fn("one", "two", more=["three"], renamed={"a": "b"})


def test_each_version_is_compared_with_the_last(capsys: pytest.CaptureFixture[str]) -> None:
    document = found(capsys, "one", "two", "three", "--against", "last", status=1)

    assert verdicts(document) == [("one", "three", "worse"), ("two", "three", "worse")]


def test_the_comparisons_hold_together(capsys: pytest.CaptureFixture[str]) -> None:
    document, alone = found(capsys, *NAMES, status=0), found(capsys, "one", "three", status=1)

    gates = {one["document"]["gate"]["confidence"] for one in document["comparisons"]}
    [pair] = document["comparisons"][1]["document"]["pairs"]
    joint, plain = (one["measures"]["exact_match"]["difference"] for one in (pair, alone["pairs"][0]))
    assert document["confidence"] == 0.97
    assert [*gates] == [pytest.approx(0.99)]
    assert joint["value"] == plain["value"]
    assert joint["high"] - joint["low"] > plain["high"] - plain["low"]


def test_the_exit_status_is_that_of_the_last_version() -> None:
    assert main(["one", "three", "four"]) == 0
    assert main(["one", "four", "three"]) == 1


def test_a_version_that_cannot_be_compared_does_not_stop_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    document = found(capsys, "one", "other", "two", status=0)

    assert [one["document"] is None for one in document["comparisons"]] == [True, False]
    assert "no candidate in common" in document["comparisons"][0]["reason"]
    assert main(["one", "other", "two"]) == 0
    assert "not compared: no candidate in common" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (["one", "two", "other"], "no candidate in common"),
        (["one", "two", "one"], "one: named twice"),
        (["one", "two", "nowhere"], "nowhere: neither git nor DVC knows such a version"),
    ],
)
def test_what_cannot_be_decided_is_an_error(names: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(names) == 2
    assert says in capsys.readouterr().err


def test_the_terminal_and_markdown_say_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    main(["one", "two", "three", "--markdown"])
    as_markdown = capsys.readouterr().out
    main(["one", "two", "three"])
    on_terminal = " ".join(capsys.readouterr().out.split())

    for text in (as_markdown, on_terminal):
        assert f"one → three: {Decision.DO_NOT_SHIP.capitalize()}" in text
        assert "2 comparisons, whose intervals hold together with 97 % confidence" in text
        assert "difference from one" in text
    assert "| three | – | – | −75.0 points" in as_markdown
    assert "#### aurora: one → three" in as_markdown
