"""Writes the page with every number, its interval and the rows behind it, and the tables of `dvc plots`."""

from collections.abc import Iterator

from goldmeter.ledger.verdicts import VerdictEvidence
from goldmeter.pipeline import git
from goldmeter.pipeline.settings import Section
from goldmeter.pipeline.stage import Stage, StageInputs
from goldmeter.reporting.assembly import report_files
from goldmeter.reporting.settings import Report

# Files whose last commit, and changes since, the page names; the data are named by their hash.
SETTINGS = ("params.yaml", "dvc.yaml", "goldmeter.yaml", "tasks", "goldmeter")


class Params(Section):
    """The sections of params.yaml that this stage reads."""

    report: Report


def report(params: Params, inputs: StageInputs) -> Iterator[dict[str, str]]:
    """Yield the page and the tables of `dvc plots`."""
    ledger, prices = inputs.ledger(VerdictEvidence), inputs.run.judge.prices
    version = git.described(*SETTINGS, with_day=True)
    yield report_files(
        inputs.tables,
        params.report,
        documents=inputs.documents,
        usage=ledger.usage(),
        prices=prices,
        version=version,
        crew=inputs.crew,
    )


STAGE = Stage(params=Params, whole=report)
