"""Prefect's log of a run: expected errors by their text, without a traceback."""

import logging

from prefect.exceptions import FailedRun

from tasks.errors import GoldmeterError


def in_plain_words() -> None:
    """Log a GoldmeterError by its text, and not the Failed state that a flow itself returned."""
    for name in ("prefect.flow_runs", "prefect.task_runs"):
        logging.getLogger(name).addFilter(_reworded)  # only once, however often it is called


def _reworded(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, GoldmeterError):
        record.msg, record.args, record.exc_info = "%s", (error,), None
    return not isinstance(error, FailedRun)
