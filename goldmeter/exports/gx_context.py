"""The checks of the stages as a Great Expectations file context: suites, validations, a checkpoint, Data Docs."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

import pandas as pd

from goldmeter.errors import ExportError
from goldmeter.pipeline import params
from goldmeter.pipeline.contents import report_of
from goldmeter.pipeline.dvc_yaml import stages
from goldmeter.pipeline.files import read_json
from goldmeter.pipeline.stage import Contract, load_stage
from goldmeter.pipeline.tables import Parts
from goldmeter.pipeline.validation import load_gx

# The data source and the checkpoint of the context.
NAME = "goldmeter"
BATCH = "whole table"
# Address of a picture in Data Docs of 1.24, with the context's ID.
_REMOTE_LOGO = re.compile(r"""https://great-expectations-web-assets[^"'\s)]*""")


class Suite(NamedTuple):
    """Expectations of one table. path: of its file, or of the folder of its parts."""

    name: str
    path: Path
    expectations: list[Any]


class Outcome(NamedTuple):
    """What the checkpoint found. failed: names of the suites that are not met. page: the first page of Data Docs."""

    suites: int
    expectations: int
    failed: list[str]
    page: str


def export(folder: Path) -> Outcome:
    """Write the checks of the last run as a file context in a folder, run its checkpoint and build its Data Docs.

    What the context has besides stays; suites of the same names are replaced. Great Expectations reads tables whole.

    Raises:
        ExportError: The folder is a file, or a table lies in `run.storage`.
        DataError: A table or a validation report is missing or damaged.
    """
    if folder.exists() and not folder.is_dir():
        raise ExportError(f"{folder}: is a file; expected a folder")
    params.check()
    counts: dict[Path, dict[str, float]] = {}
    suites = [*_suites(folder / "counts", counts)]
    for path, numbers in counts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        pd.DataFrame([numbers]).to_csv(path, index=False)
    gx = load_gx()
    context = gx.get_context(mode="file", project_root_dir=str(folder))
    context.enable_analytics(enable=False)
    context.variables.progress_bars = {"globally": False}
    result = _checkpoint(gx, context, suites).run()
    failed = [found.suite_name for found in result.run_results.values() if not found.success]
    expectations = sum(len(suite.expectations) for suite in suites)
    return Outcome(len(suites), expectations, sorted(failed), _local_pages(context))


def _suites(folder: Path, counts: dict[Path, dict[str, float]]) -> Iterator[Suite]:
    """Yield the suites of each stage that checks its table: of its rows, and of its counts, to be written to a folder.

    counts: filled with path → counts of the last run.
    """
    for name, entry in stages().items():
        stage, chosen = load_stage(name), params.for_stage(name)
        if stage.expect is None or stage.is_idle(chosen):
            continue
        contract: Contract = stage.expect(chosen)
        table = Path("data", entry.tables_written[0])
        if Parts(table).in_storage:
            raise ExportError(f"{table}: is in run.storage; Great Expectations reads tables in folders")
        rows = [one for each in (*contract.rows, *contract.keys) for one in _portable(each)]
        yield Suite(name, table, rows)
        if contract.counts:
            path = folder / f"{name}.csv"
            counts[path] = read_json(report_of(name))["counts"]
            yield Suite(f"{name} counts", path, [*contract.counts])


def _portable(expectation: Any) -> list[Any]:
    """Return expectations that Great Expectations itself has: ours about results becomes one for each result."""
    from great_expectations import expectations as gxe
    from great_expectations.expectations.row_conditions import Column

    from goldmeter.pipeline.expectations import ExpectResultToFollowFromScore

    if not isinstance(expectation, ExpectResultToFollowFromScore):
        return [expectation]
    score, limit = Column(expectation.column_A), expectation.pass_above
    if limit is None:
        passes, fails = score >= expectation.pass_from, score < expectation.pass_from
    else:
        passes, fails = score > limit, score <= limit
    conditions = {"pass": passes, "fail": fails, "unmeasured": score.is_null()}
    return [
        gxe.ExpectColumnValuesToBeInSet(column=expectation.column_B, value_set=[name], row_condition=condition)
        for name, condition in conditions.items()
    ]


def _checkpoint(gx: Any, context: Any, suites: list[Suite]) -> Any:
    """Write the data source, suites and validation definitions; returns the checkpoint that runs them all."""
    source = context.data_sources.add_or_update_pandas(NAME)
    definitions = []
    for suite in suites:
        add = source.add_csv_asset if suite.path.suffix == ".csv" else source.add_parquet_asset
        batch = add(suite.name, suite.path.absolute()).add_batch_definition(BATCH)
        written = context.suites.add_or_update(gx.ExpectationSuite(suite.name, expectations=suite.expectations))
        definition = gx.ValidationDefinition(name=suite.name, data=batch, suite=written)
        definitions.append(context.validation_definitions.add_or_update(definition))
    docs = gx.checkpoint.UpdateDataDocsAction(name="data_docs")
    checkpoint = gx.Checkpoint(name=NAME, validation_definitions=definitions, actions=[docs])
    return context.checkpoints.add_or_update(checkpoint)


def _local_pages(context: Any) -> str:
    """Use the logo file of Data Docs instead of the one on the network, whose server would learn who opens a page.

    Returns:
        The address of the first page.
    """
    [site] = context.get_docs_sites_urls()
    first = Path(unquote(urlsplit(site["site_url"]).path))
    for page in first.parent.rglob("*.html"):
        above = "../" * (len(page.relative_to(first.parent).parts) - 1)
        text = page.read_text(encoding="utf-8")
        page.write_text(_REMOTE_LOGO.sub(f"{above}static/images/logo-long.png", text), encoding="utf-8")
    return str(site["site_url"])
