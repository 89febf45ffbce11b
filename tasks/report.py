"""Writes the page with every number, its interval and the rows behind it, and the tables of `dvc plots`."""

from collections.abc import Iterator

from tasks.ledger.verdicts import VerdictEvidence
from tasks.pipeline.settings import Section
from tasks.pipeline.stage import Stage, StageInputs
from tasks.reporting.assembly import report_files
from tasks.reporting.settings import Report


class Params(Section):
    """The sections of params.yaml that this stage reads."""

    report: Report


def report(params: Params, inputs: StageInputs) -> Iterator[dict[str, str]]:
    """Yield the page and the tables of `dvc plots`."""
    ledger, prices = inputs.ledger(VerdictEvidence), inputs.run.judge.prices
    yield report_files(inputs.tables, params.report, documents=inputs.documents, ledger=ledger, prices=prices)


STAGE = Stage(params=Params, whole=report)
