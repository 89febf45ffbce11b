"""The role of each column, by its name and its values."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from goldmeter.console.format import counted
from goldmeter.dataset.printed_lists import printed_list
from goldmeter.dataset.proposal import given, names, verdicts
from goldmeter.dataset.proposal.candidates import (
    USUAL,
    Label,
    Long,
    Repeats,
    System,
    as_long,
    chosen_systems,
    determines,
    find_long,
    keys,
    repeats,
    systems,
)
from goldmeter.dataset.proposal.columns import CHECK, SINGLE, Choice, Column, Kind, columns, explain
from goldmeter.dataset.proposal.given import Chosen
from goldmeter.dataset.proposal.retrieval import NONE, retrieved
from goldmeter.dataset.proposal.section import quoted, shown
from goldmeter.dataset.sources import Record
from goldmeter.errors import DataError

# Number of values of a slice, and characters of the longest.
FEWEST_VALUES, MOST_VALUES, LONGEST_VALUE = 2, 20, 40
# Fewer values than this among so many records are categories, not groups of related records.
FEW_GROUPS, MANY = 10, 100
LONGEST_CODE = 2
OF_LISTS: frozenset[Kind] = frozenset({"list", "encoded"})
# Share of records without an input up to which the comment does not mention them.
FEW_BLANK = 0.05
_NUMBER_AT_END = re.compile(r"[\W_]*\d+\]?(?:\.\w+)?$")
_NUMBER_IN_PATH = re.compile(r"\[\d+\]")


class Roles(NamedTuple):
    """The columns by role; `unused` have none.

    systems: Of the wide form, name → system; empty in the long form.
    """

    id: Choice
    input: Choice
    references: tuple[Column, ...]
    about_references: str
    systems: Mapping[str, System]
    long: Long | None
    draw: Repeats
    group: Choice
    slices: Sequence[Column]
    contexts: Choice
    relevant: Choice
    unused: Sequence[Column]

    @property
    def answering(self) -> dict[str, System]:
        """The systems; in long form one, under the name of the column that names them."""
        return {self.long.column.name: self.long.system} if self.long else dict(self.systems)


def roles(path: str, records: Sequence[Record], chosen: Chosen, *, alone: bool = True) -> Roles:
    """Find the role of each column of these records.

    Args:
        path: Of the records, for messages.
        records: The first records.
        chosen: What the user said about columns.
        alone: Whether all is in these records; else references and answers may stand in other files.

    Raises:
        DataError: If no column fits an option that `load` requires, or a chosen column does not exist.
    """
    found = columns(records)
    ids = _ids(path, found, chosen)
    asked = _input(path, _without(found, *ids), chosen)
    left = _without(found, asked.column, *ids)
    contexts, relevant = retrieved(path, found, left, chosen)
    references, about = _references(path, _without(left, contexts.column, relevant.column), asked.column, chosen)
    if alone and not references and relevant.column and not chosen.relevant:  # they are the only right answers
        relevant = NONE
        references, about = _references(path, _without(left, contexts.column), asked.column, chosen)
    found_in = [contexts.column, relevant.column]
    left = _without(left, *found_in)
    left = _without(left, *references)
    question = asked.column or next((column for column in ids if column.blank == 0), None)
    long, wide = _answers(path, found, left, question, references, chosen)
    key, draw = _key(ids, asked.column, references, long, wide, _without(left, *_taken(long, wide)))
    draw = _draw(path, found, draw, chosen)
    if alone and (not (key.column or asked.column) or not references or not (long or wide)):
        first = next(iter(references), None)
        raise DataError(explain(path, found, key.column, asked.column, first, [*wide, *([""] if long else [])]))
    answering = _taken(long, wide)
    left = _without(found, key.column, asked.column, *references, *answering, draw.column, *found_in)
    group = _group(path, found, left, chosen)
    if group.column is None and chosen.group is None and not long and draw.option is None and key.column:
        group = _of_one_question(asked.column)
    left = _without(left, group.column)
    questions = len(set(keys(question, *references))) if question else len(records)
    slices = _slices(path, found, left, questions, chosen)
    used = [key.column, asked.column, *references, *answering, draw.column, group.column, *slices, *found_in]
    unused = _unused(found, used)
    return Roles(key, asked, references, about, wide, long, draw, group, slices, contexts, relevant, unused)


def _without(left: Sequence[Column], *taken: Column | None) -> list[Column]:
    return [column for column in left if not any(column is each for each in taken)]


def _taken(long: Long | None, wide: Mapping[str, System]) -> list[Column]:
    """The columns of the answers, their labels, and the systems' names."""
    answering = [long.system] if long else list(wide.values())
    labels = [column for each in answering if each.label for column in each.label.columns]
    return [*(each.response for each in answering), *labels, *([long.column] if long else [])]


def _unused(found: Sequence[Column], used: Sequence[Column | None]) -> list[Column]:
    """The columns without a role; of one in which places have a role, the other places."""
    taken = [column for column in used if column]
    unused: list[Column] = []
    for column in _without(found, *taken):
        is_part = any(column.is_below(other) for other in (*taken, *unused))
        if not is_part and not any(other.is_below(column) for other in taken):
            unused.append(column)
    return unused


def _fitting(
    left: Sequence[Column], fits: Callable[[str], names.Fit | None], kinds: frozenset[Kind]
) -> list[tuple[names.Fit, Column]]:
    """The columns of these kinds whose names fit, the best first; places in nested records last."""
    own = [column for column in left if column.kind in kinds and not column.system]
    found = [(fit, column) for column in own if (fit := column.fit(fits))]
    return sorted(found, key=lambda pair: (bool(pair[1].leaf), pair[0]))


def _ids(path: str, found: Sequence[Column], chosen: Chosen) -> list[Column]:
    """Columns named like an id, the best first."""
    if chosen.id is not None:
        return [given.column(path, found, chosen.id, "--id")] if chosen.id else []
    named = [column for _, column in _fitting(found, names.as_id, SINGLE) if not column.leaf]
    of_groups = [
        c for c in found if c.kind in SINGLE and not c.leaf and c.is_unique and names.words(c.name)[-1:] == ["id"]
    ]
    return named or of_groups


def _key(
    ids: Sequence[Column],
    asked: Column | None,
    references: Sequence[Column],
    long: Long | None,
    wide: Mapping[str, System],
    left: Sequence[Column],
) -> tuple[Choice, Repeats]:
    """The id, which must tell the questions apart, and the repeated answers."""
    system = long.column if long else None
    responses = [long.system.response] if long else [each.response for each in wide.values()]
    for column in ids:
        if column.blank or not determines(column, asked):
            continue
        question = keys(column, system)
        if len(set(question)) == len(question) and not (asked and _numbers_rows(column, asked, long)):
            return Choice(column, _about_id(column, long)), Repeats(None)
        found = repeats(_without(left, column), question, responses)
        if found.option is not None:
            return Choice(column, "stands once per draw"), found
    if asked is None:
        return Choice(None, _no_id(ids)), Repeats(None)
    found = repeats(left, keys(asked, *references, system), responses) if responses else Repeats(None)
    return Choice(None, _no_id(ids)), found


def _draw(path: str, found: Sequence[Column], guess: Repeats, chosen: Chosen) -> Repeats:
    if chosen.draw is None:
        return guess
    column = given.column(path, found, chosen.draw, "--draw") if chosen.draw else None
    return Repeats(column.name if column else None, column, chosen.comment)


def _numbers_rows(column: Column, asked: Column, long: Long | None) -> bool:
    """Whether the id differs between the answers of several systems to one question."""
    return long is not None and len(set(keys(column))) > len(set(keys(asked)))


def _about_id(column: Column, long: Long | None) -> str:
    if long:
        return f"{counted(column.distinct, 'id')}, each once per system"
    return f"each of the {column.records:,} values stands once" if column.records > 1 else ""


def _no_id(ids: Sequence[Column]) -> str:
    if not ids:
        return "none: a hash of the input"
    why = "numbers the records, not the questions" if ids[0].is_unique else "is null or has a value twice"
    return f"none: a hash of the input; {shown(ids[0].name)} {why}"


def _input(path: str, left: Sequence[Column], chosen: Chosen) -> Choice:
    if chosen.input is not None:
        return Choice(given.column(path, left, chosen.input, "--input") if chosen.input else None, chosen.comment)
    fitting = _fitting(left, names.as_input, frozenset({"text", "number"}))
    top = [pair for pair in fitting if not pair[1].leaf]
    if not top or (top[0][1].distinct == 1 < top[0][1].records):
        top = _sources(left) or top
    fitting = top or _of_messages(fitting, left)
    if fitting:
        (fit, best), *more = sorted(fitting, key=lambda pair: _is_sparse(pair[1]))
        others = [column for _, column in more]
        blank = [column for each, column in fitting if each <= fit and _is_sparse(column)]
        return Choice(best, _blank(blank, best, others) if blank else _others(others, unsure=_is_doubtful(fit, best)))
    unfit = [column for _, column in _fitting(left, names.as_input, frozenset({"nested", "list", "encoded"}))]
    why = f"{shown(unfit[0].name)} holds no text: {unfit[0].about}" if unfit else "no column is named like one"
    return Choice(None, f"{CHECK}none; {why}; a judge would not see what was asked")


def _sources(left: Sequence[Column]) -> list[tuple[names.Fit, Column]]:
    """Columns of mostly distinct texts that are named like what is translated or summarised."""
    fitting = _fitting(left, names.as_source, frozenset({"text"}))
    return [(fit, column) for fit, column in fitting if not column.leaf and 2 * column.distinct > len(column.values)]


def _of_messages(fitting: Sequence[tuple[names.Fit, Column]], left: Sequence[Column]) -> list[tuple[names.Fit, Column]]:
    """Places in nested records; of messages, only the last one of the user."""
    by_name = {column.name: column for column in left}
    said = {c.name: by_name.get(f"{c.name.removesuffix('.content')}.role") for c in left if c.leaf == "content"}
    users = [
        column for column in left if (role := said.get(column.name)) and role.texts and set(role.texts) == {"user"}
    ]
    plain = [pair for pair in fitting if said.get(pair[1].name) is None]
    return plain or [(names.Fit(0, 0), column) for column in users[-1:] if column.kind == "text"]


def _is_doubtful(fit: names.Fit, column: Column) -> bool:
    return fit.others > 0 and not column.leaf


def _is_sparse(column: Column) -> bool:
    return column.blank > FEW_BLANK * column.records


def _blank(columns: Sequence[Column], best: Column, others: Sequence[Column]) -> str:
    """The comment on an input if columns that are named like one are blank in many records."""
    told = ", ".join(f"{shown(column.name)} is blank in {column.blank:,} of {column.records:,}" for column in columns)
    told = told if best in columns else f"not the best name, but {told}"
    also = [shown(column.name) for column in others if column not in columns]
    return f"{CHECK}{told}{'; or: ' if also else ''}{', '.join(also)}"


def _references(
    path: str, left: Sequence[Column], asked: Column | None, chosen: Chosen
) -> tuple[tuple[Column, ...], str]:
    """The columns of the references, and the reason."""
    if chosen.references:
        named = [given.column(path, left, name, "--references") for name in chosen.references if name]
        return tuple(named), chosen.comment
    kinds: frozenset[Kind] = SINGLE | OF_LISTS
    fitting = _fitting(left, names.as_references, kinds)
    fitting.sort(key=lambda pair: (bool(pair[1].leaf), pair[1].kind == "boolean"))
    if not fitting:
        fitting = _answers_that_are_right(left, kinds)
    if not fitting and any(column.fit(names.as_response) for column in left):
        labels = [column for column in left if names.key(column.name) in {"label", "labels"}]
        fitting = [(names.Fit(0, 1), column) for column in labels if column.kind in SINGLE]
    if not fitting:
        return _only_list(left)
    best = fitting[0][1]
    if best.kind == "text" and (same := [column for column in left if _lists_names_of(best, column)]):
        return (best, *same), f"the answer and its other names{_also([c for _, c in fitting[1:] if c not in same])}"
    (fit, best), *more = fitting
    others = [column for _, column in more]
    several = _numbered(best, left)
    if len(several) > 1:
        rest = [column for column in others if column not in several]
        return several, f"{len(several)} columns of right answers{_also(rest)}"
    return (best,), _doubt(best, asked) or _others(others, unsure=_is_doubtful(fit, best))


def _answers_that_are_right(left: Sequence[Column], kinds: frozenset[Kind]) -> list[tuple[names.Fit, Column]]:
    """Columns that are just called answers; numbered ones only beside a response."""
    answers = [(fit, column) for fit, column in _fitting(left, names.as_answers, kinds)]
    plain = [pair for pair in answers if _stem_key(pair[1]) in names.ANSWERS]
    lists = [(fit, one) for fit, one in answers if one.holds_lists and not names.names_a_system(one.title)]
    if any(column.fit(names.as_response) for column in left):
        return plain or lists
    return [pair for pair in plain if names.key(pair[1].title) in names.ANSWERS] or lists


def _lists_names_of(best: Column, column: Column) -> bool:
    """Whether a column lists, in most records, the answer of another one among its other names."""
    is_named = names.ALIASES & {*names.words(column.name)} or names.as_answers(column.name)
    if column.leaf or not column.holds_lists or not is_named or names.names_a_system(column.name):
        return False
    both = [(one, other) for one, other in zip(best.cells, column.cells, strict=True) if one and other]
    found = sum(one in ((printed_list(other) if isinstance(other, str) else other) or ()) for one, other in both)
    return 2 * found > len(both)


def _stem_key(column: Column) -> str:
    return names.key(_NUMBER_AT_END.sub("", column.title))


def _numbered(best: Column, left: Sequence[Column]) -> tuple[Column, ...]:
    """The columns that differ from this one in a number at the end only, or in a position in a list."""
    if best.leaf:
        pattern = _NUMBER_IN_PATH.sub("[]", best.name)
        return tuple(c for c in left if c.leaf and _NUMBER_IN_PATH.sub("[]", c.name) == pattern)
    stem = _stem_key(best)
    return tuple(c for c in left if not c.leaf and _stem_key(c) == stem and c.kind in {"text", "number", "empty"})


def _only_list(left: Sequence[Column]) -> tuple[tuple[Column, ...], str]:
    """The only column of lists of texts, unless its name says something else."""
    lists = [column for column in left if column.holds_lists and not column.leaf]
    if named := [column for column in lists if names.ALIASES & {*names.words(column.name)}]:
        return (named[0],), _others(named[1:], unsure=False)
    other = names.ABOUT | names.PHRASES | names.LABEL_WORDS
    fits = (names.as_input, names.as_answers, names.as_response, names.as_group)
    if len(lists) != 1 or other & set(names.words(lists[0].name)) or any(fit(lists[0].name) for fit in fits):
        return (), ""
    return (lists[0],), f"{CHECK}the only column of lists of texts; are they the right answers?"


def _doubt(references: Column, asked: Column | None) -> str:
    """Why the column may not hold references, although its name says so."""
    if references.kind == "boolean":
        return f"{CHECK}true and false; people's verdict on an answer would be its label"
    questions = min(len(references.values), asked.distinct if asked else references.records)
    repeated = 2 * references.distinct <= questions
    if references.kind == "text" and references.longest <= LONGEST_CODE and repeated:
        return f"{CHECK}codes such as {quoted(references.texts[0])}; the answers must be codes, too"
    return ""


def _others(columns: Sequence[Column], *, unsure: bool) -> str:
    listed = ", ".join(shown(column.name) for column in columns)
    also = f"or: {listed}" if columns else ""
    if unsure:
        return f"{CHECK}only part of its name says so{f'; {also}' if also else ''}"
    return f"by its name; {also}" if also else "by its name"


def _also(columns: Sequence[Column]) -> str:
    return f"; or: {', '.join(shown(column.name) for column in columns)}" if columns else ""


def _answers(
    path: str,
    found: Sequence[Column],
    left: Sequence[Column],
    question: Column | None,
    references: Sequence[Column],
    chosen: Chosen,
) -> tuple[Long | None, Mapping[str, System]]:
    """The long form or the systems of the wide form, with the labels that the user named."""
    named = given.by_system(path, found, chosen.candidates, "--candidate")
    response = next(iter(named.values()), None) if len(named) == 1 else None
    long = None
    if chosen.systems:
        column = given.column(path, found, chosen.systems, "--systems")
        long = as_long(left, column, references, response)
    elif chosen.systems is None and len(named) <= 1 and not any("=" in text for text in chosen.candidates):
        long = find_long(left, question, references, response)
    wide = {} if long else chosen_systems(left, named) if named else systems(left, references)
    if not chosen.labels:
        return long, wide
    own = {"": long.system} if long else wide
    labelled = {**own, **_labelled(path, found, own, chosen)}
    return (Long(long.column, labelled[""]), {}) if long else (None, labelled)


def _labelled(path: str, found: Sequence[Column], own: Mapping[str, System], chosen: Chosen) -> dict[str, System]:
    """The systems with the label columns that the user named.

    Raises:
        DataError: The values of such a column are no verdicts.
    """
    labelled = {}
    for name, column in given.labels(path, found, chosen.labels, own):
        reading = verdicts.reading(column) or verdicts.of_named_grades(column)
        if reading is None:
            texts = ", ".join(quoted(text) for text in dict.fromkeys(column.texts[:5]))
            raise DataError(
                f"--label {column.name}: {texts}: not known as verdicts; write in params.yaml: "
                f"label: {{column: {shown(column.name)}, right: […], wrong: […]}}"
            )
        labelled[name] = System(own[name].response, Label((column,), reading), reading.doubt)
    return labelled


def _group(path: str, found: Sequence[Column], left: Sequence[Column], chosen: Chosen) -> Choice:
    if chosen.group is not None:
        return Choice(given.column(path, found, chosen.group, "--group") if chosen.group else None, chosen.comment)
    for _, column in _fitting(left, names.as_group, frozenset({"text", "number"})):
        is_repeated = FEWEST_VALUES <= column.distinct < len(column.values)
        if is_repeated and not column.leaf and not (column.distinct < FEW_GROUPS and column.records >= MANY):
            return Choice(column, f"{column.distinct:,} values in {column.records:,} records")
    return Choice(None)


def _of_one_question(asked: Column | None) -> Choice:
    """The input, if most questions were asked several times: answers to one question are not independent."""
    if asked is None or not asked.values:
        return Choice(None)
    counts = Counter(map(str, asked.values))
    if len(counts) < FEWEST_VALUES or sum(count > 1 for count in counts.values()) < USUAL * len(counts):
        return Choice(None)
    told = f"{asked.records:,} records ask {len(counts):,} questions, so that intervals are by question"
    return Choice(asked, f"{CHECK}{told}; --systems COLUMN if a column names the system")


def _slices(path: str, found: Sequence[Column], left: Sequence[Column], questions: int, chosen: Chosen) -> list[Column]:
    if chosen.slices is not None:
        return [given.column(path, found, name, "--slice") for name in chosen.slices if name]
    return [column for column in left if is_slice(column, questions)]


def is_slice(column: Column, questions: int) -> bool:
    """Whether the column has few, short, repeated values; numbers and nested ones only by name. Never verdicts.

    questions: Number of distinct questions: a slice has several, however many answers each of them has.
    """
    each = set(names.words(column.leaf or column.name))
    named = bool(names.SLICES & each)
    if column.kind not in SINGLE or ((column.kind == "number" or column.leaf) and not named):
        return False
    is_score = column.kind in {"boolean", "number"} and names.SCORES & each
    if names.EXCLUDED & each or is_score or verdicts.is_verdict(column):
        return False
    few = FEWEST_VALUES <= column.distinct <= MOST_VALUES and 2 * column.distinct <= min(len(column.values), questions)
    return few and column.longest <= LONGEST_VALUE and 2 * len(column.values) >= column.records
