"""`python -m flows.robust`: systems, versions, targets, its forms, and what it says when it can't check."""

import json
from dataclasses import replace
from pathlib import Path

import dvc  # noqa: F401 (its log handlers keep the standard error of its first import)
import numpy as np
import pytest

from flows import compare
from flows.robust import main
from goldmeter.comparison import blocks
from goldmeter.comparison.measures import measures
from goldmeter.judging.earlier import EarlierVerdicts
from goldmeter.reporting import robust
from goldmeter.wording import robustness as wording
from tests.comparison.repository import write_params
from tests.comparison.sample import answers, version
from tests.small_project import edit


@pytest.fixture(autouse=True)
def _two_versions(tmp_path, monkeypatch):
    """Two versions in a folder that no git knows, and a primary measure."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    write_params()
    edit(lambda params: params["gate"].update(primary="f1", metrics={}))
    version(Path("old"), answers("+" * 20 + "." * 20))
    version(Path("new"), answers("+" * 38 + "." * 2))


def test_two_versions_as_a_sentence_a_table_and_what_it_is(capsys):
    assert main(["old", "new"]) == 0

    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith("Hardly tested: aurora of new is better than aurora of old by f1; no other judge is at hand")
    assert (
        "exact_match" not in said.split("A description of this data, no test")[0].split("Not counted")[0]
        or "holds" in said
    )


def test_all_of_it_as_json_and_as_markdown(capsys):
    assert main(["old", "new", "--json"]) == 0
    [document] = json.loads(capsys.readouterr().out)["conclusions"]
    assert (document["systems"], document["conclusion"]["verdict"]) == (["aurora of new", "aurora of old"], "better")

    assert main(["old", "new", "--markdown", "--measure", "exact_match"]) == 0
    assert capsys.readouterr().out.startswith("**")


def test_suspected_ids_are_left_out(capsys):
    Path("ids.txt").write_text("\n".join(f"q{number}" for number in range(20, 38)), encoding="utf-8")

    assert main(["old", "new", "--without", "ids.txt", "--json"]) == 0

    [document] = json.loads(capsys.readouterr().out)["conclusions"]
    assert [(one["n"], one["outcome"]) for one in document["checks"] if one["kind"] == "references"] == [
        (22, "undecided")
    ]


def test_verdicts_of_judges_that_were_asked_before_are_readings(capsys, monkeypatch):
    def verdicts(rows, judges):
        is_right = np.array([text == "right" for text in rows["response"].to_pylist()], float)
        yield from (EarlierVerdicts("meaning_match", name, "meaning_match|model:m", is_right) for name in judges)

    monkeypatch.setattr(robust, "committed_judges", lambda: ["abc", "def"])
    monkeypatch.setattr(robust, "earlier_verdicts", verdicts)

    assert main(["old", "new", "--json"]) == 0

    document = json.loads(capsys.readouterr().out)
    [found] = document["conclusions"]
    readings = [(one["name"], one["judge"]) for one in found["checks"] if one["kind"] == "measure"]
    assert (found["answer"], readings[-1]) == ("robust", ("meaning_match of abc", "m"))
    assert "meaning_match of def" not in dict(readings)  # the same verdicts of the same judge
    assert (document["one_more"]["model"], document["one_more"]["calls"]) == ("gpt-5-mini", 80)


def test_versions_in_several_blocks_are_checked_as_one(capsys, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 10)
    for name, signs in (("old", "+" * 20 + "." * 20), ("new", "+" * 38 + "." * 2)):
        version(Path(name), answers(signs), part_rows=10)

    assert main(["old", "new", "--json"]) == 0

    assert json.loads(capsys.readouterr().out)["conclusions"][0]["conclusion"]["n"] == 40


@pytest.mark.parametrize(("measure", "left"), [("f1", [22]), ("label", [])])
def test_references_that_the_run_suspects_are_left_out_unless_labels_decide(capsys, measure, left):
    for name, signs in (("old", "+" * 20 + "." * 20), ("new", "+" * 38 + "." * 2)):
        version(Path(name), answers(signs, label=True))
    Path("new/reports").mkdir()
    suspects = {"rows": [{"id": f"q{number}"} for number in range(18)]}
    Path("new/reports/metrics.json").write_text(json.dumps({"suspects": suspects}), encoding="utf-8")

    assert main(["old", "new", "--json", "--measure", measure]) == 0

    [document] = json.loads(capsys.readouterr().out)["conclusions"]
    assert [one["n"] for one in document["checks"] if one["kind"] == "references"] == left


@pytest.mark.parametrize(("primary", "shown"), [("f1", 1), ("f1.value", 0)])
def test_the_page_of_a_comparison_shows_it_where_the_primary_measure_is_a_pass_rate(primary, shown, monkeypatch):
    edit(lambda params: params["gate"].update(primary=primary))
    pages = []
    monkeypatch.setattr(compare, "write_page", lambda _, __, comparison: pages.append(page_of(comparison)))

    compare.compare_by_params("old", "new", renamed={}, rescore=False, page=Path("page.html"))

    assert pages[0].count("Hardly tested: aurora of new is better than aurora of old by f1") == shown


def page_of(comparison):
    return "".join(wording.sentence(pair["robust"]) for pair in comparison["pairs"] if "robust" in pair)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["nothing"], "neither git nor DVC knows such a version"),
        (["old", "new", "--measure", "f2"], "f2: no pass rate that all of them have"),
        (["old", "new", "--without", "none.txt"], "--without none.txt"),
        ([], "no run yet"),
    ],
)
def test_what_can_not_be_checked_is_said(capsys, given, message):
    assert main(given) == 2

    assert message in capsys.readouterr().err


@pytest.mark.parametrize("given", [["a", "b", "c"], ["--json", "--markdown"]])
def test_what_can_not_be_asked_is_refused(given):
    with pytest.raises(SystemExit) as ended:
        main(given)

    assert ended.value.code == 2


def test_a_judge_that_could_stop_is_not_checked_and_it_says_why(capsys, monkeypatch):
    def stopped(candidate):
        return {name: one._replace(column=replace(one.column, facts=replace(one.column.facts, stopped=True)))
                for name, one in measures(candidate).items()}  # fmt: skip

    monkeypatch.setattr(robust, "measures", stopped)

    assert main(["old", "new"]) == 2

    assert "(judge.stop), and this needs a fixed number of rows" in capsys.readouterr().err
