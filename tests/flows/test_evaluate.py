"""The flow on a small project: what runs, what is said, and how it ends. One story, told by few runs."""

import atexit
import json
import logging
import re
import sqlite3
from collections.abc import Callable
from socket import gethostname
from typing import Any, NamedTuple

import pytest
from prefect.settings import PREFECT_API_URL, temporary_settings

from flows import evaluate as flow
from goldmeter.console.markdown import escaped
from goldmeter.pipeline.dvc_yaml import forget_stages
from goldmeter.serving import flow_runs

Make = Callable[..., Any]

STAGES = {
    "load": [],
    "lexical": ["load"],
    "embed": ["load"],
    "judge": ["load"],
    "report": ["lexical", "embed", "judge"],
}


RUN_NAME = "nightly 2026-11-22 02:00 UTC"


class Ended(NamedTuple):
    status: int
    output: str
    started: list[str]


def metric(value: float) -> dict[str, Any]:
    limits = {"value": value, "low": 0.0, "high": 1.0}
    return {**limits, "n": 4, "n_not_asked": 0, "n_failed": 0, "pass_rate": limits}


DATASET = {"rows": 8, "rejected": 0, "rejected_reasons": {}, "truncated_texts": 0}


@pytest.fixture(scope="module")
def project(make_project: Make) -> Any:
    made = make_project(STAGES, retries={"default": 0, "lexical": 1, "embed": 1, "judge": 1})
    (made.folder / "reports").mkdir()
    (made.folder / "reports/index.html").write_text("")
    scores = {"small": {"exact_match": metric(0.25)}, "large": {"exact_match": metric(0.5)}}
    document = {"confidence": 0.95, "dataset": DATASET, "candidates": scores}
    (made.folder / "reports/metrics.json").write_text(json.dumps(document))
    return made


def evaluate(project: Any, *arguments: str, **environment: str) -> Ended:
    status, output = project.evaluate(*arguments, **environment)
    return Ended(status, output, project.started())


@pytest.fixture(scope="module")
def failed(project: Any) -> Ended:
    """One stage fails for a reason only the user can mend, two for another reason; each may be tried again once."""
    project.mode("lexical", "fail 2")
    project.mode("embed", "fail 1")
    project.mode("judge", "fail 1")
    return evaluate(project)


@pytest.fixture(scope="module")
def mended(project: Any, failed: Ended) -> Ended:
    """Three stages that end only when all three run at the same time."""
    assert failed.status == 2
    for stage in ("lexical", "embed", "judge"):
        project.mode(stage, "together lexical embed judge")
    return evaluate(project, "--retry-failed", GOLDMETER_FLOW_RUN=RUN_NAME)


@pytest.mark.long
def test_stages_that_read_from_others_wait_for_them_and_the_others_run_at_the_same_time(
    failed: Ended, mended: Ended
) -> None:
    assert mended.status == 0, mended.output
    assert failed.started[0] == "load -"
    assert sorted(mended.started[:3]) == ["embed -", "judge 1", "lexical -"]
    assert mended.started[3:] == ["report -"]


@pytest.mark.long
def test_what_stages_say_is_told_under_their_names_and_what_dvc_advises_is_not(mended: Ended) -> None:
    assert f"Beginning flow run '{RUN_NAME}' for flow 'evaluate'" in mended.output
    assert "Task run 'lexical' - lexical works on it" in mended.output
    hints = ["To track the changes", "git add", "auto staging", "autostage", "dvc push"]
    assert [hint for hint in hints if hint in mended.output.replace(flow.FIRST_RUN, "")] == []


def test_what_a_stage_says_is_no_hint() -> None:
    said = ["To track the changes with git, run: nothing", "git add", "Use `dvc push`", "lexical: Use `dvc push` to"]

    assert [line for line in said if flow._HINT.fullmatch(line)] == []


@pytest.mark.long
def test_a_run_ends_with_the_metrics_and_the_path_of_the_report(mended: Ended) -> None:
    *_, row, _, report = mended.output.splitlines()

    assert mended.output.count(flow.FIRST_RUN) == 1
    assert row.split() == ["exact_match", "25.0", "%", "[0,", "100]", "50.0", "%", "[0,", "100]"]
    assert report == "report: reports/index.html"


@pytest.mark.long
def test_prefect_keeps_the_same_summary_and_the_path_of_the_report(project: Any, mended: Ended) -> None:
    assert mended.status == 0
    with sqlite3.connect(project.folder.parent / "prefect/prefect.db") as database:
        kept = dict(database.execute("SELECT key, data FROM artifact").fetchall())

    table = json.loads(kept["summary"])
    assert "| exact_match | 25.0 % \\[0, 100\\] | 50.0 % \\[0, 100\\] |" in table
    assert json.loads(kept["report"]) == f"`{project.folder / 'reports/index.html'}` on {escaped(gethostname())}"


@pytest.mark.usefixtures("mended")
@pytest.mark.long
def test_everything_is_up_to_date_after_a_flow_and_no_process_looked_beyond_its_own_machine(project: Any) -> None:
    assert "Data and pipelines are up to date." in project.dvc("repro")
    assert project.started() == []
    hosts = set((project.folder / "connections.log").read_text().split())

    assert "127.0.0.1" in hosts
    assert hosts <= {"127.0.0.1", "::1", "localhost", "None"}


@pytest.mark.long
def test_a_failed_stage_fails_the_run_and_the_last_thing_printed_is_what_it_said(failed: Ended) -> None:
    assert failed.status == 2
    assert "Traceback" not in failed.output
    assert re.search("ERROR .* 'embed' - stage embed: exit status 1: embed: the reason and what to do\n", failed.output)
    assert failed.output.endswith(
        "\nstage lexical: exit status 2\n\nlexical: the reason\n  and what to do\n"
        "\nstage embed: exit status 1\n\nembed: the reason\n  and what to do\n"
        "\nstage judge: exit status 1\n\njudge: the reason\n  and what to do\n"
    )


@pytest.mark.long
def test_what_only_the_user_can_mend_is_not_tried_again(failed: Ended) -> None:
    assert failed.started.count("lexical -") == 1
    assert failed.started.count("embed -") == failed.started.count("judge -") == 2


@pytest.mark.usefixtures("mended")
@pytest.mark.long
def test_the_attempts_of_a_judge_share_a_file_of_what_they_spent_and_each_run_begins_anew(project: Any) -> None:
    assert (project.folder / "attempts.judge").read_text().split() == ["x", "xx", "x"]
    assert not (project.folder / "attempts.embed").exists()


@pytest.mark.long
def test_what_reads_from_a_failed_stage_is_skipped(failed: Ended) -> None:
    assert "report -" not in failed.started
    [ended] = re.findall("(INFO|ERROR) .* 'report' - (Finished.*)", failed.output)
    assert ended[0] == "INFO"
    assert re.fullmatch(r"Finished in state Skipped\('not run: stage \w+ failed', type=COMPLETED\)", ended[1])


@pytest.mark.long
def test_batches_that_are_at_work_end_the_run_without_a_failure(make_project: Make) -> None:
    project = make_project(STAGES, retries={"default": 2})
    project.mode("judge", "at work")

    status, output = project.evaluate()

    assert status == 75, output
    assert output.endswith("\njudge: batches are at work at http://h: 0 of 9\n")
    assert sorted(project.started()) == ["embed -", "judge -", "lexical -", "load -"]


def test_a_run_whose_artifacts_prefect_does_not_take_is_good(
    project: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def unavailable(*_: object, **__: object) -> None:
        raise RuntimeError("503 Service Unavailable")

    monkeypatch.chdir(project.folder)
    monkeypatch.setattr(flow_runs, "create_markdown_artifact", unavailable)
    monkeypatch.setattr(flow, "get_run_logger", lambda: logging.getLogger("seen"))
    monkeypatch.setattr(flow, "_run_stages", lambda *_, **__: [])

    flow.evaluate.fn()

    assert caplog.messages == ["artifact: not delivered"]
    assert "503 Service Unavailable" in caplog.text


def refused(project: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """The error of a run that ends before anything starts."""
    monkeypatch.chdir(project.folder)
    monkeypatch.setattr(atexit, "register", lambda *_: None)
    forget_stages()
    try:
        assert flow.main([]) == 2
    finally:
        forget_stages()
    assert project.started() == []
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("run", "error"),
    [
        ({"timeouts": {"default": 300, "laod": 5}}, "run.timeouts.laod: no such stage; allowed: default, load"),
        ({"retries": {"load": 5}}, "run.retries.default: missing; it stands for the stages that are not named"),
    ],
)
def test_a_misspelt_stage_or_a_missing_default_fails_before_anything_starts(
    make_project: Make,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    run: dict[str, Any],
    error: str,
) -> None:
    assert refused(make_project({"load": []}, **run), monkeypatch, capsys) == f"error: {error}\n"


def test_a_misspelt_option_of_any_stage_fails_before_anything_starts(
    make_project: Make, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project = make_project({"load": [], "lexical": ["load"]})
    project.params["lexical"]["f1"]["treshold"] = 0.5
    project.write_params()

    error = refused(project, monkeypatch, capsys)

    assert error.startswith("error: lexical.f1.treshold: ")
    assert error.count("treshold") == 1


def test_a_server_that_does_not_answer_is_told_before_anything_starts(
    make_project: Make, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    nowhere = "http://127.0.0.1:9/api"

    with temporary_settings(updates={PREFECT_API_URL: nowhere}):
        error = refused(make_project({"load": []}), monkeypatch, capsys)

    assert (
        error == f"error: PREFECT_API_URL={nowhere}: no Prefect server answers there; start it, or unset the variable\n"
    )
