"""Page of a version that also shows its comparison with other versions, or past runs."""

import json
from collections.abc import Sequence
from pathlib import Path

from tasks.errors import VersionError
from tasks.ledger.entries import Usage
from tasks.ledger.verdict_evidence import VerdictEvidence
from tasks.pipeline import params
from tasks.pipeline.dvc_yaml import LEDGER, stages
from tasks.reporting.assembly import report_files
from tasks.reporting.content import ComparedVersions
from tasks.reporting.settings import Report
from tasks.reporting.trends import Series
from tasks.versions.version import Version
from tasks.wording.comparison_document import ComparisonDocument

REPORT = "report"
PAGE = "reports/index.html"
# Characters of a commit's hash that are shown.
COMMIT_CHARS = 7


def write_page(
    head: Version,
    path: Path,
    *,
    comparison: ComparisonDocument | None = None,
    history: Sequence[Series] | None = None,
    several: ComparedVersions | None = None,
) -> None:
    """Write the page of a version by section `report` of params.yaml, with comparisons or past runs.

    Args:
        head: The version whose tables and documents the page shows.
        path: Where to write the page.
        comparison: Its comparison with another version, if the page shows it.
        history: Past runs by schedule, if the page shows them.
        several: Several versions compared, if the page shows them.

    Raises:
        VersionError: The version lacks a table or a document of the page.
    """
    stage = stages()[REPORT]
    sources = {source: head.path(source) for source in stage.documents_read}
    documents = {source: json.loads(file.read_text(encoding="utf-8")) for source, file in sources.items()}
    options = params.section(Report, params.raw(), REPORT)
    tables = {table: head.parts(table) for table in stage.tables_read}
    try:
        written = report_files(
            tables,
            options,
            documents=documents,
            usage=_usage(head, str(stage.ledger_read)),
            prices=params.run_params().judge.prices,
            comparison=comparison,
            history=history,
            several=several,
            version=_named(head),
        )
    except KeyError as error:
        raise VersionError(
            f"{head.name}: its reports are of an older format, without {error}; `dvc repro` there updates them"
        ) from error
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(written[PAGE], encoding="utf-8")


def _named(version: Version) -> str:
    """Return the name of a version, and its commit if the name does not say it."""
    commit = (version.commit or "")[:COMMIT_CHARS]
    return version.name if not commit or version.name.startswith(commit) else f"{version.name} ({commit})"


def _usage(version: Version, kind: str) -> Usage | None:
    """Return what the verdicts of a version took; None if its evidence is unavailable, which the page then says."""
    folder = f"{LEDGER}{kind}"
    try:
        return VerdictEvidence(version.path(folder)).usage() if version.has(folder) else None
    except VersionError:
        return None
