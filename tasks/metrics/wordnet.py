"""WordNet 3.0's synonyms: for a word, the names its synsets go by.

Data: wordnet.gz, made by scripts/build_wordnet.py; licence: wordnet.LICENSE.
Source: Fellbaum 1998; morphology of morphy(7WN), as NLTK's WordNetCorpusReader applies it.
"""

import gzip
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, compress, repeat
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tasks.errors import ModelError

TABLE = Path(__file__).with_name("wordnet.gz")
PARTS_OF_SPEECH = ("noun", "verb", "adj", "adv")
VERSION = "3.0"

_SUFFIXES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "noun": (
        ("s", ""),
        ("ses", "s"),
        ("ves", "f"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "verb": (
        ("s", ""),
        ("ies", "y"),
        ("es", "e"),
        ("es", ""),
        ("ed", "e"),
        ("ed", ""),
        ("ing", "e"),
        ("ing", ""),
    ),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
}
"""Endings and what replaces them; each rule is applied once, and the results found in the index count."""

_ENDINGS = {part: tuple({old for old, _ in rules}) for part, rules in _SUFFIXES.items()}
"""A word without one of them has no lemma but itself, or is an exception."""

Entries = Mapping[str, str]


@dataclass(frozen=True)
class WordNet:
    """The tables of each part of speech.

    names: lemma → the lemma names without "_" of all its synsets, as written, separated by blanks.
    exceptions: inflected form → its lemmas, separated by blanks.
    """

    names: Mapping[str, Entries]
    exceptions: Mapping[str, Entries]

    def synonyms(self, word: str) -> frozenset[str]:
        """The lemma names without "_" of every synset of the word, after morphology; empty when unknown.

        >>> sorted(wordnet().synonyms("autos"))
        ['auto', 'automobile', 'car', 'machine', 'motorcar']
        """
        word = word.lower()
        return frozenset(
            name
            for part in PARTS_OF_SPEECH
            for lemma in self._lemmas(word, part)
            for name in self.names[part].get(lemma, "").split()
        )

    def related(self, stems: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The synonyms of each stem among the stems: those of stem i are `ids[offsets[i]:offsets[i + 1]]`, ascending.

        stems: n different ones, lower-case. offsets: shape (n + 1,). ids: positions in `stems`.

        >>> wordnet().related(["auto", "tree", "car"])
        (array([0, 2, 3, 5]), array([0, 2, 1, 0, 2], dtype=int32))
        """
        n = len(stems)
        ids = dict(zip(stems, range(n), strict=True))
        owners: list[int] = []
        entries: list[str] = []
        for part in PARTS_OF_SPEECH:
            inflected = [stem for stem in stems if stem.endswith(_ENDINGS[part])]
            irregular = ids.keys() & self.exceptions[part].keys()
            forms = [(ids[stem], lemma) for stem in chain(inflected, irregular) for lemma in self._lemmas(stem, part)]
            found = list(map(self.names[part].get, chain(stems, (lemma for _, lemma in forms))))
            owners += compress(chain(range(n), (i for i, _ in forms)), found)
            entries += filter(None, found)
        names = np.fromiter(map(ids.get, " ".join(entries).split(), repeat(-1)), np.int64)
        owner = np.repeat(np.array(owners, np.int64), [entry.count(" ") + 1 for entry in entries])
        pairs = np.unique((owner * n + names)[names >= 0])
        return np.searchsorted(pairs, np.arange(n + 1) * n), (pairs % n).astype(np.int32)

    def _lemmas(self, word: str, part: str) -> Iterator[str]:
        yield word
        exceptions = self.exceptions[part].get(word)
        if exceptions is not None:
            yield from exceptions.split()
        else:
            yield from (word[: -len(old)] + new for old, new in _SUFFIXES[part] if word.endswith(old))


@cache
def wordnet() -> WordNet:
    """The table, read once; ModelError when it is missing or damaged."""
    return read(TABLE)


def read(path: Path) -> WordNet:
    """A table written by `render`; ModelError when it is missing or damaged."""
    try:
        tables = [_entries(line) for line in gzip.decompress(path.read_bytes()).decode().split("\n")]
        names, exceptions = tables[: len(PARTS_OF_SPEECH)], tables[len(PARTS_OF_SPEECH) :]
        return WordNet(
            dict(zip(PARTS_OF_SPEECH, names, strict=True)),
            dict(zip(PARTS_OF_SPEECH, exceptions, strict=True)),
        )
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise ModelError(
            f"the WordNet table {path} can't be read ({error}). Restore it from version control, or build "
            "it: python -m scripts.build_wordnet DICT (a WordNet 3.0 dict folder, such as /usr/share/wordnet of "
            "Debian's wordnet-base), or set lexical.meteor.synonyms to false"
        ) from error


def render(table: WordNet) -> bytes:
    """The table as a file: a line of names per part of speech, then a line of exceptions for each.

    A line is key, value, key, value …, separated by tabs: one split, the fastest way to a dict.
    """
    lines = (tables[part] for tables in (table.names, table.exceptions) for part in PARTS_OF_SPEECH)
    text = "\n".join("\t".join(chain.from_iterable(sorted(line.items()))) for line in lines)
    return gzip.compress(text.encode(), 9, mtime=0)


def _entries(line: str) -> Entries:
    fields = iter(line.split("\t"))
    return dict(zip(fields, fields, strict=True))
