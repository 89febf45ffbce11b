"""Comparison of two pandas tables of scores, row by row, by the tests of the release gate."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from rich.console import Console

from goldmeter.comparison import candidate_pairs, render
from goldmeter.comparison.blocks import ANSWER, NO_ANSWER
from goldmeter.comparison.gate import Gate, shared_primary
from goldmeter.comparison.measures import LABEL
from goldmeter.comparison.of_versions import Sides, document
from goldmeter.comparison.pairing import Pairing, distinct, pair
from goldmeter.dataset.description import LABEL as LABEL_FACTS
from goldmeter.errors import ComparisonError, did_you_mean
from goldmeter.estimates.column_facts import ColumnFacts
from goldmeter.estimates.columns import IN_DOMAIN, Candidate, Hashes, Mask, ScoreColumn, Slices, hashed, hashed_twice
from goldmeter.estimates.tables import facts_of
from goldmeter.metrics.base import NOT_ASKED, Floats
from goldmeter.metrics.catalogue import configure
from goldmeter.metrics.frame import ATTRS, NOT_ASKED_SUFFIX, unmeasured_reason
from goldmeter.pipeline.params import section
from goldmeter.text.columns import is_missing
from goldmeter.wording.comparison_document import ComparisonDocument, PairEntry
from goldmeter.wording.verdicts import Decision

if TYPE_CHECKING:
    import pandas as pd

ID = "id"
# Columns that say which rows ask the same.
CONTENT = ("input", "references")


class Keyed(NamedTuple):
    """A table, its name, the id of each row, and the column that the ids are from, if they are from one."""

    name: str
    frame: "pd.DataFrame"
    ids: list[str]
    column: str | None


class ColumnOptions(NamedTuple):
    """What the tables do not say of their columns; `goldmeter.compare` explains each."""

    bounds: Mapping[str, tuple[float, float]]
    thresholds: Mapping[str, float]
    lower_is_better: frozenset[str]
    group: str | None
    slices: tuple[str, ...]
    labels_random: bool

    def check(self, tables: Sequence[Keyed]) -> None:
        """Require that each named column is in both tables.

        Raises:
            ComparisonError: One is not; the message names it and similar ones.
        """
        scored = {"bounds": self.bounds, "thresholds": self.thresholds, "lower_is_better": self.lower_is_better}
        named = {**scored, "group": filter(None, [self.group]), "slices": self.slices}
        for option, names in named.items():
            for name in names:
                for table in tables:
                    _require(table, name, option)

    def plain(self, tables: Sequence[Keyed]) -> list[str]:
        """Score columns that no metric of goldmeter computed and that have no threshold: compared by their mean."""
        facts = [{name: facts for name, facts, _ in _score_columns(table, self)} for table in tables]
        return [
            name for name, one in facts[1].items() if name in facts[0] and one.family == "" and not one.has_pass_rate
        ]


class FrameRows(NamedTuple):
    """The texts of a table by position, as data/load gives them."""

    table: Keyed

    def take(self, columns: Sequence[str], positions: Sequence[int]) -> dict[int, dict[str, Any]]:
        """Return position → row; a column that the table lacks is empty."""
        frame, ids = self.table.frame, self.table.ids
        texts = {name: frame[name].tolist() for name in columns if name in frame.columns and name != ID}
        return {place: {name: _text(texts, name, place, ids[place]) for name in columns} for place in positions}


def _text(texts: Mapping[str, Sequence[Any]], name: str, place: int, key: str) -> Any:
    """A cell; without inputs the id stands in their place."""
    if name in texts:
        return texts[name][place]
    return {ID: key, "input": key, "references": []}.get(name)


def keyed(name: str, frame: "pd.DataFrame", on: str | None) -> Keyed:
    """Return a table with the id of each row.

    Raises:
        ComparisonError: No table, no such column, an id is missing, or stands in two rows.
    """
    if not hasattr(frame, "columns") or not hasattr(frame, "attrs"):
        raise ComparisonError(f"{name}: expected a pandas DataFrame with one row per id, found {type(frame).__name__}")
    frame = frame.rename(columns=str)
    if not frame.columns.is_unique:
        raise ComparisonError(f"{name}: column {frame.columns[frame.columns.duplicated()][0]!r} stands in it twice")
    column = on or (ID if ID in frame.columns else None)
    table = Keyed(name, frame, [], column)
    if column is not None:
        _require(table, column, "on")
    values = (frame.index if column is None else frame[column]).tolist()
    if any(map(is_missing, values)):
        raise ComparisonError(f"{name}, row {[*map(is_missing, values)].index(True)}: the id is missing")
    ids = [*map(str, values)]
    seen: dict[str, int] = {}
    for row, key in enumerate(ids):
        if seen.setdefault(key, row) != row:
            raise ComparisonError(
                f"{name}: id {key!r} stands in rows {seen[key]} and {row}; compare one system at a time, and give each "
                "row an id of its own"
            )
    return table._replace(ids=ids)


def candidate(table: Keyed, options: ColumnOptions) -> Candidate:
    """Return the score columns of a table, its rows in the order of their keys.

    Raises:
        ComparisonError: A column is no score.
    """
    keys, checks = hashed_twice(_texts(table.ids))
    order = np.argsort(keys, kind="stable")
    columns = [_score_column(table, *one).rows(order) for one in _score_columns(table, options)]
    if not columns:
        raise ComparisonError(f"{table.name}: no column of numbers, or of true and false; it has {_names(table)}")
    slices = {name: _coded(table.frame[name].tolist(), order) for name in options.slices}
    return Candidate(
        "scores",
        keys[order],
        order,
        columns,
        None if options.group is None else _groups(table, options.group)[order],
        slices,
        labels_random=options.labels_random,
        outside=_outside(table)[order],
        checks=checks[order],
        answers=answers[order] if (answers := _answers(table)) is not None else None,
    )


def unlike(pairing: Pairing, tables: tuple[Keyed, Keyed], content: Sequence[str] = CONTENT) -> Mask:
    """Which paired rows ask something else in the two tables, by the columns `content`; shape (n,)."""
    different = np.zeros(len(pairing.head_rows), np.bool_)
    for name in content:
        if all(name in table.frame.columns for table in tables):
            base, head = (_hashes([str(_plain(value)) for value in table.frame[name].tolist()]) for table in tables)
            old, new = pairing.base.positions[pairing.base_rows], pairing.head.positions[pairing.head_rows]
            different |= base[old] != head[new]
    return different


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def _score_columns(table: Keyed, options: ColumnOptions) -> Iterator[tuple[str, ColumnFacts, Floats]]:
    """Name, meaning and values of each score column; columns of texts are none."""
    known = _computed(table, options)
    others = {table.column, options.group, *options.slices, *CONTENT, IN_DOMAIN}
    reserved = {f"{one}{NOT_ASKED_SUFFIX}" for one in (*table.frame.columns, *table.frame.attrs.get(ATTRS, {}))}
    for name in table.frame.columns:
        if name in others or name in reserved or (values := _values(table, name)) is None:
            continue
        is_binary = values.binary or name == LABEL
        yield name, known.get(name) or _stated(name, options, is_binary=is_binary), values.numbers


class _Values(NamedTuple):
    numbers: Floats
    binary: bool


def _values(table: Keyed, name: str) -> _Values | None:
    """The numbers of a column, NaN where one is missing; None for a column that is not of numbers."""
    column = table.frame[name].tolist()
    kinds = {type(value) for value in column if not is_missing(value)}
    if not kinds or not kinds <= {bool, int, float}:
        return _Values(np.full(len(column), np.nan), binary=False) if not kinds and name == LABEL else None
    numbers = np.array([np.nan if is_missing(value) else float(value) for value in column], np.float64)
    if np.isinf(numbers).any():
        row = int(np.flatnonzero(np.isinf(numbers))[0])
        raise ComparisonError(f"{table.name}, column {name}, id {table.ids[row]!r}: {numbers[row]} is no score")
    return _Values(numbers, binary=kinds == {bool})


def _computed(table: Keyed, options: ColumnOptions) -> dict[str, ColumnFacts]:
    """Column → its meaning, of the columns that `goldmeter.metrics.scores` computed.

    Raises:
        ComparisonError: An option says of such a column what the metric says.
    """
    found: dict[str, ColumnFacts] = {}
    for name, meaning in table.frame.attrs.get(ATTRS, {}).items():
        metric = configure(meaning["family"], name, meaning["options"])
        for column, facts in facts_of(metric, {}).items():
            rate = facts.rate_signature and meaning["rate_signature"]
            # The table holds no statistics of the corpus score: its value is the mean of rows.
            signed = replace(facts, signature=meaning["signature"], rate_signature=rate, corpus_is_mean=True)
            found[column] = _with_threshold(signed, options.thresholds.get(column))
    for option, names in (("bounds", options.bounds), ("lower_is_better", options.lower_is_better)):
        if fixed := sorted(found.keys() & set(names)):
            raise ComparisonError(f"{option}: {fixed[0]!r} is a metric of goldmeter, which fixes them; leave it out")
    return found


def _with_threshold(facts: ColumnFacts, threshold: float | None) -> ColumnFacts:
    if threshold is None:
        return facts
    rate = f"{facts.signature}|thr:{threshold:.15g}"
    return replace(facts, threshold=float(threshold), rate_signature=rate, awaits_threshold=False)


def _stated(name: str, options: ColumnOptions, *, is_binary: bool) -> ColumnFacts:
    """The meaning of a column that goldmeter did not compute."""
    if name == LABEL:
        return LABEL_FACTS
    bounds, threshold = options.bounds.get(name), options.thresholds.get(name)
    limits = (0.0, 1.0) if is_binary else None if bounds is None else (float(bounds[0]), float(bounds[1]))
    rated = threshold is not None or is_binary
    better = name not in options.lower_is_better
    signature = f"{name}|bounds:{limits}|better:{'higher' if better else 'lower'}"
    rule = f"pass:{int(better)}" if threshold is None else f"thr:{threshold!r}"
    return ColumnFacts(
        metric=name,
        family="",
        signature=signature,
        bounds=limits,
        higher_is_better=better,
        threshold=threshold,
        rate_signature=f"{signature}|{rule}" if rated else None,
    )


def _score_column(table: Keyed, name: str, facts: ColumnFacts, values: Floats) -> ScoreColumn:
    low, high = facts.bounds or (-np.inf, np.inf)
    wrong = np.flatnonzero((values < low) | (values > high))
    if len(wrong):
        where = f"{table.name}, column {name}, id {table.ids[int(wrong[0])]!r}"
        raise ComparisonError(f"{where}: {values[wrong[0]]:g} is outside the bounds, {low:g} to {high:g}")
    passed = facts.passes(values) if facts.has_pass_rate else None
    return ScoreColumn(name, values, _not_asked(table, name, facts, np.isnan(values)), passed, None, facts)


def _not_asked(table: Keyed, name: str, facts: ColumnFacts, missing: Mask) -> Mask:
    """Which rows are unmeasured by design: those without a label, and those that the table says so of."""
    if name == LABEL:
        return missing
    not_asked = np.zeros_like(missing)
    stated, details = f"{facts.metric}{NOT_ASKED_SUFFIX}", f"{facts.metric}_details"
    if stated in table.frame.columns:
        by_design = [not is_missing(value) and bool(value) for value in table.frame[stated].tolist()]
        return missing & np.array(by_design, np.bool_)
    if details in table.frame.columns and missing.any():
        reasons = table.frame[details].tolist()
        for row in np.flatnonzero(missing).tolist():
            not_asked[row] = unmeasured_reason(reasons[row]) in NOT_ASKED
    return not_asked


def _outside(table: Keyed) -> Mask:
    """Which rows lie outside of the offline judge's domain: all where the table does not say."""
    if IN_DOMAIN not in table.frame.columns:
        return np.ones(len(table.ids), np.bool_)
    return np.array([not (is_missing(inside) or inside) for inside in table.frame[IN_DOMAIN].tolist()], np.bool_)


def _answers(table: Keyed) -> Hashes | None:
    """The hash of each answer; None where the table holds none."""
    answers = table.frame[ANSWER].tolist() if ANSWER in table.frame.columns else []
    if all(map(is_missing, answers)):
        return None
    found: Hashes = _hashes([NO_ANSWER if is_missing(text) else str(text) for text in answers])
    return found


def _groups(table: Keyed, name: str) -> Any:
    """The number of each row's cluster; a row without one is its own."""
    groups = table.frame[name].tolist()
    named = [
        f"id {key}" if is_missing(group) else f"group {group}" for key, group in zip(table.ids, groups, strict=True)
    ]
    return np.unique(_hashes(named), return_inverse=True)[1]


def _coded(values: Sequence[Any], order: Any) -> Slices:
    names, codes = np.unique(["(none)" if is_missing(value) else str(value) for value in values], return_inverse=True)
    return Slices(names.tolist(), codes[order])


def _hashes(texts: Sequence[str]) -> Any:
    return hashed(_texts(texts))


def _texts(texts: Sequence[str]) -> pa.ChunkedArray:
    return pa.chunked_array([texts], pa.string())


def _require(table: Keyed, name: str, option: str) -> None:
    if name not in table.frame.columns:
        similar = did_you_mean(name, [*map(str, table.frame.columns)]) or ";"
        raise ComparisonError(f"{option}: {table.name} has no column {name!r}{similar} it has {_names(table)}")


def _names(table: Keyed) -> str:
    return ", ".join(map(str, table.frame.columns)) or "none"


WIDTH = 140
BASE, HEAD = "base", "head"


def compared(tables: tuple[Keyed, Keyed], gate: Gate, options: ColumnOptions) -> "FrameComparison":
    """Compare two tables by the tests of the release gate.

    Raises:
        ComparisonError: The tables have no row in common, or a column is missing or no score.
        ParamsError: No measure decides.
    """
    options.check(tables)
    return FrameComparison(_document(tables, gate, options))


@dataclass(frozen=True, repr=False)
class FrameComparison:
    """The comparison of two tables; printed, it reads as `python -m flows.compare` does.

    document: everything that was found, as `flows.compare --json` writes it.
    """

    document: ComparisonDocument

    @property
    def verdict(self) -> Decision:
        """The decision on the release."""
        return self.document["decision"]["verdict"]

    @property
    def passes(self) -> bool:
        """Whether the release gate lets HEAD pass."""
        return not (self.document["failed"] or self.document["blocked"])

    @property
    def measures(self) -> "pd.DataFrame":
        """One row per compared measure: role, both values, difference with interval and p value, verdict, rows."""
        import pandas as pd

        rows = {name: _row(entry) for name, entry in self._pair["measures"].items()}
        return pd.DataFrame.from_dict(rows, orient="index", columns=MEASURE_COLUMNS).rename_axis("measure")

    @property
    def refused(self) -> dict[str, str]:
        """Measure → why it could not be compared."""
        return {entry["measure"]: entry["reason"] for entry in self._pair["refused"]}

    @property
    def changed_rows(self) -> "pd.DataFrame":
        """One row per id with another result: the pass rates it left (`lost`) or joined (`gained`), the worst first."""
        import pandas as pd

        return pd.DataFrame(self._pair["flips"]["worst"], columns=CHANGED_COLUMNS).set_index("id")

    @property
    def slices(self) -> "pd.DataFrame":
        """One row per measure and value of a slice column, exploratory: p values are adjusted for their number."""
        import pandas as pd

        rows = [
            {**entry["difference"], **entry, "difference": entry["difference"]["value"]}
            for entry in self._pair["slices"]
        ]
        return pd.DataFrame(rows, columns=SLICE_COLUMNS)

    def __str__(self) -> str:
        text = StringIO()
        render.to_terminal(self.document, Console(file=text, width=WIDTH), every=True)
        return "\n".join(line.rstrip() for line in text.getvalue().splitlines())

    __repr__ = __str__

    @property
    def _pair(self) -> PairEntry:
        return self.document["pairs"][0]


INTERVAL = ("low", "high", "p_value")
MEASURE_COLUMNS = (
    *("role", "base", "head", "difference", *INTERVAL, "verdict", "n", "margin"),
    *("more_low", "more_high", "more_of", "unit"),
)
MORE = {"low": "low", "high": "high", "of": "unit"}
CHANGED_COLUMNS = ("id", "lost", "gained", "input", "references", "base", "head")
SLICE_COLUMNS = ("slice", "value", "measure", "n", "difference", *INTERVAL, "q_value", "notable")


def _row(entry: Any) -> list[Any]:
    more = {f"more_{name}": (entry["needed"] or {}).get(key) for name, key in MORE.items()}
    values = {**entry, **entry["difference"], "difference": entry["difference"]["value"], **more}
    return [values[name] for name in MEASURE_COLUMNS]


def gate(primary: str | None, guards: Mapping[str, float], *others: Any) -> Gate:
    names = ("margin", "confidence", "fail_on", "max_unmeasured")
    values = {"primary": primary, "metrics": dict(guards), **dict(zip(names, others, strict=True))}
    return section(Gate, {"compare": values}, "compare")


def _document(tables: tuple[Keyed, Keyed], gate: Gate, options: ColumnOptions) -> ComparisonDocument:
    older, newer = distinct([candidate(table, options) for table in tables])
    pairing = pair(older, newer)
    pairing = pairing.without(unlike(pairing, tables))
    if not len(pairing.head_rows) + len(pairing.changed):
        raise ComparisonError("base and head have no id in common; `on` names the column of ids")
    chosen = shared_primary([[pairing]], gate, random=options.labels_random, option="primary")
    pairs = [[pairing]]
    families = candidate_pairs.compare(pairs, gate, chosen.name, others=options.plain(tables))
    loads = FrameRows(tables[0]), FrameRows(tables[1])
    sides = Sides({"name": BASE, "commit": None}, {"name": HEAD, "commit": None}, loads, [], [])
    return document(sides, pairs, families, chosen, gate, changed_rows_shown=len(pairing.keys))
