"""What every run came to, kept outside of the working tree, and what scheduled runs decide from it."""

from tasks.monitoring import records
from tasks.monitoring.baseline import check_baseline
from tasks.monitoring.decision import Night, night
from tasks.monitoring.store import SCHEMA, append, path, read
from tasks.versions.experiments import Experiment, Facts

__all__ = ["SCHEMA", "Night", "add_run", "check_baseline", "night", "path", "read"]


def add_run(experiment: Experiment, facts: Facts) -> None:
    """Append the run in the working folder, made by hand, with nothing decided; one that is there is not added again.

    Raises DataError without reports/metrics.json, LedgerError when the history can't be read or written.
    """
    append(records.rows(experiment, facts))
