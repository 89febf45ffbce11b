"""What is known of all records before the first row is made: repeated ids, numbers of equal inputs, names, draws."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias, TypeVar

from tasks.dataset import mapping
from tasks.dataset.answers import Source, candidate_name, raw_draw
from tasks.dataset.paths import quoted
from tasks.dataset.settings import Dataset
from tasks.dataset.sources import Record
from tasks.errors import DataError, did_you_mean
from tasks.pipeline.hashing import sha256

Place: TypeAlias = tuple[str, int]
Kept = TypeVar("Kept")
# Candidates of a long table: more are a column of something else.
MOST_CANDIDATES = 1_000
NAMES_LISTED = 30


class RecordIndex(NamedTuple):
    """What is known of all records before the first row is made; a position counts the selected records from 0.

    numbers: For inputs that several records share: hash of the input → hash of the references → number, from 1.
    repeated: Position of a record whose key an earlier record has → file and line of the earlier one.
    differing: Position of a record that asks something else than the first one of its id → place of that one.
    later: Positions of the records that are not the first of their question, if some answers are in joined files.
    draws: Position → number of the answer among those to the question, where the order of records says it; else 1.
    first_draw: The smallest number in the column of draws, 0 or 1.
    names: The candidates, in the order in which tables list them.
    asked: Position of a record that only says that an answer is missing → first record that holds its question.
    unanswered: Candidate of a long table → questions for which it has no record, if there are any.
    beyond_limit: Candidate of a long table all of whose records `dataset.limit` cuts off → their number.
    """

    numbers: Mapping[bytes, Mapping[bytes, int]]
    repeated: Mapping[int, Place]
    differing: Mapping[int, Place]
    later: frozenset[int]
    draws: Mapping[int, int]
    first_draw: int
    names: tuple[str, ...]
    asked: Mapping[int, Record]
    unanswered: Mapping[str, int]
    beyond_limit: Mapping[str, int]


def unrelated(dataset: Dataset) -> RecordIndex:
    """Return the index of records in the wide form that have nothing to do with each other."""
    return RecordIndex(
        numbers={}, repeated={}, differing={}, later=frozenset(), draws={}, first_draw=1,
        names=tuple(dataset.named), asked={}, unanswered={}, beyond_limit={},
    )  # fmt: skip


def index_records(records: Iterable[Record], source: Source) -> RecordIndex:
    """Find in one pass what later passes need; a second one finds the first record of each repeated key.

    Without an id column the same input and references are the same id. In memory: a hash per record.

    Raises:
        DataError: No record is selected, or the names of candidates can't be used.
    """
    found = _Found(source)
    position = -1
    for position, record in enumerate(mapping.selected(records, source.dataset)):
        found.add(position, record)
    if position < 0:
        exclude = source.dataset.exclude
        reason = f"no record is left; dataset.exclude leaves out all: {exclude}" if exclude else "there is no record"
        raise DataError(f"dataset: {reason}")
    beyond = _beyond_limit(records, found.names, source.dataset)
    numbers = {text: {key: number for number, key in enumerate(sorted(keys), 1)} for text, keys in found.shared.items()}
    return RecordIndex(
        numbers,
        _places(records, found.again, source, _unit),
        _places(records, found.differing, source, _asked_question),
        frozenset(found.later),
        found.draws,
        min(found.first_draw, _first_draw(source)),
        _names(found.names, beyond, source),
        _first_of(records, found.missing, source, _asked_question, lambda record: record),
        found.unanswered,
        beyond,
    )


@dataclass
class _Found:
    """Collects what `RecordIndex` holds, record by record."""

    source: Source
    first: dict[bytes, bytes] = field(default_factory=dict)
    shared: dict[bytes, set[bytes]] = field(default_factory=dict)
    again: dict[int, bytes] = field(default_factory=dict)
    differing: dict[int, bytes] = field(default_factory=dict)
    later: set[int] = field(default_factory=set)
    draws: dict[int, int] = field(default_factory=dict)
    first_draw: int = 1
    names: dict[str, None] = field(default_factory=dict)
    units: set[bytes] = field(default_factory=set)
    counts: Counter[bytes] = field(default_factory=Counter)
    contents: dict[bytes, bytes] = field(default_factory=dict)
    missing: dict[int, bytes] = field(default_factory=dict)
    answered: Counter[str] = field(default_factory=Counter)
    pairs: set[bytes] = field(default_factory=set)
    questions: set[bytes] = field(default_factory=set)

    def add(self, position: int, record: Record) -> None:
        """Take in the next record."""
        name = candidate_name(record, self.source.dataset)
        if name is not None and len(self.names) <= MOST_CANDIDATES:
            self.names[name] = None
        key = mapping.question_key(record, self.source)
        if key is None:
            return
        is_known = self._number(*key)
        if self.source.is_plain:
            if is_known:
                self.again[position] = _joined_hash(key)
            return
        if is_known and self.source.joined.candidates:
            self.later.add(position)
        question = _joined_hash(key)
        self._answer(question, name)
        if mapping.is_missing_sample(record, self.source.dataset):
            self.missing[position] = question
        else:
            self._compare(position, record, question)
        self._count(position, record, question)

    @property
    def unanswered(self) -> dict[str, int]:
        """Candidate of a long table → questions for which it has no record, if there are any."""
        return {
            name: len(self.questions) - number
            for name, number in sorted(self.answered.items())
            if number < len(self.questions)
        }

    def _answer(self, question: bytes, name: str | None) -> None:
        """Count the questions for which a candidate of a long table has a record."""
        if name is None:
            return
        self.questions.add(question)
        pair = mapping.json_hash([question.hex(), name])
        self.answered[name] += pair not in self.pairs
        self.pairs.add(pair)

    def _number(self, text: bytes, references: bytes) -> bool:
        """Return whether an earlier record has the same key."""
        if text not in self.first:
            self.first[text] = references
            return False
        others = self.shared.setdefault(text, {self.first[text]})
        is_known = references in others
        others.add(references)
        return is_known

    def _compare(self, position: int, record: Record, question: bytes) -> None:
        """Note a record that asks something else than the first one of its id."""
        if self.source.dataset.id is None:
            return  # the id is made of what is asked
        content = mapping.content_of(record, self.source)
        if content is not None and self.contents.setdefault(question, content) != content:
            self.differing[position] = question

    def _count(self, position: int, record: Record, question: bytes) -> None:
        """Number the answers, or note one that is there twice."""
        if raw_draw(record.values, self.source.dataset) == 0:
            self.first_draw = 0
        unit = _unit_of(record, question, self.source)
        if unit is None or position in self.differing:
            return
        if self.source.dataset.draw is True:
            self.counts[unit] += 1
            if self.counts[unit] > 1:
                self.draws[position] = self.counts[unit]
        elif unit in self.units:
            self.again[position] = unit
        else:
            self.units.add(unit)


def _first_draw(source: Source) -> int:
    """Return 0 if a column of draws in a joined file holds a 0."""
    entries = (entry for one in source.joined.candidates.values() for some in one.entries.values() for entry in some)
    return 0 if any(raw_draw(entry.values, source.dataset) == 0 for entry in entries) else 1


def _question(record: Record, source: Source) -> bytes | None:
    key = mapping.question_key(record, source)
    return None if key is None else _joined_hash(key)


def _joined_hash(key: tuple[bytes, bytes]) -> bytes:
    return sha256(key[0].hex() + key[1].hex())


def _unit(record: Record, source: Source) -> bytes | None:
    question = _question(record, source)
    return question if question is None or source.is_plain else _unit_of(record, question, source)


def _unit_of(record: Record, question: bytes, source: Source) -> bytes | None:
    """Return a hash of what must be unique: the question, its candidate in the long form, and its draw."""
    dataset = source.dataset
    name = candidate_name(record, dataset)
    if dataset.long and name is None:
        return None
    draw = raw_draw(record.values, dataset)
    if isinstance(dataset.draw, str) and draw is None:
        return None
    return mapping.json_hash([question.hex(), name, draw])


def _asked_question(record: Record, source: Source) -> bytes | None:
    return None if mapping.is_missing_sample(record, source.dataset) else _question(record, source)


def _places(
    records: Iterable[Record],
    later: Mapping[int, bytes],
    source: Source,
    key_of: Callable[[Record, Source], bytes | None],
) -> dict[int, Place]:
    """Return for each position the place of the first record with the same key."""
    return _first_of(records, later, source, key_of, lambda record: (record.file, record.line))


def _first_of(
    records: Iterable[Record],
    later: Mapping[int, bytes],
    source: Source,
    key_of: Callable[[Record, Source], bytes | None],
    kept: Callable[[Record], Kept],
) -> dict[int, Kept]:
    """Return for each position what is kept of the first record with the same key, if there is one."""
    found: dict[bytes, Kept] = {}
    wanted = set(later.values())
    for record in mapping.selected(records, source.dataset) if wanted else ():
        key = key_of(record, source)
        if key is not None and key in wanted:
            if key not in found:
                found[key] = kept(record)
            if len(found) == len(wanted):
                break
    return {position: found[key] for position, key in later.items() if key in found}


def _beyond_limit(records: Iterable[Record], names: Iterable[str], dataset: Dataset) -> dict[str, int]:
    """Count the records of candidates of a long table that `limit` cuts off as a whole; reads all records."""
    if dataset.long is None or dataset.limit is None:
        return {}
    all_records = mapping.selected(records, dataset.model_copy(update={"limit": None}))
    counted = Counter(candidate_name(record, dataset) for record in all_records)
    return {name: number for name, number in sorted(counted.items(), key=str) if name and name not in names}


def _names(found: Mapping[str, None], beyond: Mapping[str, int], source: Source) -> tuple[str, ...]:
    """Return the names of the candidates; beyond: those that have no record before the limit."""
    long = source.dataset.long
    if long is None:
        return tuple(source.dataset.named)
    if not found:
        raise DataError(f"dataset.candidates.column: no record has a name in {long.column}")
    if len(found) > MOST_CANDIDATES:
        raise DataError(
            f"dataset.candidates.column: {long.column} has more than {MOST_CANDIDATES:,} different values, such as "
            f"{', '.join(map(quoted, [*found][:3]))}; it names no systems"
        )
    for option, names in (("only", long.only), ("about", long.about)):
        for name in names:
            if name not in found and name not in beyond and not (option == "about" and long.only):
                listed = ", ".join(map(quoted, sorted([*found, *beyond])[:NAMES_LISTED]))
                raise DataError(
                    f"dataset.candidates.{option}: no record has {quoted(name)} in {long.column}"
                    f"{did_you_mean(name, found, quoted)}\nits values: {listed}"
                )
    return tuple(name for name in long.only if name in found) or tuple(sorted(found))
