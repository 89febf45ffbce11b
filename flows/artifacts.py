"""What Prefect keeps of a run beside its states: what the terminal shows, and links to the rest."""

from uuid import UUID

from prefect import get_client
from prefect.artifacts import create_link_artifact, create_markdown_artifact
from prefect.client.schemas.actions import ArtifactCreate
from prefect.utilities.urls import url_for

from tasks.console.markdown import escaped
from tasks.reporting import summary
from tasks.versions.experiments import Experiment


def keep_summary() -> None:
    """Keep the last run's summary as the artifact `summary` of this flow run, and where its report is as `report`."""
    found = summary.of_last_run()
    if found is not None:
        create_markdown_artifact(summary.to_markdown(found), key="summary", description="What the run found")
    if summary.REPORT.exists():
        path = summary.REPORT.resolve()
        where = f"{escaped(str(path))}, a file of the machine that made it"
        create_link_artifact(path.as_uri(), str(summary.REPORT), key="report", description=where)


def keep_experiment(experiment: Experiment, flow_run: str) -> None:
    """Keep under which name the flow run was recorded, known only after its end, as the artifact `experiment`."""
    kept = ArtifactCreate(
        key="experiment",
        type="markdown",
        data=experiment_line(experiment.name, experiment.commit),
        description="Under which name the run is recorded",
        flow_run_id=UUID(flow_run),
    )
    with get_client(sync_client=True) as client:
        client.create_artifact(kept)


def experiment_line(name: str, commit: str | None) -> str:
    """How a recorded run is found again."""
    at = f", commit {escaped(commit)}" if commit else ""
    return f"Experiment **{escaped(name)}**{at}: `dvc exp show`, `python -m flows.compare {escaped(name)}`"


def flow_run_line(flow_run: str) -> str:
    """Where the run's stages, logs and summary are."""
    url = url_for("flow-run", obj_id=UUID(flow_run))
    return f"Stages, logs and summary: flow run {f'[{flow_run}]({url})' if url else flow_run}"
