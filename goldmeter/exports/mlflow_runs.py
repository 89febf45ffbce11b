"""A run as MLflow runs, one per candidate, so that MLflow's table and charts compare candidates by the same names."""

import logging
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from goldmeter.errors import ExportError, ServerError
from goldmeter.estimates.metrics_report import MetricEntry, numbers
from goldmeter.exports.results import Results, safe_name
from goldmeter.pipeline.credentials import without_credentials

# What MLflow allows in a key, and how long keys and values may be in every store. Source: mlflow.utils.validation.
_NOT_IN_KEYS = re.compile(r"[^\w. :-]", re.ASCII)
MOST_OF_A_KEY, MOST_OF_A_VALUE = 240, 5_000
# Metrics and params of one request.
BATCH = 100
# A server that is down is no reason to wait for minutes, which MLflow does without it.
RETRIES = "2"
# MLflow's own names for the errors that a later attempt may not have.
TRANSIENT = frozenset({"INTERNAL_ERROR", "TEMPORARILY_UNAVAILABLE", "REQUEST_LIMIT_EXCEEDED"})


def export(found: Results, uri: str, experiment: str) -> dict[str, str]:
    """Write a run to an MLflow tracking store; returns candidate → ID of its MLflow run.

    Args:
        found: The run.
        uri: MLflow's tracking URI, such as `sqlite:///mlflow.db` or the address of a server.
        experiment: The MLflow experiment, which is created where it is missing.

    Raises:
        ExportError: MLflow is not installed, or does not take the URI or the run.
        ServerError: The server does not answer.
    """
    client_class, failure = _mlflow()
    shown = without_credentials(uri)
    if "://" not in uri and uri != "databricks":
        raise ExportError(
            f"{shown}: no tracking URI; expected one such as sqlite:///mlflow.db or http://127.0.0.1:5000"
        )
    try:
        client = client_class(tracking_uri=uri)
        place = client.get_experiment_by_name(experiment)
        number = client.create_experiment(experiment) if place is None else place.experiment_id
        return {name: _written(client, number, found, name) for name in found.candidates}
    except failure as error:
        problem = without_credentials(str(error).strip().partition("\n")[0])
        kind = ServerError if getattr(error, "error_code", "") in TRANSIENT else ExportError
        raise kind(f"{shown}: MLflow could not write the run: {problem}") from None


def metrics_of(entries: Mapping[str, MetricEntry]) -> dict[str, float]:
    """A candidate's numbers as MLflow metrics: `f1/value`, `f1/low`, `f1/high`, `f1/n`, `f1/pass_rate` and so on.

    MLflow's charts group metrics by what stands before the slash.
    """
    return {
        f"{_key(name)}/{column}": float(value)
        for name, entry in entries.items()
        for column, value in numbers(entry).items()
        if column != "signature" and value is not None
    }


def params_of(found: Results, entries: Mapping[str, MetricEntry]) -> dict[str, str]:
    """What defines a candidate's numbers, as MLflow params: signatures, data set, confidence."""
    signatures = {f"{_key(name)}/signature": entry["signature"] for name, entry in entries.items()}
    rates = {
        f"{_key(name)}/pass_rate_signature": entry["pass_rate"]["signature"]
        for name, entry in entries.items()
        if "pass_rate" in entry
    }
    data = found.report["dataset"]
    shared = {"dataset/hash": data["hash"], "dataset/rows": data["rows"], "confidence": found.report["confidence"]}
    every = shared | signatures | rates
    return {key: safe_name(str(value), str(value), MOST_OF_A_VALUE) for key, value in every.items()}


def tags_of(found: Results, candidate: str) -> dict[str, str]:
    """The candidate, the version, and the primary measure of a run."""
    tags = {"goldmeter.candidate": candidate, "goldmeter.version": found.version.name}
    tags |= {"goldmeter.commit": found.version.commit} if found.version.commit else {}
    tags |= {"goldmeter.primary": found.report["primary"]["measure"]} if "primary" in found.report else {}
    return {key: safe_name(value, value, MOST_OF_A_VALUE) for key, value in tags.items()}


def _written(client: Any, experiment: str, found: Results, candidate: str) -> str:
    """Write one candidate; returns the ID of its MLflow run, which is marked as failed if it is not whole."""
    from mlflow.entities import Metric, Param

    entries = found.candidates[candidate]
    run = client.create_run(experiment, run_name=candidate, tags=tags_of(found, candidate))
    try:
        for batch in _batches(metrics_of(entries)):
            client.log_batch(run.info.run_id, metrics=[Metric(*one, run.info.start_time, 0) for one in batch])
        for batch in _batches(params_of(found, entries)):
            client.log_batch(run.info.run_id, params=[Param(*one) for one in batch])
    except BaseException:
        client.set_terminated(run.info.run_id, "FAILED")
        raise
    client.set_terminated(run.info.run_id)
    return str(run.info.run_id)


def _batches(items: Mapping[str, Any]) -> Iterator[list[tuple[str, Any]]]:
    every = [*items.items()]
    for start in range(0, len(every), BATCH):
        yield every[start : start + BATCH]


def _key(name: str) -> str:
    return safe_name(name, _NOT_IN_KEYS.sub("_", name), MOST_OF_A_KEY)


def _mlflow() -> tuple[Any, type[Exception]]:
    """MLflow's client and its exception; MLflow sends no telemetry.

    Source: https://mlflow.org/docs/latest/community/usage-tracking
    """
    os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", RETRIES)
    try:
        from mlflow import MlflowClient
        from mlflow.exceptions import MlflowException
    except ModuleNotFoundError:
        raise ExportError("MLflow is not installed; `pip install 'goldmeter[mlflow]'` installs its client") from None
    for name in ("mlflow", "alembic"):  # they log how they create the tables of a new store
        logging.getLogger(name).setLevel(logging.WARNING)
    return MlflowClient, MlflowException
