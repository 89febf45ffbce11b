"""Writes the page with every number, its interval and the rows behind it, and the tables of `dvc plots`."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tasks.ledger.verdicts import Paid, VerdictEvidence
from tasks.pipeline.run import Price
from tasks.pipeline.settings import Section
from tasks.pipeline.stage import Stage
from tasks.pipeline.tables import Parts
from tasks.reporting.assembly import report_files
from tasks.reporting.settings import Report


class Params(Section):
    """The sections of params.yaml that this stage reads."""

    report: Report


def report(
    load: Parts,
    lexical: Parts,
    semantic: Parts,
    judge: Parts,
    aggregate: Parts,
    params: Params,
    *,
    documents: Mapping[str, Any],
    ledger: Iterable[Paid] | None = None,
    prices: Mapping[str, Price] | None = None,
) -> Iterator[dict[str, str]]:
    """Yield the page and the tables of `dvc plots`; arguments as of `tasks.reporting.assembly.report_files`."""
    yield report_files(
        load, lexical, semantic, judge, aggregate, params.report, documents=documents, ledger=ledger, prices=prices
    )


STAGE = Stage(
    params=Params,
    whole=lambda params, inputs: report(
        inputs.tables["load"],
        inputs.tables["lexical"],
        inputs.tables["semantic"],
        inputs.tables["judge"],
        inputs.tables["aggregate"],
        params,
        documents=inputs.documents,
        ledger=inputs.ledger(VerdictEvidence),
        prices=inputs.run.judge.prices,
    ),
)
