"""Prefect artifacts of a run: its summary, where its report is, its experiment, and links to its dashboards."""

import socket
from uuid import UUID

from prefect import get_client
from prefect.artifacts import create_link_artifact, create_markdown_artifact
from prefect.client.schemas.actions import ArtifactCreate
from prefect.utilities.urls import url_for

from tasks.console.markdown import code, escaped
from tasks.reporting import summary
from tasks.versions.experiments import Experiment


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
