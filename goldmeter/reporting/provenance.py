"""Provenance of the numbers on a page: checks, data, params, code, versions, signatures, and the cost of the judge."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from goldmeter.console.format import Text, counted, shown
from goldmeter.estimates.metrics_report import StoppedEntry
from goldmeter.pipeline.run import Price
from goldmeter.pipeline.yaml import dump_yaml
from goldmeter.reporting.score_tables import MetricScores
from goldmeter.reporting.trends import cost

if TYPE_CHECKING:
    from goldmeter.ledger.entries import Usage


VALIDATION = "reports/validation/"
# Units of the rows of stages that do not write one row per answer.
UNITS = {"embed": "distinct texts", "aggregate": "estimates"}


class StageChecks(NamedTuple):
    """The validation of one stage's table.

    read: how many answers it was given; None if no report says so.
    lineage: the code, params and versions that it ran with; None if they were not recorded.
    """

    name: str
    success: bool
    counts: dict[str, float | None]
    checks: list[dict[str, Any]]
    lineage: Mapping[str, Any] | None
    read: float | None

    @property
    def unit(self) -> str:
        """The unit of its rows, empty for answers."""
        return UNITS.get(self.name, "")

    @property
    def broken(self) -> int:
        """How many checks failed."""
        return sum(1 for check in self.checks if check["failed"])

    @property
    def rejected(self) -> float:
        """How many answers it rejected with a reason."""
        return self.counts.get(f"rows_{self.name}_rejected") or 0

    @property
    def lost(self) -> float | None:
        """How many answers it neither wrote nor rejected; None if that is unknown."""
        written = self.counts.get("rows_of_a_metric") if self.unit else self.counts.get("rows")
        return None if self.read is None or written is None else self.read - written - self.rejected


def stage_checks(documents: Mapping[str, Any]) -> list[StageChecks]:
    """Return the stages whose validation reports are among the documents, in their order; documents: path → JSON."""
    reports = {
        path.removeprefix(VALIDATION).removesuffix(".json"): report
        for path, report in documents.items()
        if path.startswith(VALIDATION)
    }
    return [
        StageChecks(name, report["success"], counts, report["checks"], report.get("made"), _read(counts, [*reports]))
        for name, report in reports.items()
        for counts in [report["counts"]]
    ]


def _read(counts: Mapping[str, float | None], names: list[str]) -> float | None:
    """Return the rows of the data set, or else of the first table that an earlier stage wrote."""
    return next((counts[f"rows_{name}"] for name in ("read", *names) if f"rows_{name}" in counts), None)


# Characters of a section of params that are shown.
MAX_SECTION_CHARS = 20_000
NOT_RECORDED = "not recorded by the version that made these tables"
# Providers that ask no server → the state of the judge in words.
WITHOUT_SERVER = {"offline": "offline", "none": "off"}


class RecordedValue(NamedTuple):
    """One value of a name, and the stages that ran with it."""

    name: str
    value: Text
    stages: list[str]


class Provenance(NamedTuple):
    """What the page says about the origin of its numbers.

    path: of the data set. about: candidate → its description in params. code: stage → sha256 of its code.
    params: sections as YAML. versions: of Python and libraries. signatures: signature → its columns.
    judge, embedding: costs in words. unknown: stages whose lineage was not recorded.
    """

    path: str | None
    about: dict[str, list[tuple[str, str]]]
    code: dict[str, str]
    params: list[RecordedValue]
    versions: list[RecordedValue]
    signatures: dict[str, list[str]]
    judge: str
    embedding: str
    unknown: list[str]


def provenance(
    stages: Sequence[StageChecks],
    metrics: Sequence[MetricScores],
    usage: "Usage | None",
    prices: Mapping[str, Price],
    stopped: StoppedEntry | None = None,
) -> Provenance:
    """Arrange the lineage in the validation reports and the cost in the ledger.

    Args:
        stages: The validation of each stage, with its lineage.
        metrics: All metrics of the page.
        usage: What the verdicts in the tables took; None if the ledger is unavailable.
        prices: Model → its price.
        stopped: What a judge that may stop early left out.
    """
    lineages = {stage.name: stage.lineage for stage in stages if stage.lineage}
    dataset = _section(lineages, "load", "dataset") or {}
    rows = {stage.name: stage.counts.get("rows") for stage in stages}
    sections = {
        stage: {name: dump_yaml(section) for name, section in lineage["params"].items()}
        for stage, lineage in lineages.items()
    }
    return Provenance(
        path=dataset.get("path"),
        about={name: _about(facts) for name, facts in _facts(dataset.get("candidates") or {}).items()},
        code={stage: lineage["code"] for stage, lineage in lineages.items()},
        params=_recorded_values(sections),
        versions=_recorded_values({stage: lineage["versions"] for stage, lineage in lineages.items()}),
        signatures=_signatures(metrics),
        judge=_judge(_section(lineages, "judge", "judge"), usage, prices, stopped),
        embedding=_embedding(_section(lineages, "embed", "embed"), rows),
        unknown=[stage.name for stage in stages if not stage.lineage],
    )


def _section(lineages: Mapping[str, Mapping[str, Any]], stage: str, section: str) -> Mapping[str, Any] | None:
    """Return a section of params that a stage ran with; None if it was not recorded."""
    recorded: Mapping[str, Any] | None = lineages[stage]["params"].get(section) if stage in lineages else None
    return recorded


def _facts(candidates: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return candidate → what params note about it, and its model; in the long form, only those with a note."""
    if isinstance(candidates.get("column"), str):
        return dict(candidates.get("about") or {})
    asked = {name: {"model": one["model"]} if "model" in one else {} for name, one in candidates.items()}
    return {name: asked[name] | (candidate.get("about") or {}) for name, candidate in candidates.items()}


def _about(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [
        (key, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for key, value in facts.items()
    ]


def _recorded_values(by_stage: Mapping[str, Mapping[str, str]]) -> list[RecordedValue]:
    """Return each distinct value once with the stages that ran with it; the values of a name follow one another."""
    by_name: dict[str, dict[str, list[str]]] = {}
    for stage, values in by_stage.items():
        for name, value in values.items():
            by_name.setdefault(name, {}).setdefault(value, []).append(stage)
    return [
        RecordedValue(name, shown(value, MAX_SECTION_CHARS), stages)
        for name, values in by_name.items()
        for value, stages in values.items()
    ]


def _signatures(metrics: Sequence[MetricScores]) -> dict[str, list[str]]:
    columns: dict[str, list[str]] = {}
    for metric in metrics:
        for signature in metric.signatures:
            columns.setdefault(signature, []).append(metric.name)
    return columns


def _judge(
    section: Mapping[str, Any] | None,
    usage: "Usage | None",
    prices: Mapping[str, Price],
    stopped: StoppedEntry | None,
) -> str:
    """Say what the verdicts cost when they were first requested."""
    if section is None:
        return NOT_RECORDED
    provider, model = section["provider"], section["model"]
    if provider in WITHOUT_SERVER:
        return f"{WITHOUT_SERVER[provider]}: no call, nothing paid"
    if usage is None:
        return f"{model}: the ledger of its verdicts is unavailable"
    if not usage.verdicts:
        return f"{model}: no call, nothing paid"
    return f"{_calls(model, usage)}; {_bill(model, usage, prices)}{_saved(usage, prices, stopped)}"


def _saved(usage: "Usage", prices: Mapping[str, Price], stopped: StoppedEntry | None) -> str:
    """Say what a judge that stopped early saved; nothing of one that did not."""
    if not stopped or not stopped["calls_left"]:
        return ""
    left, dollars = stopped["tokens_left"], ""
    if left.keys() <= prices.keys():
        batch = usage.batch_prompt > 0
        sums = (prices[model].of(*n) - batch * prices[model].saved(*n) for model, n in left.items())
        dollars = f", about {cost(sum(sums))},"
    calls = "at most " * stopped.get("is_upper_limit", False) + counted(stopped["calls_left"], "more call")
    return f"; {calls}{dollars} not needed (judge.stop)"


def _calls(model: str, usage: "Usage") -> str:
    served = ", ".join(sorted(usage.served - {model}))
    says = f" (the server says {served})" if served else ""
    return f"{counted(usage.verdicts, 'verdict')} of {model}{says} took {counted(usage.calls, 'call')}"


def _bill(model: str, usage: "Usage", prices: Mapping[str, Price]) -> str:
    """Say the tokens and the cost, as far as the server counted and the model has a price."""
    more = usage.uncounted
    if more == usage.replies:
        return "the server counted no tokens" if usage.replies else "no reply came, nothing paid"
    uncounted = f", and those of {counted(more, 'reply', 'replies')} that the server did not count" if more else ""
    tokens = f"{usage.prompt:,} prompt and {usage.completion:,} completion tokens{uncounted}"
    if model not in prices:
        return f"{tokens}; run.judge.prices has no {model}"
    price = prices[model]
    saved = price.saved(usage.batch_prompt, usage.batch_completion)
    dollars = cost(price.of(usage.prompt, usage.completion) - saved)
    return f"{tokens}: {'more than ' if more else ''}{dollars}"


def _embedding(section: Mapping[str, Any] | None, rows: Mapping[str, float | None]) -> str:
    """Say what the vectors cost; rows: stage → rows. The ledger has no token counts of embeddings."""
    if section is None:
        return NOT_RECORDED
    vectors = f"{counted(int(rows.get('embed') or 0), 'vector')} of {section['model']}"
    if section["provider"] == "local":
        return f"{vectors}, computed locally: nothing paid"
    return f"{vectors} by provider {section['provider']}; their tokens are not counted"
