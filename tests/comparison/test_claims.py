"""What past logs claimed, tested: runs are found, aligned by question, and each claim has one verdict."""

import json
import os
import re
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchmarks import adopt
from benchmarks.adopt import MAKERS, Answer, Version
from goldmeter.comparison import found_logs
from goldmeter.comparison.claims import document, families, family
from goldmeter.comparison.found_logs import Found, Run, date_of, find
from goldmeter.errors import DataError
from goldmeter.wording.claims import AdoptDocument, Shown

Maker = Callable[[Version, Path], Path]


def version(place: int, rights: Sequence[bool | None], offset: int = 0, system: str = "model-1") -> Version:
    answers = [Answer(number + offset, f"Question {number + offset}?", right) for number, right in enumerate(rights)]
    return Version(place, system, answers)


def adopted(folder: Path, **options: bool) -> AdoptDocument:
    return document(find(folder, **options), folder.name)


def reasons(found: Found) -> dict[str, str]:
    return {one.file: one.reason for one in found.not_read}


def run(name: str = "m-1", file: str = "a", values: Sequence[float] = (1.0, 0.0), **changes: object) -> Run:
    keys = np.arange(len(values), dtype=np.uint64)
    scores, day = np.array(values), datetime(2026, 1, 1, tzinfo=UTC)
    measured = scores[~np.isnan(scores)]
    sums = {"s": (len(measured), float(measured.sum()))}
    made = Run("t", file, name, "", day, "log", len(values), keys, keys, None, {"s": scores}, sums, frozenset(), 0)
    return replace(made, **changes)  # type: ignore[arg-type]


def verdict(base: Run, head: Run) -> Shown:
    return document(Found([base, replace(head, file="b")], [], 2), "f")["claims"][0]["verdict"]


@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.__name__)
def test_each_tools_runs_are_aligned_by_question_whatever_the_order_of_their_ids(maker: Maker, tmp_path: Path) -> None:
    before = version(0, [False] * 30 + [True] * 10)
    after = version(1, [True] * 40, system="model-2")

    maker(before, tmp_path)
    maker(after._replace(answers=after.answers[::-1]), tmp_path)
    claim = adopted(tmp_path)["claims"][0]

    assert (claim["shared"], claim["difference"], claim["verdict"]) == (40, 0.75, Shown.REAL_WIN)


def test_a_run_is_dated_by_the_log_else_by_the_name_else_by_the_file(tmp_path: Path) -> None:
    file = tmp_path / "run_20260102_030405.json"
    file.touch()
    os.utime(tmp_path / file.name, (1_700_000_000, 1_700_000_000))
    other = file.rename(tmp_path / "run.json")

    assert date_of(file, {"eval": {"created": "2026-05-06T07:08:09Z"}}) == (
        datetime(2026, 5, 6, 7, 8, 9, tzinfo=UTC),
        "log",
    )
    assert date_of(file, {"created_at": 1_767_225_600})[0] == datetime(2026, 1, 1, tzinfo=UTC)
    assert date_of(file, {"created": "soon"}) == (datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "name")
    assert date_of(other, None)[1] == "file time"


def test_a_system_keeps_its_family_over_versions_and_two_of_one_log_are_two() -> None:
    both = [run("gpt-4o-2024-05-13"), run("gpt-4o-2024-08-06")]

    assert family("gpt-4o-mini-2024-07-18") == family("gpt-4.1-mini") != family("claude-3-haiku")
    assert families(both) == ["gpt-4o-2024-05-13", "gpt-4o-2024-08-06"]
    assert families([both[0], replace(both[1], file="b")]) == ["gpt", "gpt"]


def test_logs_that_name_no_system_succeed_each_other_whatever_their_files_are_called() -> None:
    assert families([run("baseline", "x/baseline.csv"), run("better", "x/better.csv")]) == ["", ""]


def test_noise_is_not_a_win_nor_a_regression() -> None:
    base, more = [1.0] * 50 + [0.0] * 50, [1.0] * 52 + [0.0] * 48

    assert verdict(run(values=base), run(values=more)) == Shown.WIN_NOT_SHOWN
    assert verdict(run(values=more), run(values=base)) == Shown.LOSS_NOT_SHOWN
    assert verdict(run(values=base), run(values=base, labels=1)) == Shown.UNCHANGED


def test_a_win_by_leaving_answers_out_of_the_denominator_is_not_real() -> None:
    base = run(values=[1.0] * 50 + [0.0] * 50)
    head = run(file="b", values=[np.nan] * 20 + [1.0] * 40 + [0.0] * 40, rows=100)

    said = document(Found([base, head], [], 2), "f")

    assert said["claims"][0]["verdict"] == Shown.UNMEASURED
    assert (said["runs"][1]["measured"], said["runs"][1]["rate"], said["runs"][1]["rate_of_all"]) == (80, 0.5, 0.4)


def test_failed_calls_that_were_wrong_before_leave_a_win_real() -> None:
    assert verdict(run(values=[0.0] * 40), run(values=[np.nan] * 10 + [1.0] * 30)) == Shown.REAL_WIN


def test_unmeasured_rows_of_few_conversations_are_as_uncertain_as_their_clusters() -> None:
    """12 of 20 conversations are won and 6 fail: 30 points of 100 rows, but of 20 that are independent."""
    base = run(values=[0.0] * 60 + [1.0] * 40)
    groups = np.repeat(np.arange(20, dtype=np.uint64), 5)
    head = run(values=[1.0] * 60 + [np.nan] * 30 + [1.0] * 10, groups=groups)

    assert verdict(base, head) == Shown.UNMEASURED


def test_scores_whose_sum_is_no_number_have_no_rate() -> None:
    said = document(Found([run(values=[1e308] * 20), run(file="b", values=[1.0] * 20)], [], 2), "f")

    assert (said["runs"][0]["rate"], said["claims"][0]["claimed"]) == (None, None)


def test_a_file_that_is_gone_when_it_is_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    adopt.promptfoo(version(0, [True, False]), tmp_path)
    monkeypatch.setattr(found_logs, "_is_beside", lambda path, *_: path.unlink())

    assert [one.file for one in find(tmp_path).not_read] == ["promptfoo_0.json"]


def test_runs_of_one_date_are_said_to_have_no_known_order() -> None:
    base, later = run(), run(file="b", labels=1, date=datetime(2026, 1, 2, tzinfo=UTC))

    claims = document(Found([base, replace(base, file="b", labels=1)], [], 2), "f")["claims"]
    others = document(Found([base, later], [], 2), "f")["claims"]

    assert "which came first is not known" in str(claims[0]["why"])
    assert others[0]["why"] is None


def test_less_is_better_of_scores_that_say_so() -> None:
    lower = frozenset({"s"})
    base, head = run(values=[1.0] * 30, lower_is_better=lower), run(values=[0.0] * 30, lower_is_better=lower)

    assert verdict(base, head) == Shown.REAL_WIN
    assert document(Found([base], [], 1), "f")["runs"][0]["rate_of_all"] is None


def test_more_runs_need_more_evidence() -> None:
    values = [*np.eye(7)[0], *np.zeros(93)], [*np.ones(7), *np.zeros(93)]  # p = 0.03
    alone = document(Found([run(values=values[0]), run(file="b", values=values[1])], [], 2), "f")
    many = document(Found([run(file=f"{i}", values=values[int(i == 5)], labels=i) for i in range(6)], [], 6), "f")

    assert alone["claims"][0]["verdict"] == Shown.REAL_WIN
    assert (many["claims"][-1]["tests"], many["claims"][-1]["verdict"]) == (5, Shown.WIN_NOT_SHOWN)


def test_equal_ids_with_other_texts_are_never_paired_unless_asked_for(tmp_path: Path) -> None:
    adopt.deepeval(version(0, [False] * 30), tmp_path)
    answers = [one._replace(text=f"Think. {one.text}") for one in version(1, [True] * 30).answers]
    adopt.deepeval(version(1, [])._replace(answers=answers), tmp_path)

    claim = adopted(tmp_path)["claims"][0]

    assert (claim["verdict"], claim["shared"]) == (Shown.NOT_COMPARED, 0)
    assert "--by-id" in str(claim["why"])
    assert adopted(tmp_path, by_id=True)["claims"][0]["verdict"] == Shown.REAL_WIN


def test_rows_without_a_question_are_not_paired_by_an_equal_reference(tmp_path: Path) -> None:
    for place in range(2):
        file = adopt.deepeval(version(place, [bool(place)] * 30), tmp_path)
        file.write_text(re.sub('"input": "[^"]*"', '"input": null', file.read_text()))

    (claim,) = adopted(tmp_path)["claims"]

    assert (claim["verdict"], claim["shared"]) == (Shown.NOT_COMPARED, 0)
    assert adopted(tmp_path, by_id=True)["claims"][0]["shared"] == 30


def test_runs_of_other_questions_do_not_succeed_each_other(tmp_path: Path) -> None:
    for place in range(4):
        made = version(place, [True] * 20, offset=1000 * (place % 2))
        names = [one._replace(text=f"{one.text} {place % 2}") for one in made.answers]
        file = adopt.deepeval(made._replace(answers=names), tmp_path)
        text = file.read_text().replace('"case ', f'"case {place % 2}/')
        file.write_text(text if place < 2 else text.replace('"score": 1.0', '"score": 0.0'))

    assert [(claim["base"], claim["head"]) for claim in adopted(tmp_path)["claims"]] == [(0, 2), (1, 3)]


def test_every_file_is_named_and_nothing_is_changed_or_followed(tmp_path: Path) -> None:
    adopt.inspect(version(0, [True, None]), tmp_path)
    whole = adopt.oaieval(version(0, [True, False]), tmp_path)
    (tmp_path / "half.jsonl").write_text("".join(whole.read_text().splitlines(keepends=True)[:-1]))
    (tmp_path / "copy.jsonl").write_bytes(whole.read_bytes())
    (tmp_path / "README.md").write_text("# Logs")
    (tmp_path / "plot.png").write_bytes(b"\x89PNG\r\n")
    (tmp_path / "empty.json").touch()
    (tmp_path / ".git").mkdir()
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "link.jsonl").symlink_to(whole)
    with zipfile.ZipFile(tmp_path / "inner.zip", "w") as archive:
        archive.write(whole, "a.jsonl")
    with zipfile.ZipFile(tmp_path / "zips.zip", "w") as archive:
        archive.write(tmp_path / "inner.zip", "inner.zip")
    os.mkfifo(tmp_path / "pipe")
    before = {path: path.lstat() for path in tmp_path.rglob("*")}

    found = find(tmp_path)

    assert {path: path.lstat() for path in tmp_path.rglob("*")} == before
    assert {one.file for one in found.runs} == {"inspect_0.json", "copy.jsonl"}
    said = reasons(found)
    assert "no line with final_report" in said["half.jsonl"]
    assert "a copy of the run in" in said[whole.name]
    assert said["zips.zip"] == "an archive, not opened; unpack it"
    assert {said[name] for name in ("loop", "link.jsonl")} == {
        "a link to a folder, not followed",
        "a link, not followed",
    }
    assert said.keys() >= {"README.md", "plot.png", "empty.json", ".git", "pipe"}


def test_a_log_that_would_fill_the_memory_is_refused_with_a_way(tmp_path: Path) -> None:
    adopt.promptfoo(version(0, [True] * 20), tmp_path)

    found = find(tmp_path, largest=100)

    assert not found.runs
    assert "--largest" in reasons(found)["promptfoo_0.json"]


def test_a_repeated_run_with_equal_scores_is_no_copy_if_the_logs_are_of_two_dates(tmp_path: Path) -> None:
    for place in range(2):
        adopt.inspect(version(place, [True, False] * 20), tmp_path)

    (claim,) = adopted(tmp_path)["claims"]

    assert (claim["verdict"], claim["difference"]) == (Shown.UNCHANGED, 0.0)


def test_two_runs_of_one_name_and_two_versions_in_one_folder_are_two_runs(tmp_path: Path) -> None:
    adopt.oaieval(version(0, [True] * 20), tmp_path)
    adopt.oaieval(version(1, [False] * 20), tmp_path)

    assert [one["system"] for one in adopted(tmp_path)["runs"]] == ["model-1", "model-1"]
    assert adopted(tmp_path)["claims"][0]["verdict"] == Shown.REAL_LOSS


def test_what_people_said_is_counted_and_never_a_score(tmp_path: Path) -> None:
    trace: dict[str, dict[str, object]] = {
        "info": {"trace_id": "t", "state": "OK", "request_preview": "Why?", "response_preview": "So."},
        "data": {"spans": []},
    }
    by = {"HUMAN": "ann", "LLM_JUDGE": "gpt"}
    said = [
        {
            "assessment_name": f"ok_{kind}",
            "source": {"source_type": kind, "source_id": who},
            "feedback": {"value": True},
        }
        for kind, who in by.items()
    ]
    trace["info"]["assessments"] = said
    (tmp_path / "traces.jsonl").write_text(json.dumps(trace))

    one = find(tmp_path).runs[0]

    assert (one.labels, [*one.scores]) == (1, ["ok_LLM_JUDGE"])


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no folder"):
        find(tmp_path / "gone")


scores = st.lists(st.sampled_from([0.0, 1.0, 0.5, np.nan, 3.0]), min_size=1, max_size=12)


@given(st.lists(scores, min_size=1, max_size=5))
@example([[0.0], [np.nan]])
@settings(max_examples=60, deadline=None)
def test_every_run_and_claim_is_json_and_a_verdict_agrees_with_its_interval(values: list[list[float]]) -> None:
    made = document(Found([run(file=str(i), values=one, labels=i) for i, one in enumerate(values)], [], 1), "f")

    json.dumps(made, allow_nan=False)
    assert len(made["runs"]) == len(values)
    for claim in made["claims"]:
        low = claim["low"] if claim["low"] is not None else -1.0
        assert (claim["verdict"] in {Shown.REAL_WIN, Shown.UNMEASURED}) == (claim["difference"] is not None and low > 0)


@given(st.dictionaries(st.sampled_from(["a.json", "b.jsonl", "c.csv", "d.eval", "e.gz"]), st.binary(max_size=200)))
@settings(max_examples=40, deadline=None)
def test_any_bytes_are_named_and_never_end_the_search(contents: dict[str, bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, content in contents.items():
            Path(folder, name).write_bytes(content)

        found = find(Path(folder))

    assert {one.file for one in found.not_read} | {one.file for one in found.runs} == contents.keys()


def test_the_benchmark_finds_no_wrong_alignment(tmp_path: Path) -> None:
    tallies = adopt.tallied(tmp_path, np.random.default_rng(1))

    assert len(tallies) == 24
    assert all(one.aligned for one in tallies)
    assert all(one.verdict == Shown.REAL_WIN for one in tallies if one.difference == 0.10)
