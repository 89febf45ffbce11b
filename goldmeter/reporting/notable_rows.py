"""Rows to look at first: the kinds of notable rows, and the answers of one part that each of them applies to."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from goldmeter.console.format import abridged_apart, number, visible
from goldmeter.errors import DataError
from goldmeter.estimates import failures
from goldmeter.estimates.columns import KEYS, Mask, ScoreColumn, hashed, score_columns
from goldmeter.estimates.failures import KINDS, Kinds
from goldmeter.metrics.base import Floats
from goldmeter.pipeline.tables import Parts

# Candidates that are compared row by row with the best one.
MOST_OTHERS = 3
NAME_CHARS = 40


class Kind(NamedTuple):
    """A reason to look at answers; n answers.

    rows: shape (n,), which answers it applies to. severity: shape (n,), larger is worse, NaN is last.
    why: position of an answer → the reason as a sentence. lists: what its rows stand for.
    """

    title: str
    about: str
    rows: Mask
    severity: Floats | None
    why: Callable[[int], str]
    lists: Literal["answer", "question"] = "answer"


class Suspect(NamedTuple):
    """The candidate whose answer contradicts a reference, and why to look at the reference."""

    candidate: str
    why: str


class Suspects(NamedTuple):
    """References to look at first; about: what they would change. by_id: the most suspicious one first."""

    about: str
    by_id: Mapping[str, Suspect]


NO_SUSPECTS = Suspects("", {})


class Decisive(NamedTuple):
    """The primary measure; by: who says so, in words. failures: shape (n,), the kind of failure of each wrong row."""

    column: ScoreColumn
    by: str
    failures: Kinds

    @property
    def right(self) -> Mask:
        """Which rows it measured and does not call wrong; shape (n,)."""
        return np.asarray((self.failures < 0) & ~np.isnan(self.column.values))


@dataclass(frozen=True)
class Answers:
    """The numbers of some answers, aligned; n rows: those of a part, or those that the page shows.

    names: the candidates, the best first. label: shape (n,), the human label: 1, 0, or NaN without a label.
    gated: the columns with a pass rate. blank: shape (n,), answers of white space only. primary: None if the primary
    measure has no pass rate. closest: the metric that agrees best with human labels; without labels, the one nearest to
    meaning. graded: the same of the metrics that are not only right or wrong. Its worst answers come first.
    right_elsewhere: shape (n,), which of the first candidates of `names` answer the id of a row right in rows that are
    not here, a bit each. suspects: references to look at first.
    """

    ids: pa.ChunkedArray
    candidates: pa.ChunkedArray
    names: Sequence[str]
    label: Floats
    gated: list[ScoreColumn]
    blank: Mask
    primary: Decisive | None
    closest: ScoreColumn | None
    graded: ScoreColumn | None
    right_elsewhere: NDArray[np.uint8]
    suspects: Suspects = NO_SUSPECTS

    @cached_property
    def distinct_ids(self) -> pa.Array:
        """The distinct ids, in order of their first row."""
        return self._encoded.dictionary

    @cached_property
    def id_codes(self) -> NDArray[np.int32]:
        """Which of the distinct ids each row has; shape (n,)."""
        return np.asarray(self._encoded.indices.to_numpy(), np.int32)

    @cached_property
    def _encoded(self) -> pa.DictionaryArray:
        return pa.concat_arrays(self.ids.chunks or [pa.array([], pa.string())]).dictionary_encode()

    @cached_property
    def candidate_ranks(self) -> NDArray[np.intp]:
        """The place of each row's candidate in `names`; shape (n,)."""
        places = pc.index_in(self.candidates, pa.array(self.names, pa.string()))
        return np.asarray(places.to_numpy(), np.intp)

    @cached_property
    def badness(self) -> Floats | None:
        """How bad each answer is by the graded metric, larger is worse; shape (n,)."""
        return None if self.graded is None else -self.graded.facts.sign * self.graded.values


def blank(responses: pa.ChunkedArray) -> Mask:
    """Return which answers are empty or white space, shape (n,)."""
    trimmed = pc.equal(pc.utf8_trim_whitespace(responses), "")
    return np.asarray(pc.coalesce(trimmed, pa.scalar(value=False)).to_numpy(), np.bool_)


def notable_kinds(answers: Answers) -> list[Kind]:
    """Return all kinds of notable rows, also those that no row is of: the same ones for every part of a run.

    First the answers that the primary measure calls wrong, by kind of failure; then those whose references are to be
    looked at; then the inputs on which one candidate
    is right and another one wrong, and the answers on which the labels contradict the closest metric. Other metrics
    name no row as wrong.
    """
    wrong = [*_empty_and_worst(answers)] if answers.primary is None else [*_failures(answers.primary, answers)]
    pairs = [] if answers.primary is None else [*_one_right(answers.primary, answers)]
    return [*wrong, _suspicious(answers), *pairs, *_against_labels(answers), _unmeasured(answers)]


def in_order(counts: Sequence[int], *, by_failure: bool) -> list[int]:
    """Return the numbers of the kinds that the run has, in the order of the page.

    Args:
        counts: The rows of each of `notable_kinds` in the run.
        by_failure: Whether the first ones are the kinds of failure, of which the most frequent one comes first.
    """
    failures = len(KINDS) if by_failure else 0
    order = sorted(range(len(counts)), key=lambda kind: (kind >= failures, -counts[kind] if kind < failures else kind))
    return [kind for kind in order if counts[kind]]


def _failures(primary: Decisive, answers: Answers) -> Iterator[Kind]:
    for number_of_kind, (name, about) in enumerate(KINDS):
        why = f"Wrong by {primary.by}: {name}."
        rows = primary.failures == number_of_kind
        yield Kind(name.capitalize(), about, rows, answers.badness, _saying(why))


def _suspicious(answers: Answers) -> Kind:
    ids, found = pa.array(answers.suspects.by_id, pa.string()), [*answers.suspects.by_id.values()]
    places = pc.fill_null(pc.index_in(answers.ids, ids), -1).to_numpy()
    rows = [
        place >= 0 and name == found[place].candidate
        for place, name in zip(places.tolist(), answers.candidates.to_pylist(), strict=True)
    ]
    return Kind(
        "References to look at first",
        answers.suspects.about,
        np.array(rows, np.bool_),
        -places.astype(np.float64),
        lambda row: found[places[row]].why,
        "question",
    )


def _one_right(primary: Decisive, answers: Answers) -> Iterator[Kind]:
    """The inputs that only one of two candidates answers right; the best candidate with each of the next ones."""
    right = primary.right
    for other in range(1, min(len(answers.names), 1 + MOST_OTHERS)):
        for one, two in ((0, other), (other, 0)):
            here = np.isin(answers.id_codes, answers.id_codes[right & (answers.candidate_ranks == one)])
            good = here | (answers.right_elsewhere & (1 << one) > 0)
            bad = (primary.failures >= 0) & (answers.candidate_ranks == two)
            names = answers.names[one], answers.names[two]
            shown = [visible(name) for name in abridged_apart(names, NAME_CHARS).values()]
            why = f"{shown[0]} answers it right."
            yield Kind(
                f"{shown[0]} right, {shown[1]} wrong",
                f"Inputs that {shown[0]} answers right by {primary.by}, and {shown[1]} wrong.",
                good & bad,
                answers.badness,
                _saying(why),
            )


def _against_labels(answers: Answers) -> Iterator[Kind]:
    """The answers on which the closest metric contradicts the human labels."""
    closest = answers.closest
    if closest is None or closest.passed is None:
        return
    name, measured = closest.name, ~np.isnan(closest.values)
    most = f"{name} agrees best with the human labels; these are its errors."
    yield Kind(
        f"Labelled wrong, but {name} passes",
        f"{most} A release gate on it would let such answers through.",
        (answers.label == 0) & measured & closest.passed,
        closest.facts.sign * closest.values,
        _saying(f"Labelled wrong, but {name} passes it."),
    )
    yield Kind(
        f"Labelled right, but {name} fails",
        f"{most} A release gate on it would stop such answers for nothing.",
        (answers.label == 1) & measured & ~closest.passed,
        answers.badness,
        _saying(f"Labelled right, but {name} fails it."),
    )


def _saying(why: str) -> Callable[[int], str]:
    return lambda _: why


def _unmeasured(answers: Answers) -> Kind:
    n = len(answers.label)
    failed = _stacked([np.isnan(column.values) & ~column.not_asked for column in answers.gated], n)
    asked = len(failed) - _stacked([column.not_asked for column in answers.gated], n).sum(0)
    return Kind(
        "Could not be measured",
        "At least one metric failed on these answers. They count in the worst and best case, not in the scores.",
        np.asarray(failed.any(0)),
        failed.sum(0).astype(np.float64),
        lambda row: f"{failed[:, row].sum()} of {asked[row]} metrics could not measure it.",
    )


def _stacked(masks: Sequence[Mask], n: int) -> Mask:
    """Stack masks of shape (n,); shape (len(masks), n), also without masks."""
    return np.array(masks, np.bool_).reshape(len(masks), n)


def _empty_and_worst(answers: Answers) -> Iterator[Kind]:
    """What stands for wrong answers where the primary measure has no pass rate."""
    yield Kind(
        "Empty answers",
        "Only white space: a wrong answer, with the lowest score of every metric.",
        answers.blank,
        None,
        _saying("The answer is empty."),
    )
    column = answers.graded or answers.closest
    if column is None:
        return
    measured = ~np.isnan(column.values)
    passed = np.zeros_like(measured) if column.passed is None else column.passed
    yield Kind(
        f"Worst {column.name}",
        f"Answers that fail {column.name}, the worst scores first.",
        measured & ~passed & ~answers.blank,
        answers.badness,
        lambda row: f"Its {column.name} is {number(float(column.values[row]))}; it passes {column.facts.rule}.",
    )


LABEL = "label"


class PrimaryColumn(NamedTuple):
    """The column of the primary measure; by: who gave its verdicts, in words."""

    name: str
    by: str


class RunColumns(NamedTuple):
    """What the parts of a run are read with; small, because every process gets it.

    tables: by name, data/load first. thresholds: column → fitted threshold. names: the candidates, the best first.
    primary, closest, graded: as of `Answers`, by name. suspects: as of `Answers`.
    """

    tables: Mapping[str, Parts]
    thresholds: Mapping[str, float]
    names: Sequence[str]
    primary: PrimaryColumn | None
    closest: str | None
    graded: str | None
    suspects: Suspects = NO_SUSPECTS


class SplitIds(NamedTuple):
    """The ids of a part some of whose answers may be in other parts; n ids.

    hashes: shape (n,), in order of their first row. right: shape (n,), which of the first candidates answer it right, a
    bit each.
    """

    hashes: NDArray[np.uint64]
    right: NDArray[np.uint8]


class RunPart:
    """One part of all tables of a run; each column is read when it is first asked for."""

    def __init__(self, run: RunColumns, number: int) -> None:
        self.run, self.number = run, number
        self.load = run.tables["load"]

    @cached_property
    def keys(self) -> pa.Table:
        """The ids and candidates of the part."""
        return self.load.part(self.number, [*KEYS])

    @cached_property
    def columns(self) -> dict[str, list[ScoreColumn]]:
        """Name of a table → its score columns.

        Raises:
            DataError: A table has other rows than data/load.
        """
        return {name: self._columns(table) for name, table in self.run.tables.items()}

    @cached_property
    def all_columns(self) -> dict[str, ScoreColumn]:
        """The score columns of all tables, by name."""
        return {column.name: column for columns in self.columns.values() for column in columns}

    def is_wrong(self) -> Mask:
        """Which answers the primary measure calls wrong; shape (n,)."""
        primary = self.run.primary
        return failures.wrong(self.all_columns[primary.name]) if primary else np.zeros(self.keys.num_rows, np.bool_)

    def is_blank(self) -> Mask:
        """Which answers are white space only; shape (n,). False where the primary measure decides what is wrong."""
        if self.run.primary:
            return np.zeros(self.keys.num_rows, np.bool_)
        return blank(self.load.part(self.number, ["response"])["response"])

    def failures(self, chosen: Mask | None = None) -> failures.Kinds:
        """The kind of failure of each answer that the primary measure calls wrong; shape (n,).

        chosen: shape (n,), the answers whose texts are looked at; None: all.
        """
        wrong = self.is_wrong() if chosen is None else self.is_wrong() & chosen
        return failures.kinds_of_part(self.load, self.number, wrong)

    def right_elsewhere(self, of_split: NDArray[np.uint8] | None) -> NDArray[np.uint8]:
        """As of `Answers`, given that of each of `split_ids`; None: no id is in several parts."""
        if of_split is None:
            return np.zeros(self.keys.num_rows, np.uint8)
        of_id = np.zeros(len(self._encoded.dictionary), np.uint8)
        of_id[self._split_places] = of_split
        return np.asarray(of_id[self._encoded.indices.to_numpy()])

    def split_ids(self) -> SplitIds:
        """Return the ids that lack an answer of some candidate in this part, if candidates are compared at all."""
        places = self._split_places
        right = np.zeros(len(places), np.uint8)
        primary = self.run.primary
        if len(places) and primary:
            codes, column = self._encoded.indices.to_numpy(), self.all_columns[primary.name]
            is_right = ~np.isnan(column.values) & ~self.is_wrong()
            names = self.keys["candidate"].combine_chunks()
            for number, name in enumerate(self.run.names[: 1 + MOST_OTHERS]):
                rows = is_right & np.asarray(pc.equal(names, name).to_numpy(zero_copy_only=False))
                right |= np.isin(places, codes[rows]).astype(np.uint8) << number
        hashes = hashed(pa.chunked_array([self._encoded.dictionary.take(pa.array(places))], pa.string()))
        return SplitIds(hashes, right)

    @cached_property
    def _encoded(self) -> pa.DictionaryArray:
        return self.keys["id"].combine_chunks().dictionary_encode()

    @cached_property
    def _split_places(self) -> NDArray[np.intp]:
        """The places of split ids among the distinct ids of the part."""
        if len(self.run.names) < 2 or self.run.primary is None:  # noqa: PLR2004 (nothing to compare)
            return np.empty(0, np.intp)
        return np.flatnonzero(np.bincount(self._encoded.indices.to_numpy()) < len(self.run.names))

    def _columns(self, table: Parts) -> list[ScoreColumn]:
        same = self.number < len(table)
        columns = [*score_columns(table, self.run.thresholds, self.number)] if same else []
        if not same or any(len(column.values) != self.keys.num_rows for column in columns):
            raise DataError(f"{table.folder}: its rows are not those of data/load; `dvc repro` brings them together")
        return columns


def answers_of(
    run: RunColumns,
    keys: pa.Table,
    columns: Mapping[str, ScoreColumn],
    kinds: failures.Kinds,
    is_blank: Mask,
    right_elsewhere: NDArray[np.uint8] | None = None,
) -> Answers:
    """Return some rows of a run as answers; n rows.

    Args:
        run: What its parts are read with.
        keys: Their ids and candidates.
        columns: Their score columns, by name.
        kinds: Shape (n,), the kind of failure of each.
        is_blank: Shape (n,).
        right_elsewhere: As of `Answers`; None: no candidate is.
    """
    n = keys.num_rows
    primary = run.primary
    return Answers(
        ids=keys["id"],
        candidates=keys["candidate"],
        names=run.names,
        label=columns[LABEL].values if LABEL in columns else np.full(n, np.nan),
        gated=[column for name, column in columns.items() if column.passed is not None and name != LABEL],
        blank=is_blank,
        primary=Decisive(columns[primary.name], primary.by, kinds) if primary else None,
        closest=columns[run.closest] if run.closest else None,
        graded=columns[run.graded] if run.graded else None,
        right_elsewhere=np.zeros(n, np.uint8) if right_elsewhere is None else right_elsewhere,
        suspects=run.suspects,
    )
