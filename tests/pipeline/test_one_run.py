"""Tables of different runs are refused by the stage that would read them together."""

import json
from pathlib import Path

import pytest

from tasks.errors import ContractError, DataError
from tasks.pipeline import contents
from tasks.runner import run
from tests.small_project import ROWS, edit, write


@pytest.fixture
def of_two_runs(project: Path) -> Path:
    """The tables of load of one run beside those of normalize and lexical of an earlier one."""
    for stage in ("load", "normalize", "lexical"):
        run(stage)
    write(project, ROWS[:-1])
    run("load")
    return project


@pytest.mark.usefixtures("of_two_runs")
def test_a_table_made_from_another_than_is_there_is_named_by_the_stage_that_reads_it() -> None:
    with pytest.raises(DataError, match=r"^data/normalize: of another run than data/load, .*`dvc repro` brings"):
        run("lexical")


@pytest.mark.usefixtures("of_two_runs")
def test_a_table_far_upstream_counts_too() -> None:
    with pytest.raises(DataError, match=r"of another run than data/load"):
        contents.require_one_run(["data/load", "data/lexical"])

    run("normalize")
    with pytest.raises(DataError, match=r"^data/lexical: of another run than data/normalize"):
        contents.require_one_run(["data/load", "data/lexical"])

    run("lexical")
    contents.require_one_run(["data/load", "data/lexical"])


@pytest.mark.usefixtures("of_two_runs")
def test_the_same_content_is_of_the_same_run_and_verify_skips_the_check(project: Path) -> None:
    edit(lambda params: params["run"].update(verify=False))
    run("lexical")
    edit(lambda params: params["run"].update(verify=True))

    write(project, ROWS)
    run("load")
    run("lexical")


@pytest.mark.usefixtures("of_two_runs")
def test_a_stage_that_fails_leaves_what_its_tables_were_made_from() -> None:
    run("normalize")
    edit(lambda params: params["load"].update(max_rejected=0.0))
    write(Path(), [*ROWS, ROWS[0]])

    with pytest.raises(ContractError):
        run("load")

    contents.require_one_run(["data/load", "data/normalize"])


def test_reports_of_older_versions_state_nothing(of_two_runs: Path) -> None:
    for path in (of_two_runs / "reports/validation").iterdir():
        report = json.loads(path.read_text())
        path.write_text(
            json.dumps({name: report[name] for name in report if name not in ("files", "inputs", "sha256")})
        )

    run("lexical")
