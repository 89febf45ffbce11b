"""Synonyms from WordNet 3.0: for a word, the names of its synsets.

Data: wordnet.npz, made by scripts/build_wordnet.py; licence: wordnet.LICENSE.
Source: Fellbaum 1998; morphology of morphy(7WN), as NLTK's WordNetCorpusReader applies it.
"""

import io
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from goldmeter.errors import ModelError
from goldmeter.text.columns import utf8
from goldmeter.text.tokens import Ragged
from goldmeter.text.words import Words

if TYPE_CHECKING:
    from goldmeter.text.kernels.numbering import Table

TABLE = Path(__file__).with_name("wordnet.npz")
PARTS_OF_SPEECH = ("noun", "verb", "adj", "adv")
VERSION = "3.0"

# Endings and their replacements; each rule is applied once, and only results in the index count.
SUFFIXES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "noun": (
        ("s", ""), ("ses", "s"), ("ves", "f"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"),
        ("men", "man"), ("ies", "y"),
    ),
    "verb": (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
}  # fmt: skip

Entries = Mapping[str, Sequence[str]]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class WordNet:
    """Tables of each part of speech; words are numbered, and every table has a row for each word.

    Attributes:
        words: Every lemma, name and irregular form, ascending.
        names: Names without "_" of all synsets of a lemma, as written.
        exceptions: Lemmas of an irregular form.
    """

    words: list[str]
    names: Mapping[str, Ragged]
    exceptions: Mapping[str, Ragged]

    @classmethod
    def of(cls, names: Mapping[str, Entries], exceptions: Mapping[str, Entries]) -> "WordNet":
        """Build the tables from the entries of each part of speech: lemma → names, irregular form → lemmas."""
        entries = [*names.values(), *exceptions.values()]
        words = sorted({word for entry in entries for word in chain(entry, *entry.values())})
        numbers = {word: number for number, word in enumerate(words)}

        def table(rows: Entries) -> Ragged:
            lists = [rows.get(word, ()) for word in words]
            ids = [numbers[word] for row in lists for word in row]
            return Ragged(np.array(ids, np.int32), _offsets([*map(len, lists)]))

        return cls(
            words,
            {part: table(rows) for part, rows in names.items()},
            {part: table(rows) for part, rows in exceptions.items()},
        )

    def related(self, stems: Words) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the synonyms of each stem among the stems: stem i has `ids[offsets[i]:offsets[i + 1]]`, ascending.

        Args:
            stems: n distinct stems, in lower case.

        Returns:
            offsets, shape (n + 1,), and ids, positions in `stems`.

        >>> wordnet().related(Words.of(["auto", "tree", "car"]))
        (array([0, 2, 3, 5]), array([0, 2, 1, 0, 2], dtype=int32))
        """
        from goldmeter.text.kernels.stems import replaced  # importing numba takes half a second

        n = len(stems)
        words = self._find(stems)
        in_index = np.flatnonzero(words >= 0)
        places = np.full(len(self.words), -1, np.int32)
        places[words[in_index]] = in_index
        pairs: list[Integers] = [np.zeros(0, np.int64)]
        for part in PARTS_OF_SPEECH:
            irregular = self.exceptions[part].take(words[in_index])
            is_irregular = np.zeros(n, np.bool_)
            is_irregular[in_index[irregular.lengths > 0]] = True
            data, ends, regular = replaced(stems.data, stems.starts, stems.stops, is_irregular, *_endings(part))
            lemmas = self._find(Words(data, np.concatenate([np.zeros(1, np.int64), ends])[:-1], ends))
            owners = np.concatenate([in_index, np.repeat(in_index, irregular.lengths), regular[lemmas >= 0]])
            names = self.names[part].take(np.concatenate([words[in_index], irregular.ids, lemmas[lemmas >= 0]]))
            synonyms = places[names.ids]
            pairs.append((np.repeat(owners, names.lengths) * np.int64(n) + synonyms)[synonyms >= 0])
        every = np.unique(np.concatenate(pairs))
        return np.searchsorted(every, np.arange(n + 1) * n), (every % n).astype(np.int32)

    def _find(self, words: Words) -> NDArray[np.int32]:
        """Return the number of each word, or -1; shape (n,)."""
        from goldmeter.text.kernels.numbering import find_slices  # importing numba takes half a second

        return find_slices(self._table, words.data, words.starts, words.stops)

    @cached_property
    def _table(self) -> "Table":
        """The words by number; reading a dictionary would cost a forked process a page of memory per access."""
        from goldmeter.text.kernels.numbering import table

        return table(*utf8(pa.array(self.words, pa.large_string())))


@cache
def _endings(part: str) -> tuple[NDArray[np.uint8], Integers]:
    """Return the bytes of the part's endings, each followed by its replacement, and the bounds of all these."""
    texts = Words.of([text for rule in SUFFIXES[part] for text in rule])
    return texts.data, np.concatenate([np.zeros(1, np.int64), texts.stops])


@cache
def wordnet() -> WordNet:
    """Return the bundled table, read once; raise ModelError if it is missing or damaged."""
    return read(TABLE)


def read(path: Path) -> WordNet:
    """Return a table written by `render`; raise ModelError if it is missing or damaged."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            words = arrays["words"].tobytes().decode().split("\n")
            tables = (
                {
                    part: Ragged(arrays[f"{part} {kind}"], _offsets(arrays[f"{part} {kind}, lengths"]))
                    for part in PARTS_OF_SPEECH
                }
                for kind in ("names", "exceptions")
            )
            return WordNet(words, *tables)
    except (OSError, EOFError, ValueError, KeyError, zlib.error, zipfile.BadZipFile) as error:
        raise ModelError(
            f"the WordNet table {path} can't be read ({error}). Restore it from version control, or build "
            "it: python -m scripts.build_wordnet DICT (a WordNet 3.0 dict folder, such as /usr/share/wordnet of "
            "Debian's wordnet-base), or set lexical.meteor.synonyms to false"
        ) from error


def render(table: WordNet) -> bytes:
    """Return the table as a file in NumPy's npz format: the words, and ids and lengths of each table's rows."""
    arrays: dict[str, NDArray[Any]] = {"words": np.frombuffer("\n".join(table.words).encode(), np.uint8)}
    for kind, tables in (("names", table.names), ("exceptions", table.exceptions)):
        for part, rows in tables.items():
            arrays[f"{part} {kind}"], arrays[f"{part} {kind}, lengths"] = rows.ids, rows.lengths.astype(np.uint8)
    content = io.BytesIO()
    np.savez_compressed(content, allow_pickle=False, **arrays)
    return content.getvalue()


def _offsets(lengths: Sequence[int] | NDArray[np.uint8]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])
