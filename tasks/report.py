"""What people read: one page with every number, its interval and the rows behind it, and the tables of `dvc plots`."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tasks.pipeline.run import Price, Run
from tasks.pipeline.settings import Section
from tasks.pipeline.tables import Parts
from tasks.reporting.assembly import report_files
from tasks.reporting.settings import Report

if TYPE_CHECKING:
    from tasks.ledger.verdicts import Paid

WHOLE = True


class Params(Section):
    """The sections this stage sees."""

    report: Report


def how(run: Run) -> Mapping[str, Price]:
    """What this stage needs of section `run`: what a model's tokens cost."""
    return run.judge.prices


def report(
    load: Parts,
    lexical: Parts,
    semantic: Parts,
    judge: Parts,
    aggregate: Parts,
    params: Params,
    *,
    documents: Mapping[str, Any],
    ledger: Iterable["Paid"] | None = None,
    how: Mapping[str, Price] | None = None,
) -> Iterator[dict[str, str]]:
    """Make the page and the tables of `dvc plots`; arguments: as of `tasks.reporting.assembly.report_files`."""
    yield report_files(
        load, lexical, semantic, judge, aggregate, params.report, documents=documents, ledger=ledger, prices=how
    )
