"""WordNet 3.0's synonyms: for a word, the names its synsets go by.

Data: wordnet.gz, made by scripts/build_wordnet.py; licence: wordnet.LICENSE.
Source: Fellbaum 1998; morphology of morphy(7WN), as NLTK's WordNetCorpusReader applies it.
"""

import gzip
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

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
        text = gzip.decompress(path.read_bytes()).decode()
        tables = [_entries(block) for block in text.split("\n\n")]
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
    """The table as a file: a block of names per part of speech, then a block of exceptions for each."""
    blocks = (tables[part] for tables in (table.names, table.exceptions) for part in PARTS_OF_SPEECH)
    text = "\n\n".join("\n".join(f"{key} {value}" for key, value in sorted(block.items())) for block in blocks)
    return gzip.compress(text.encode(), 9, mtime=0)


def _entries(block: str) -> Entries:
    return {key: value for key, _, value in (line.partition(" ") for line in block.split("\n"))}
