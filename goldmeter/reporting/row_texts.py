"""Texts of rows on the page and in sheets for labels: explanations of scores, cut texts, changed words, and names."""

import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, takewhile
from typing import Any, NamedTuple

from goldmeter.console.format import Text, shown
from goldmeter.estimates.column_facts import WEIGHT
from goldmeter.estimates.signature import JUDGED_BY
from goldmeter.pipeline.files import to_json
from goldmeter.pipeline.hashing import sha256
from goldmeter.pipeline.tables import Parts

# Suffixes of the columns that explain a score.
SUFFIXES = ("_details", "_reason")


class DetailLines(NamedTuple):
    """Details of a score, one fact per line: its names, then its value; note: says that something was cut."""

    lines: list[list[str]]
    note: str


def explanation_columns(table: Parts) -> list[str]:
    """Return the columns of a table that explain scores, and the one that says who judged."""
    return [name for name in table.schema.names if name.endswith(SUFFIXES) or name == JUDGED_BY]


def metric_of(column: str) -> str:
    """Return the metric whose scores a column explains."""
    for suffix in SUFFIXES:
        column = column.removesuffix(suffix)
    return column


def explanation(column: str, text: str, limit: int) -> Text | DetailLines:
    """Return what a column says about a score, at most `limit` characters of it."""
    return detail_lines(text, limit) if column.endswith("_details") else shown(text, limit)


def detail_lines(details: str, limit: int) -> Text | DetailLines:
    """Return the details of a score as lines, or as a text if they are no JSON object; at most `limit` characters.

    >>> detail_lines('{"threshold": 0.7, "similarities": {"Rom": 0.1}}', 99).lines
    [['threshold', '0.7'], ['similarities', 'Rom', '0.1']]
    """
    facts = json.loads(details)
    if not isinstance(facts, dict):
        return shown(details, limit)
    lines = [*_lines(facts)]
    return DetailLines([*_first(lines, limit)], shown("".join(map("".join, lines)), limit).note)


def _lines(facts: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for name, value in facts.items():
        if isinstance(value, dict):
            yield from ((name, inner_name, _text(inner)) for inner_name, inner in value.items())
        else:
            yield name, _text(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _first(lines: Sequence[Sequence[str]], left: int) -> Iterator[list[str]]:
    """Yield lines until so many characters are used up."""
    for line in lines:
        parts = []
        for part in line:
            parts.append(shown(part, max(0, left)).shown)
            left -= len(part)
        yield parts
        if left <= 0:
            return


# References of an input on the page at most.
REFERENCES_SHOWN = 10
# A text: as it is, or cut and with a note that says so, or none.
PackedText = str | list[str] | None
# What is said about a score: a text, or facts with a note.
PackedExplanation = PackedText | dict[str, Any]


class Beginning(NamedTuple):
    """The beginning of a text, and how many characters the whole text has."""

    text: str
    length: int


class InputTexts(NamedTuple):
    """The input of an id; more: how many references are not shown. weight: None without weights."""

    id: Beginning | None
    input: Beginning | None
    references: list[Beginning | None]
    more: int
    slices: dict[str, str | None]
    weight: float | None = None


def references_shown(row: Mapping[str, Any], max_chars: int) -> tuple[list[Text], int]:
    """Return the first references of a row of data/load, and how many more there are."""
    references = row["references"] or []
    first = [shown(text or "", max_chars) for text in references[:REFERENCES_SHOWN]]
    return first, len(references) - len(first)


def input_texts(row: Mapping[str, Any], whole: int, max_chars: int) -> InputTexts:
    """Return the input of a row of data/load; whole: characters of a text, max_chars: of a slice's value."""
    references = row["references"] or []
    first = references[:REFERENCES_SHOWN]
    return InputTexts(
        beginning(row["id"], whole),
        beginning(row["input"], whole),
        [beginning(text or "", whole) for text in first],
        len(references) - len(first),
        {name: value and value[:max_chars] for name, value in (row.get("slices") or {}).items()},
        row.get(WEIGHT),
    )


def beginning(text: str | None, limit: int) -> Beginning | None:
    """Return at most so many first characters of a text."""
    return None if text is None else Beginning(text[:limit], len(text))


def packed(text: Beginning | None, limit: int) -> PackedText:
    """Return a text as the page has it, cut after so many characters."""
    found: PackedText = None if text is None else _packed(shown(text.text, limit, text.length))
    return found


def packed_explanation(column: str, text: str | None, max_chars: int) -> PackedExplanation:
    """Return what a column says about a score; None without a text."""
    found: PackedExplanation = None if text is None else _packed(explanation(column, text, max_chars))
    return found


def _packed(text: Text | DetailLines) -> Any:
    if isinstance(text, DetailLines):
        return {"facts": text.lines, "note": text.note}
    return [text.shown, text.note] if text.note else text.shown


COLUMNS = (
    *("label", "comment", "reference", "add_reference", "input", "references", "response"),
    *("id", "candidate", "label_probability", "earlier_share", "rater", "row", "sheet"),
)
# What the name of a row depends on.
NAMED_BY = ("id", "candidate", "input", "references", "response")
# How the page's rows come to be labelled, in the name of its sheet.
PAGE = "page"
# Hex digits of each half of a row's name.
DIGITS = 16


def row_name(texts: Mapping[str, Any]) -> str:
    """Return the name of a row in a sheet: hashes of its key and of the texts that are shown.

    The letter in front keeps spreadsheets from reading it as a number.
    """
    return f"r{hashed([texts['id'], texts['candidate']])}-{hashed([texts[name] for name in NAMED_BY[2:]])}"


def hashed(value: object) -> str:
    """Return the first digits of the sha256 of a value as JSON."""
    return sha256(to_json(value)).hex()[:DIGITS]


# The time of an alignment grows with the square of the words. Longer middles are marked as changed as a whole.
MAX_WORDS = 4_000
# Scripts without spaces between words: each character is a piece.
UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x0F00, 0x0FFF),  # Tibetan
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x30FF),  # radicals, Hiragana, Katakana
    (0x31C0, 0x31FF),
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9D),
    (0x1B000, 0x1B16F),
    (0x20000, 0x3FFFF),
)
# Zero-width joiners and variation selectors.
JOINERS = "\u200c\u200d\ufe0e\ufe0f"


class Span(NamedTuple):
    """Consecutive characters of a text; changed: the other text does not have them."""

    text: str
    changed: bool


class WordDiff(NamedTuple):
    """Two texts, each as spans that together are the whole text."""

    before: list[Span]
    after: list[Span]

    @property
    def alike(self) -> bool:
        """Whether the texts share anything. If not, marks would cover both as a whole."""
        return not all(span.changed for span in self.before)


def word_diff(before: str, after: str) -> WordDiff:
    """Compare two texts by words, or by characters where a script has no spaces.

    >>> word_diff("Paris in 1889.", "Paris, in 1887.").after
    [Span(text='Paris', changed=False), Span(text=',', changed=True), Span(text=' in ', changed=False), \
Span(text='1887', changed=True), Span(text='.', changed=False)]
    """
    old, new = pieces(before), pieces(after)
    shared_old, shared_new = _shared(old, new)
    return WordDiff(_spans(old, shared_old), _spans(new, shared_new))


def pieces(text: str) -> list[str]:
    """Split a text into words, single characters of scripts without spaces, white space and signs.

    >>> pieces("It's 東京, ok")
    ['It', "'", 's', ' ', '東', '京', ',', ' ', 'ok']
    """
    split: list[str] = []
    kind = ""
    for character in text:
        new = _kind(character)
        if split and (new == "joined" or (new == kind and new in {"word", "blank"})):
            split[-1] += character
        else:
            split.append(character)
            kind = new
    return split


def _kind(character: str) -> str:
    """Classify a character; "joined" marks and joiners belong to the character before them."""
    category = unicodedata.category(character)
    if category[0] == "M" or character in JOINERS:
        return "joined"
    if character.isspace():
        return "blank"
    if any(first <= ord(character) <= last for first, last in UNSPACED):
        return "unspaced"
    return "word" if category[0] in "LN" or character == "_" else "sign"


def _shared(old: Sequence[str], new: Sequence[str]) -> tuple[list[bool], list[bool]]:
    """Return for each piece of either text whether the other has it; only the middles that differ are aligned."""
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    middles = _aligned(old[start : len(old) - end], new[start : len(new) - end])
    shared_old, shared_new = ([True] * start + middle + [True] * end for middle in middles)
    return shared_old, shared_new


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    """Count the pieces that both texts begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))


def _aligned(old: Sequence[str], new: Sequence[str]) -> tuple[list[bool], list[bool]]:
    from rapidfuzz.distance import Indel

    shared_old, shared_new = [False] * len(old), [False] * len(new)
    if max(len(old), len(new)) > MAX_WORDS:
        return shared_old, shared_new
    for block in Indel.opcodes(old, new):
        if block.tag == "equal" and _has_word(old[block.src_start : block.src_end]):
            shared_old[block.src_start : block.src_end] = [True] * (block.src_end - block.src_start)
            shared_new[block.dest_start : block.dest_end] = [True] * (block.dest_end - block.dest_start)
    return shared_old, shared_new


def _has_word(shared: Sequence[str]) -> bool:
    """Return whether pieces are more than white space and signs, which would only split a mark in two."""
    return any(_kind(piece[0]) in {"word", "unspaced"} for piece in shared)


def _spans(text: Sequence[str], shared: Sequence[bool]) -> list[Span]:
    grouped = groupby(zip(text, shared, strict=True), key=lambda pair: pair[1])
    return [Span("".join(piece for piece, _ in group), not is_shared) for is_shared, group in grouped]
