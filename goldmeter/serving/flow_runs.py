"""A flow run as Prefect shows it: its name and tags, its log without tracebacks of expected errors, its artifacts."""

import logging
import socket
from collections.abc import Sequence
from pathlib import PurePosixPath
from uuid import UUID

from prefect import get_client
from prefect.artifacts import create_link_artifact, create_markdown_artifact
from prefect.client.schemas.actions import ArtifactCreate
from prefect.exceptions import FailedRun
from prefect.utilities.urls import url_for

from goldmeter.console.markdown import code, escaped
from goldmeter.errors import GoldmeterError
from goldmeter.pipeline import git, params
from goldmeter.reporting import summary
from goldmeter.versions.experiments import Experiment

# Of every run and every deployment.
TAG = "goldmeter"
NO_DATA, NO_COMMIT = "no data set", "workspace"
# Environment variable with the name of the scheduled flow run that starts another one, which takes it too.
NAME_VARIABLE = "GOLDMETER_FLOW_RUN"


def evaluation_name() -> str:
    """The name of a run of the stages, such as `NQ.json@v1.2`; never raises: the run itself says what is wrong."""
    try:
        version = git.described() or NO_COMMIT
    except GoldmeterError:
        version = NO_COMMIT
    return f"{data_set()}@{version}"


def comparison_name(versions: Sequence[str]) -> str:
    """The name of a comparison, such as `NQ.json: v1.1 → v1.2`."""
    return f"{data_set()}: {' → '.join(versions)}"


def data_set() -> str:
    """The file or folder in params.yaml."""
    try:
        section = params.raw().get("dataset")
    except (GoldmeterError, OSError):
        return NO_DATA
    path = section.get("path") if isinstance(section, dict) else None
    return PurePosixPath(str(path)).name if path else NO_DATA


def log_in_plain_words() -> None:
    """Log a GoldmeterError by its text, and not the Failed state that a flow itself returned."""
    for name in ("prefect.flow_runs", "prefect.task_runs"):
        logging.getLogger(name).addFilter(_reworded)  # only once, however often it is called


def _reworded(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, GoldmeterError):
        record.msg, record.args, record.exc_info = "%s", (error,), None
    return not isinstance(error, FailedRun)


def keep_summary() -> None:
    """Store the last run's summary as artifact `summary` of this flow run, and the path of its report as `report`.

    A path and no link: a page of a server must not open a file.
    """
    last = summary.of_last_run()
    if last is not None:
        create_markdown_artifact(summary.to_markdown(last), key="summary", description="Results of the run")
    if summary.REPORT.exists():
        where = f"{code(str(summary.REPORT.resolve()))} on {escaped(socket.gethostname())}"
        create_markdown_artifact(where, key="report", description="Path of the run's report")


def keep_dashboard(link: str) -> None:
    """Store the address of the dashboard of a stage's cluster, as artifact `dashboard` of its task run."""
    create_link_artifact(link, link, key="dashboard", description="Dask's dashboard, while the stage runs")


def keep_experiment(experiment: Experiment, flow_run: str) -> None:
    """Store the name of the recorded experiment, which is known only after the flow run, as artifact `experiment`."""
    artifact = ArtifactCreate(
        key="experiment",
        type="markdown",
        data=experiment_line(experiment.name, experiment.commit),
        description="Name of the recorded run",
        flow_run_id=UUID(flow_run),
    )
    with get_client(sync_client=True) as client:
        client.create_artifact(artifact)


def experiment_line(name: str, commit: str | None) -> str:
    """Markdown that names a recorded run, and the commands that show it."""
    at = f", commit {escaped(commit)}" if commit else ""
    return f"Experiment **{escaped(name)}**{at}: `dvc exp show`, {code(f'python -m flows.compare {name}')}"


def flow_run_line(flow_run: str) -> str:
    """Markdown with a link to the run's stages, logs and summary."""
    url = url_for("flow-run", obj_id=UUID(flow_run))
    return f"Stages, logs and summary: flow run {f'[{flow_run}]({url})' if url else flow_run}"
