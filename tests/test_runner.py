"""The runner on small data: atomic, validated, and the same bytes whatever the parts and workers."""

import gc
import json
import os
import shutil
import subprocess
import sys
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from goldmeter import runner
from goldmeter.errors import ContractError, DataError, GoldmeterError, ServerError
from goldmeter.pipeline.files import lock_opened
from goldmeter.pipeline.progress import Progress
from goldmeter.pipeline.stage import load_stage
from goldmeter.pipeline.workers import threads_of
from goldmeter.runner import run
from tasks.__main__ import main
from tests.small_project import ROWS, edit, files, mount, only_words, write


def test_stages_write_their_tables_and_what_was_checked(project: Path) -> None:
    for stage in ("load", "normalize", "lexical"):
        run(stage)

    assert pq.read_table("data/lexical").num_rows == 20
    report = json.loads((project / "reports/validation/lexical.json").read_text(encoding="utf-8"))
    assert report["success"]
    assert report["counts"] == {"rows": 20, "rows_normalize": 20}
    assert len(report["checks"]) > 20


@pytest.mark.usefixtures("project")
def test_progress_counts_records_and_the_rows_of_whole_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    edit(lambda p: p["load"].update(part_rows=6))
    calls: dict[str, list[tuple[str, int, int | None]]] = {}

    @contextmanager
    def display(step: str) -> Iterator[Progress]:
        of_step = calls.setdefault(step, [])

        def progress(
            what: str, done: int, total: int | None = None, *, share: float | None = None, note: str = ""
        ) -> None:
            assert (share, note) == (None, "")
            of_step.append((what, done, total))

        yield progress

    monkeypatch.setattr(runner, "display", display)
    monkeypatch.setattr("goldmeter.dataset.record.BATCH_ROWS", 5)
    for stage in ("load", "normalize"):
        run(stage)

    assert calls == {
        "load": [("records", 5, None), ("records", 10, None), ("records", 5, 10), ("records", 10, 10)],
        "normalize": [("rows", 0, 20), ("rows", 6, 20), ("rows", 12, 20), ("rows", 18, 20), ("rows", 20, 20)],
    }


@pytest.mark.usefixtures("project")
def test_running_again_gives_the_same_bytes() -> None:
    run("load")
    before = files("data/load")

    run("load")

    assert files("data/load") == before


@pytest.mark.long
@pytest.mark.usefixtures("project")
def test_parts_and_workers_give_the_same_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goldmeter.pipeline.workers.ROWS_A_WORKER", 5)
    for stage in ("load", "normalize", "lexical"):
        run(stage)
    whole = pq.read_table("data/lexical").to_pylist()
    edit(lambda p: (p["load"].update(part_rows=6), p["run"].update(workers=2)))

    for stage in ("load", "normalize", "lexical"):
        run(stage)

    assert len(files("data/lexical")) == 4
    assert pq.read_table("data/lexical").to_pylist() == whole


@pytest.mark.long
def test_records_mapped_by_workers_give_the_same_bytes(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goldmeter.dataset.record.BATCH_ROWS", 4)
    write(project, [*ROWS, ROWS[0] | {"id": "r", "references": []}, ROWS[0]])
    edit(lambda p: (p["load"].update(part_rows=6, max_rejected=1), p["run"].update(workers=2)))
    run("load")
    expected = files("data/load") | files("data/load_rejected") | files("reports/validation")

    monkeypatch.setattr("tasks.load.SMALLEST", 0)
    run("load")

    assert len(files("data/load")) == 4
    assert expected == files("data/load") | files("data/load_rejected") | files("reports/validation")
    reasons = pq.read_table("data/load_rejected")["reason"].to_pylist()
    assert reasons[-1] == "the id 'q0' (dataset.id: id) is also in data/examples/qa.jsonl, line 1"


def test_a_line_that_is_no_json_is_named(project: Path) -> None:
    with (project / "data/examples/qa.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"id": 1, "id": 2}\n')

    with pytest.raises(DataError, match=r"qa\.jsonl, line 11, column 1: not JSON: the key 'id' appears twice"):
        run("load")

    assert not Path("data/load").exists()


@pytest.mark.exhaustive
@pytest.mark.usefixtures("project")
def test_the_offline_judge_by_part_gives_the_same_rows_and_no_evidence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("goldmeter.pipeline.workers.ROWS_A_WORKER", 5)
    for stage in ("load", "normalize", "judge"):
        run(stage)
    whole = pq.read_table("data/judge").to_pylist()
    edit(lambda p: (p["load"].update(part_rows=6), p["run"].update(workers=2), p["judge"].update(canaries=True)))

    for stage in ("load", "normalize", "judge"):
        run(stage)

    assert len(files("data/judge")) == 4
    assert pq.read_table("data/judge").to_pylist() == whole
    assert files("data/ledger/judge") == {"data/ledger/judge/verdicts.jsonl": b""}


@pytest.mark.usefixtures("project")
def test_as_many_processes_start_as_have_something_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    pools: list[int] = []

    class Pool(ThreadPoolExecutor):
        def __init__(self, workers: int, **_: object) -> None:
            pools.append(workers)
            super().__init__(1)

    monkeypatch.setattr("goldmeter.pipeline.workers.ProcessPoolExecutor", Pool)
    edit(lambda p: p["load"].update(part_rows=6))
    run("load")
    for wanted, rows_a_worker, started in ((8, 5, [4]), (2, 5, [2]), (8, 20, [])):
        monkeypatch.setattr("goldmeter.pipeline.workers.ROWS_A_WORKER", rows_a_worker)
        edit(lambda p, wanted=wanted: p["run"].update(workers=wanted))  # type: ignore[misc]
        pools.clear()
        run("normalize")
        assert pools == started


def test_threads_are_shared_by_the_processes_unless_the_user_has_said_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goldmeter.pipeline.workers.cores", lambda: 8)
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "5")

    with threads_of(3):
        code = "import os, pyarrow; print(os.environ['NUMBA_NUM_THREADS'], pyarrow.cpu_count())"
        seen = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout

    assert seen == "2 5\n"
    assert "NUMBA_NUM_THREADS" not in os.environ


def test_a_table_that_breaks_its_contract_is_not_written(project: Path) -> None:
    run("load")
    before = files("data/load")
    write(project, [*ROWS[:5], *(row | {"references": []} for row in ROWS[5:])])

    with pytest.raises(ContractError, match=r"(?s)load: .*not written.*rows_load_rejected 10"):
        run("load")

    assert files("data/load") == before
    report = json.loads((project / "reports/validation/load.json").read_text(encoding="utf-8"))
    assert not report["success"]
    assert not list((project / "data").glob(".*"))


@pytest.mark.parametrize("stage", ["normalize", "judge"])
def test_rows_in_another_order_than_those_of_the_input_are_not_written(
    stage: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit(lambda p: (p["load"].update(part_rows=6), p["judge"].update(provider="none")))
    for earlier in ("load", "normalize"):
        run(earlier)
    honest = load_stage(stage)

    def turned(computed: Any) -> pa.Table:
        table = computed if isinstance(computed, pa.Table) else computed[stage]
        is_third = table["id"][0].as_py() == "q6"
        return table.take([0, 2, 1, *range(3, table.num_rows)]) if is_third else table

    def whole(*given: Any) -> Iterator[Any]:
        return ({stage: turned(output[stage])} for output in honest.whole(*given))  # type: ignore[misc]

    by_part = honest.by_part and (lambda *given: turned(honest.by_part(*given)))  # type: ignore[misc]
    wrong = replace(honest, by_part=by_part, whole=honest.whole and whole)
    monkeypatch.setattr("goldmeter.runner.load_stage", lambda _: wrong)

    with pytest.raises(
        ContractError, match=r"of_input\(id candidate, table \w+\): 2 of 20 rows, first: part-00002, row 1: q7"
    ):
        run(stage)

    report = json.loads((project / f"reports/validation/{stage}.json").read_text(encoding="utf-8"))
    assert [each["failed"] for each in report["checks"] if each["expectation"].endswith("of_input")] == [2]


def test_an_id_in_two_parts_is_not_written(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edit(lambda p: p["load"].update(part_rows=6))
    honest = load_stage("load")

    def twice(*given: Any) -> Iterator[Any]:
        first, *others = honest.whole(*given)  # type: ignore[misc]
        yield from (first, *others, first)

    monkeypatch.setattr("goldmeter.runner.load_stage", lambda _: replace(honest, whole=twice))

    with pytest.raises(
        ContractError, match=r"to_be_unique\(id candidate\): 12 of 26 rows, first: q0/aurora, q0/borealis"
    ):
        run("load")

    assert not (project / "data/load").exists()


@pytest.mark.usefixtures("project")
def test_what_a_part_leaves_is_freed_before_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    class Cycle:
        def __init__(self) -> None:
            self.itself = self

    edit(lambda p: p["load"].update(part_rows=6))
    run("load")
    honest, left, alive = load_stage("normalize"), [], []

    def littering(*given: Any) -> pa.Table:
        alive.append(sum(each() is not None for each in left))
        left.append(weakref.ref(Cycle()))
        return honest.by_part(*given)  # type: ignore[misc]

    monkeypatch.setattr("goldmeter.runner.load_stage", lambda _: replace(honest, by_part=littering))
    gc.disable()
    try:
        run("normalize")
    finally:
        gc.enable()

    assert alive == [0, 0, 0, 0]


def test_what_a_killed_run_left_is_swept_by_the_next(project: Path) -> None:
    (project / "data/.load.tmp/data/load").mkdir(parents=True)
    (project / "data/.load.tmp/data/load/part-00007.parquet").write_bytes(b"half")

    run("load")

    assert [Path(name).name for name in files("data/load")] == ["part-00000.parquet"]


def test_what_a_run_killed_while_publishing_had_set_aside_is_put_back(project: Path) -> None:
    run("load")
    aside = project / "data/.load.tmp/before/data/load_rejected"
    aside.parent.mkdir(parents=True)
    (project / "data/load_rejected").replace(aside)
    write(project, [{"id": "broken"}])

    with pytest.raises(GoldmeterError):
        run("load")

    assert (project / "data/load_rejected/part-00000.parquet").exists()


def test_outputs_of_a_mounted_folder_are_replaced_like_others(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edit(only_words)
    for stage in ("load", "normalize", "lexical", "embed", "semantic", "judge", "aggregate"):
        run(stage)
    expected = files("reports")
    mount(project / "reports", monkeypatch)

    for stage in ("load", "aggregate"):
        run(stage)

    assert files("reports") == expected
    assert not list((project / "data").glob(".*"))


@pytest.mark.usefixtures("project")
def test_a_users_mistake_is_one_message_and_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    edit(lambda p: p["dataset"].update(input="qestion"))

    assert main(["load"]) == 2

    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert "question" in error
    assert "Traceback" not in error


def test_a_typo_anywhere_stops_the_first_stage(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit(lambda p: p["semantic"]["similarity"].update(treshold=3))

    assert main(["load"]) == 2
    assert "semantic.similarity.treshold" in capsys.readouterr().err
    assert not (project / "data/load").exists()


@pytest.mark.usefixtures("project")
def test_a_stage_before_its_inputs_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["normalize"]) == 2
    assert "dvc repro" in capsys.readouterr().err


@pytest.mark.usefixtures("project")
def test_outside_of_its_environment_it_says_how_to_get_in(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(
        sys.modules, "goldmeter.pipeline.dvc_yaml", None
    )  # an import of it fails, as that of yaml would

    assert main(["load"]) == 2
    assert "activate" in capsys.readouterr().err


@pytest.mark.usefixtures("project")
def test_a_server_that_is_down_is_status_75_for_those_who_try_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def unreachable(_: str) -> None:
        raise ServerError("http://127.0.0.1:1: no connection")

    monkeypatch.setattr("goldmeter.runner.run", unreachable)

    assert main(["judge"]) == 75
    assert "no connection" in capsys.readouterr().err


@pytest.fixture
def other_run(project: Path) -> Iterator[int]:
    """The lock that another run of the stage load holds."""
    folder = project / "data/.load.tmp"
    folder.mkdir(parents=True)
    handle = os.open(folder, os.O_RDONLY)
    assert lock_opened(handle, folder)
    yield handle
    with suppress(OSError):
        os.close(handle)


def test_a_stage_waits_for_another_run_that_is_ending(
    other_run: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def end(_: float) -> None:
        shutil.rmtree("data/.load.tmp")
        os.close(other_run)

    monkeypatch.setattr("goldmeter.runner.time.sleep", end)

    run("load")

    assert capfd.readouterr().err.count("load: waiting for another run of this stage") == 1
    assert Path("data/load").is_dir()


@pytest.mark.usefixtures("other_run")
def test_a_stage_does_not_wait_for_ever_for_another_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "ENDING_SECONDS", -1.0)

    with pytest.raises(DataError, match=r"load: another run of this stage is at work in data/\.load\.tmp"):
        run("load")
