"""Rows to score, column by column, with the views that metrics share, each computed once and when asked for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tasks.metrics.tokenizers import tokenizer

Embed = Callable[[Sequence[str]], NDArray[np.float64]]


@dataclass(frozen=True)
class Ragged:
    """Lists of token ids: row i is `ids[offsets[i]:offsets[i + 1]]`.

    ids: shape (total,), int32. offsets: shape (rows + 1,), int64.
    """

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of tokens of each row; shape (rows,)."""
        return np.diff(self.offsets)


@dataclass(frozen=True)
class Tokens:
    """Token ids of responses and references over one vocabulary.

    responses: n rows (a missing response has no tokens); references: m rows, flat as `Pairs.reference_texts`.
    """

    responses: Ragged
    references: Ragged
    vocabulary: list[str]


@dataclass(frozen=True)
class Pairs:
    """n responses, each with its references (m in all).

    responses: strings, null = no response. references: lists of strings, one list a row.
    inputs, phrases: the question and the phrases of each row, where there are any.
    normalized: normalised responses and flat references, made by the normalize stage.
    embed: unit vectors of texts, shape (len(texts), d); needed by the semantic family only.
    """

    responses: pa.Array
    references: pa.Array
    inputs: pa.Array | None = None
    phrases: pa.Array | None = None
    normalized: tuple[pa.Array, pa.Array] | None = None
    embed: Embed | None = None
    _tokens: dict[tuple[str, bool], Tokens] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(
        cls,
        responses: Sequence[str | None],
        references: Sequence[str | Sequence[str]],
        *,
        inputs: Sequence[str | None] | None = None,
        phrases: Sequence[Sequence[str] | None] | None = None,
        embed: Embed | None = None,
    ) -> "Pairs":
        """Pairs from Python sequences; a reference may be one string or several.

        Raises ValueError when the lengths differ.
        """
        if len(responses) != len(references):
            raise ValueError(f"{len(responses)} responses, but {len(references)} references")
        lists = [[r] if isinstance(r, str) else list(r) for r in references]
        return cls(
            pa.array(responses, pa.string()),
            pa.array(lists, pa.list_(pa.string())),
            None if inputs is None else pa.array(inputs, pa.string()),
            None if phrases is None else pa.array(phrases, pa.list_(pa.string())),
            embed=embed,
        )

    def __len__(self) -> int:
        return len(self.responses)

    @cached_property
    def response_texts(self) -> list[str | None]:
        """The n responses as Python strings."""
        return list(self.responses.to_pylist())

    @cached_property
    def reference_lists(self) -> list[list[str]]:
        """The references of each of the n rows."""
        return [row or [] for row in self.references.to_pylist()]

    @cached_property
    def reference_texts(self) -> list[str]:
        """All m references, row after row."""
        return list(chain.from_iterable(self.reference_lists))

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Row i has the references `offsets[i]:offsets[i + 1]`; shape (n + 1,)."""
        counts = np.fromiter(map(len, self.reference_lists), np.int64, len(self))
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """The row of each reference; shape (m,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    @cached_property
    def paired(self) -> list[tuple[str, str]]:
        """Each of the m references with its row's response before it, "" for a missing one."""
        rows = zip(self.rows, self.reference_texts, strict=True)
        return [(self.response_texts[row] or "", text) for row, text in rows]

    @cached_property
    def missing(self) -> NDArray[np.bool_]:
        """Rows without a response; shape (n,)."""
        return np.array([text is None for text in self.response_texts], dtype=np.bool_)

    @cached_property
    def blank(self) -> NDArray[np.bool_]:
        """Rows whose response is empty or white space; shape (n,)."""
        return np.array([text is not None and not text.strip() for text in self.response_texts], dtype=np.bool_)

    @cached_property
    def unreferenced(self) -> NDArray[np.bool_]:
        """Rows without a reference; shape (n,)."""
        return np.array(np.diff(self.offsets) == 0, dtype=np.bool_)

    def tokens(self, name: str, *, lowercase: bool = False) -> Tokens:
        """Interned tokens under the tokenizer `name`; each distinct text is tokenised once."""
        if (name, lowercase) not in self._tokens:
            self._tokens[name, lowercase] = _intern(self, name, lowercase=lowercase)
        return self._tokens[name, lowercase]


def _intern(pairs: Pairs, name: str, *, lowercase: bool) -> Tokens:
    split = tokenizer(name)
    vocabulary: dict[str, int] = {}
    seen: dict[str, list[int]] = {}

    def ids(text: str | None) -> list[int]:
        if not text:
            return []
        if text not in seen:
            tokens = split(text.lower() if lowercase else text)
            seen[text] = [vocabulary.setdefault(token, len(vocabulary)) for token in tokens]
        return seen[text]

    responses, references = _ragged(map(ids, pairs.response_texts)), _ragged(map(ids, pairs.reference_texts))
    return Tokens(responses, references, list(vocabulary))


def _ragged(rows: "map[list[int]]") -> Ragged:
    lists = list(rows)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.fromiter(map(len, lists), np.int64, len(lists)))])
    return Ragged(np.fromiter(chain.from_iterable(lists), np.int32, int(offsets[-1])), offsets)
