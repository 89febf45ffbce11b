"""The report of a version with what is not part of it: the comparison with another, or past runs; one HTML file."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tasks.errors import VersionError
from tasks.ledger import open_evidence
from tasks.pipeline import params
from tasks.pipeline.stages import LEDGER, stages
from tasks.reporting.assembly import report_files
from tasks.reporting.settings import Report
from tasks.reporting.trends import Series
from tasks.versions.version import Version

REPORT = "report"
PAGE = "reports/index.html"


def write_page(
    head: Version, comparison: Mapping[str, Any] | None, path: Path, history: Sequence[Series] | None = None
) -> None:
    """Write the report of a version, as section `report` of params.yaml has it, with a comparison or past runs.

    Raises VersionError when the version lacks what its report is made from.
    """
    stage = stages()[REPORT]
    load, lexical, semantic, judge, aggregate = (head.parts(table) for table in stage.tables_read)
    sources = {source: head.path(source) for source in stage.documents_read}
    documents = {source: json.loads(file.read_text(encoding="utf-8")) for source, file in sources.items()}
    options = params.section(Report, params.raw(), REPORT)
    tables = (load, lexical, semantic, judge, aggregate)
    beside = {"comparison": comparison, "history": history, "ledger": _ledger(head, str(stage.ledger_read))}
    try:
        prices = params.run_params().judge.prices
        written = report_files(*tables, options, documents=documents, prices=prices, **beside)
    except KeyError as error:
        raise VersionError(
            f"{head.name}: its reports are of an older kind, without {error}; `dvc repro` there makes them anew"
        ) from error
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(written[PAGE], encoding="utf-8")


def _ledger(version: Version, kind: str) -> Any:
    """The evidence of a version, None where it can't be had: the page then says so."""
    folder = f"{LEDGER}{kind}"
    try:
        return open_evidence(kind, version.path(folder)) if version.has(folder) else None
    except VersionError:
        return None
