"""Record a run: as a DVC experiment with its facts, and in the history."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

from goldmeter.errors import GoldmeterError
from goldmeter.versions import costs, experiments
from goldmeter.versions.experiments import Experiment, Facts, Snapshot


class AtWork(str):
    """The message of a run that did not fail: its batches are at work, and the next run takes their results in."""

    __slots__ = ()


class TryLater(str):
    """The message of a run that failed for reasons that may pass, such as a server that did not answer."""

    __slots__ = ()


class Recorded(NamedTuple):
    """The outcome of a run that was to be recorded.

    `failure` is a message for the user, an `AtWork` where nothing failed. `facts` is None if the run itself failed.
    """

    failure: str | None
    experiment: Experiment | None
    facts: Facts | None


def recorded(prefix: str, name: str | None, run: Callable[[], tuple[str | None, str]]) -> Recorded:
    """Run, and record the run as an experiment.

    Args:
        prefix: Of the experiment's name, if none is given; the start of the run follows.
        name: The experiment's name.
        run: Returns why the run failed, or None, and the id of the flow run.

    Raises:
        GoldmeterError: If it is certain before the run that it can't be recorded.
    """
    started = datetime.now(UTC)
    experiments.require_free(name or experiments.free_name(prefix, started))
    before, code, paid = experiments.snapshot(), experiments.head(), costs.paid_entries()
    params = experiments.params_id(before)
    clock = time.monotonic()
    failure, flow_run = run()
    seconds = time.monotonic() - clock
    if failure:
        return Recorded(failure, None, None)
    facts = Facts(started, seconds, experiments.data_hash(), params, code, costs.since(paid), flow_run)
    return _record(prefix, name, facts, before)


def kept_in_history(run: Recorded) -> Recorded:
    """Add the run to the history; if that can't be written, the experiment stays."""
    if run.experiment is None or run.facts is None:
        return run
    from goldmeter.history import decision

    try:
        decision.add_run(run.experiment, run.facts)
    except (GoldmeterError, OSError) as error:
        return run._replace(failure=f"error: {run.experiment.name} is recorded, but not in the history: {error}")
    return run


def _record(prefix: str, name: str | None, facts: Facts, before: Snapshot) -> Recorded:
    try:
        chosen = name or experiments.free_name(prefix, facts.started)
        return Recorded(None, experiments.record(chosen, facts, before), facts)
    except experiments.NameTakenError as error:
        if name is None:  # another run took the name meanwhile
            return _record(prefix, name, facts, before)
        return Recorded(f"error: {error}", None, facts)
    except (GoldmeterError, OSError) as error:
        return Recorded(f"error: {error}", None, facts)
