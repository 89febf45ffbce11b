"""The rows that the page shows, gathered part by part: their numbers, and their texts as the page cuts them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from goldmeter.estimates.column_facts import WEIGHT
from goldmeter.estimates.columns import Mask, ScoreColumn
from goldmeter.estimates.failures import Kinds
from goldmeter.pipeline.tables import Parts
from goldmeter.pipeline.workers import Crew
from goldmeter.reporting import row_texts
from goldmeter.reporting.histograms import Bins, BinValues, joined
from goldmeter.reporting.notable_rows import Answers, RunColumns, RunPart, answers_of

Sizes = NDArray[np.int64]
# Characters of text that are kept at most. Of these, answers that do not fit when compressed are left out.
MOST_CHARACTERS = 32_000_000
# Characters of a text that are kept, where there are few enough answers.
WHOLE = 20_000
CARD_COLUMNS = ("input", "response", "references", "slices")


class RowTexts(NamedTuple):
    """The texts of a row.

    input: of the row's id. explanations: by column, None without one. name: of the row in a sheet for labels.
    size, input_size: the characters that the row's texts and the input of its id take.
    """

    input: row_texts.InputTexts
    response: row_texts.Beginning | None
    explanations: dict[str, row_texts.PackedExplanation]
    name: str
    size: int
    input_size: int


class CardTexts(NamedTuple):
    """The texts of a row with a card, not cut; row: columns of data/load. details: column → explanation of a score."""

    row: dict[str, Any]
    details: dict[str, str]


class ChosenRows(NamedTuple):
    """Some rows of a run, in the order of their ids, then of their candidates; n rows.

    places: shape (n,), the place of the row's id among the chosen ones. keys: id and candidate. ranks: shape (n,), the
    place of the candidate among all. columns: table and score column. kinds: shape (n,), of failures. is_blank: shape
    (n,). cards: (id, candidate) → texts, of the ids with cards.
    """

    places: NDArray[np.intp]
    keys: pa.Table
    ranks: NDArray[np.intp]
    columns: list[tuple[str, ScoreColumn]]
    kinds: Kinds
    is_blank: Mask
    texts: list[RowTexts]
    cards: dict[tuple[str, str], CardTexts]

    def first_ids(self, ids: int) -> "ChosenRows":
        """Return the rows of so many of the first ids."""
        return _rows(self, np.flatnonzero(self.places < ids))

    def answers(self, run: RunColumns) -> Answers:
        """Return the numbers of the rows."""
        columns = {column.name: column for _, column in self.columns}
        return answers_of(run, self.keys, columns, self.kinds, self.is_blank)


class Gathering(NamedTuple):
    """What is gathered of the parts.

    ids: the chosen ids, in their order. cards: how many of the first ones have a card. whole: characters of a text at
    most. max_chars: of an explanation. quartiles: column → its bins, and which of its narrow bins hold quartiles.
    """

    ids: pa.Array
    cards: int
    whole: int
    max_chars: int
    quartiles: Mapping[str, tuple[Bins, NDArray[np.bool_]]]


def whole_chars(max_chars: int, answers: int) -> int:
    """Return how many characters of a text are kept: at least max_chars, more where there are few answers."""
    return max(max_chars, min(WHOLE, MOST_CHARACTERS // (2 * max(answers, 1))))


def rows_of_ids(crew: Crew, run: RunColumns, ids: pa.Array) -> NDArray[np.int64]:
    """Return how many answers each id has; shape (len(ids),)."""
    found = crew.map(_rows_of_ids, repeat(run), range(len(run.tables["load"])), repeat(ids))
    return np.asarray(np.sum([*found], axis=0, dtype=np.int64))


class Gathered(NamedTuple):
    """What the parts hold of it.

    rows: of the chosen ids whose texts fit, and of those with cards. fitting: how many of the first ids' texts fit.
    scores: column → those in its bins with quartiles.
    """

    rows: ChosenRows
    fitting: int
    scores: dict[str, BinValues]


def gathered(crew: Crew, run: RunColumns, gathering: Gathering) -> Gathered:
    """Gather the rows of the chosen ids; memory holds no more than a few times the characters that are kept."""
    rows: list[ChosenRows] = []
    scores: dict[str, list[BinValues]] = {name: [] for name in gathering.quartiles}
    size, end = 0, len(gathering.ids)
    for chosen, near in crew.map(_gathered, repeat(run), range(len(run.tables["load"])), repeat(gathering)):
        rows.append(chosen.first_ids(max(gathering.cards, end)))
        size += sum(one.size for one in rows[-1].texts)
        if size > 2 * MOST_CHARACTERS:
            both = _in_order(rows)
            end = min(end, _fitting(both))
            rows = [both.first_ids(max(gathering.cards, end))]
            size = sum(one.size for one in rows[0].texts)
        for name, one in near.items():
            scores[name].append(one)
    every = _in_order(rows)
    end = min(end, _fitting(every))
    fitting = every.first_ids(max(gathering.cards, end))
    return Gathered(fitting, end, {name: joined(parts) for name, parts in scores.items()})


def _rows_of_ids(run: RunColumns, number: int, ids: pa.Array) -> NDArray[np.int64]:
    places = _places(run.tables["load"], number, ids)
    return np.bincount(places[places >= 0], minlength=len(ids))


def _places(load: Parts, number: int, ids: pa.Array) -> NDArray[np.intp]:
    """Return the place of each row's id among `ids`, -1 where it is not; shape (rows,)."""
    found = pc.index_in(load.part(number, ["id"])["id"], ids)
    return np.asarray(pc.fill_null(found, -1).to_numpy(), np.intp)


def _gathered(run: RunColumns, number: int, gathering: Gathering) -> tuple[ChosenRows, dict[str, BinValues]]:
    part = RunPart(run, number)
    places = _places(part.load, number, gathering.ids)
    rows = np.flatnonzero(places >= 0)
    codes = pc.index_in(part.keys["candidate"], pa.array(run.names, pa.string())).to_numpy().astype(np.intp)
    chosen = ChosenRows(
        places=places[rows],
        keys=part.keys.take(pa.array(rows)),
        ranks=codes[rows],
        columns=[
            (name, replace(column.rows(rows), stats=None))
            for name, columns in part.columns.items()
            for column in columns
        ],
        kinds=part.failures(places >= 0)[rows],
        is_blank=part.is_blank()[rows],
        texts=_texts(run.tables, number, rows, gathering),
        cards=_cards(run.tables, number, np.flatnonzero((places >= 0) & (places < gathering.cards))),
    )
    scores = {
        name: bins.values(part.all_columns[name].values, codes, wanted)
        for name, (bins, wanted) in gathering.quartiles.items()
    }
    return chosen, scores


def _texts(tables: Mapping[str, Parts], number: int, rows: NDArray[np.intp], gathering: Gathering) -> list[RowTexts]:
    (load, *others), max_chars, whole = tables.values(), gathering.max_chars, gathering.whole
    wanted = (*row_texts.NAMED_BY, "slices", WEIGHT)
    present = [name for name in wanted if name in load.schema.names]
    table = load.part(number, present).take(pa.array(rows))
    sizes = _size(table["response"], whole)
    input_sizes = sum((_size(table[name], whole) for name in ("id", "input", "references")), np.zeros_like(sizes))
    explanations: list[dict[str, row_texts.PackedExplanation]] = [{} for _ in rows]
    for other in others:
        names = row_texts.explanation_columns(other)
        explained = other.part(number, names).take(pa.array(rows)) if names else pa.table({})
        for name in names:
            sizes = sizes + _size(explained[name], max_chars)
            for own, text in zip(explanations, explained[name].to_pylist(), strict=True):
                own[name] = row_texts.packed_explanation(name, text, max_chars)
    return [
        RowTexts(
            row_texts.input_texts(row, whole, max_chars),
            row_texts.beginning(row["response"], whole),
            own,
            row_texts.row_name(row),
            *size,
        )
        for row, own, *size in zip(table.to_pylist(), explanations, sizes.tolist(), input_sizes.tolist(), strict=True)
    ]


def _cards(tables: Mapping[str, Parts], number: int, rows: NDArray[np.intp]) -> dict[tuple[str, str], CardTexts]:
    if not len(rows):
        return {}
    load, *others = tables.values()
    taken = pa.array(rows)
    names = [name for name in CARD_COLUMNS if name in load.schema.names]
    keys = load.part(number, ["id", "candidate"]).take(taken).to_pylist()
    texts = load.part(number, names).take(taken).to_pylist()
    details: list[dict[str, str]] = [{} for _ in keys]
    for other in others:
        if columns := row_texts.explanation_columns(other):
            for own, row in zip(details, other.part(number, columns).take(taken).to_pylist(), strict=True):
                own |= {name: str(text) for name, text in row.items() if text is not None}
    return {
        (key["id"], key["candidate"]): CardTexts(row, own) for key, row, own in zip(keys, texts, details, strict=True)
    }


def _size(texts: pa.ChunkedArray, max_chars: int) -> Sizes:
    """Return the characters that texts take at most; shape (n,)."""
    is_list = pa.types.is_list(texts.type)
    flat = pc.binary_join(texts, "") if is_list else texts
    lengths = np.asarray(pc.fill_null(pc.utf8_length(flat), 0).to_numpy(), np.int64)
    return np.minimum(lengths, (row_texts.REFERENCES_SHOWN if is_list else 1) * max_chars)


def _fitting(rows: ChosenRows) -> int:
    """Return the number of first ids whose texts are at most MOST_CHARACTERS."""
    starts = np.diff(rows.places, prepend=-1) != 0
    sizes = np.array(
        [one.size + one.input_size * start for one, start in zip(rows.texts, starts, strict=True)], np.int64
    )
    beyond = np.flatnonzero(sizes.cumsum() > MOST_CHARACTERS)
    return int(rows.places[beyond[0]]) if len(beyond) else int(rows.places.max(initial=-1)) + 1


def _in_order(parts: Sequence[ChosenRows]) -> ChosenRows:
    """Join rows of several parts, in the order of their ids, then of their candidates."""
    first, *_ = parts
    both = ChosenRows(
        np.concatenate([part.places for part in parts]),
        pa.concat_tables([part.keys for part in parts]),
        np.concatenate([part.ranks for part in parts]),
        [
            (name, _joined_column([part.columns[number][1] for part in parts]))
            for number, (name, _) in enumerate(first.columns)
        ],
        np.concatenate([part.kinds for part in parts]),
        np.concatenate([part.is_blank for part in parts]),
        [one for part in parts for one in part.texts],
        {key: texts for part in parts for key, texts in part.cards.items()},
    )
    return _rows(both, np.lexsort((both.ranks, both.places)))


def _joined_column(parts: Iterable[ScoreColumn]) -> ScoreColumn:
    columns = [*parts]
    passed = [column.passed for column in columns if column.passed is not None]
    return replace(
        columns[0],
        values=np.concatenate([column.values for column in columns]),
        not_asked=np.concatenate([column.not_asked for column in columns]),
        passed=np.concatenate(passed) if passed else None,
        stats=None,
    )


def _rows(chosen: ChosenRows, rows: NDArray[np.intp]) -> ChosenRows:
    """Return some rows, by their numbers; the cards stay."""
    return ChosenRows(
        chosen.places[rows],
        chosen.keys.take(pa.array(rows)),
        chosen.ranks[rows],
        [(name, column.rows(rows)) for name, column in chosen.columns],
        chosen.kinds[rows],
        chosen.is_blank[rows],
        [chosen.texts[row] for row in rows.tolist()],
        chosen.cards,
    )
