"""Responses with their references, and the views of them that metrics share; each is computed once, on first use."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from goldmeter.text.columns import TextLists, Texts, distinct, list_column, text_column, utf8
from goldmeter.text.normalization import normalized_column
from goldmeter.text.tokenizers import Cut, Tokenizer
from goldmeter.text.tokens import Chunked, Ragged, chunked, tokens
from goldmeter.text.words import Words

# Bytes around the visible ASCII characters.
SPACE, DELETE = 0x20, 0x7F
Shared = TypeVar("Shared")
Embed = Callable[[Sequence[str]], NDArray[np.float64]]


@dataclass(frozen=True)
class Tokens:
    """Token ids of responses and references over one vocabulary; both are rows of the same ids.

    Attributes:
        responses: n rows; a missing response has no tokens.
        references: m rows, in the order of `Pairs.reference_texts`.
        words: Id → token.
    """

    responses: Ragged
    references: Ragged
    words: Words

    @property
    def vocabulary(self) -> list[str]:
        """The tokens by id, as Python strings."""
        return self.words.strings

    @property
    def arrays(self) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
        """The arguments of kernels: ids, and the offsets of responses and of references into them."""
        return self.responses.ids, self.responses.offsets, self.references.offsets


@dataclass(frozen=True)
class Pairs:
    """n responses, each with its references (m in all).

    Attributes:
        responses: Strings; null is a missing response.
        references: Lists of strings, one list per row.
        inputs: The question of each row, if there are questions.
        phrases: The phrases of each row, if there are phrases.
        contexts: The texts or ids that were retrieved for each row, best first; a null list is unknown.
        relevant: The texts or ids that should have been retrieved; a null list is unknown.
        normalized: Normalised responses and flat references, from the normalize stage.
        embed: Returns unit vectors of texts, shape (len(texts), d); only the semantic family needs it.
    """

    responses: pa.Array
    references: pa.Array
    inputs: pa.Array | None = None
    phrases: pa.Array | None = None
    contexts: pa.Array | None = None
    relevant: pa.Array | None = None
    normalized: tuple[pa.Array, pa.Array] | None = None
    embed: Embed | None = None
    _tokens: dict[tuple[Tokenizer, bool], Tokens] = field(default_factory=dict, repr=False, compare=False)
    _matches: dict[tuple[Tokenizer, bool, int, bool], NDArray[np.int64]] = field(
        default_factory=dict, repr=False, compare=False
    )
    _chunks: dict[Cut, Chunked] = field(default_factory=dict, repr=False, compare=False)
    _shared: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(
        cls,
        responses: "Texts",
        references: "TextLists",
        *,
        inputs: "Texts | None" = None,
        phrases: "TextLists | None" = None,
        contexts: "TextLists | None" = None,
        relevant: "TextLists | None" = None,
        embed: Embed | None = None,
        names: tuple[str, str] = ("responses", "references"),
    ) -> "Pairs":
        """Create pairs from lists, NumPy arrays, pandas Series or Arrow arrays; a row has one reference or several.

        names: What errors call responses and references.

        Raises:
            TypeError: An entry is not text; None, NaN and pandas.NA are missing responses.
            ValueError: The lengths differ, a reference is missing, or a text is not Unicode.
        """
        columns = text_column(names[0], responses), list_column(names[1], references)
        if len(columns[0]) != len(columns[1]):
            raise ValueError(f"{len(columns[0])} {names[0]}, but {len(columns[1])} {names[1]}: give one entry per row")
        return cls(
            *columns,
            inputs=None if inputs is None else _as_long("inputs", text_column("inputs", inputs), columns[0]),
            phrases=_lists("phrases", phrases, columns[0]),
            contexts=_lists("contexts", contexts, columns[0]),
            relevant=_lists("relevant", relevant, columns[0]),
            embed=embed,
        )

    def __len__(self) -> int:
        return len(self.responses)

    def take(self, rows: NDArray[np.int64]) -> "Pairs":
        """Return the pairs of these rows, without normalised texts."""
        inputs, phrases, contexts, relevant = (
            None if column is None else column.take(rows)
            for column in (self.inputs, self.phrases, self.contexts, self.relevant)
        )
        return Pairs(
            self.responses.take(rows),
            self.references.take(rows),
            inputs=inputs,
            phrases=phrases,
            contexts=contexts,
            relevant=relevant,
            embed=self.embed,
        )

    @cached_property
    def response_texts(self) -> list[str | None]:
        """The n responses as Python strings."""
        return list(self.responses.to_pylist())

    @cached_property
    def reference_lists(self) -> list[list[str]]:
        """The references of each of the n rows."""
        return [self.reference_texts[start:stop] for start, stop in pairwise(self.offsets.tolist())]

    @cached_property
    def reference_texts(self) -> list[str]:
        """`flat_references` as Python strings."""
        return list(self.flat_references.to_pylist())

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Offsets of each row's references: row i has `offsets[i]:offsets[i + 1]`; shape (n + 1,)."""
        counts = pc.fill_null(pc.list_value_length(self.references), 0).to_numpy(zero_copy_only=False)
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """The row of each reference; shape (m,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    @cached_property
    def paired(self) -> list[tuple[str, str]]:
        """Each of the m references after its row's response, which is "" if missing."""
        responses = [text or "" for text in self.response_texts]
        return list(zip([responses[row] for row in self.rows.tolist()], self.reference_texts, strict=True))

    def pair(self, j: int | np.integer[Any]) -> tuple[str, str]:
        """Return entry j of `paired` without computing the others."""
        return self.responses[int(self.rows[j])].as_py() or "", self.flat_references[int(j)].as_py()

    @cached_property
    def missing(self) -> NDArray[np.bool_]:
        """Rows without a response; shape (n,)."""
        return np.asarray(self.responses.is_null().to_numpy(zero_copy_only=False), np.bool_)

    @cached_property
    def blank(self) -> NDArray[np.bool_]:
        """Rows whose response is empty or white space; shape (n,)."""
        data, offsets = utf8(self.responses)
        lengths = np.diff(offsets)
        blank = (lengths == 0) & ~self.missing
        firsts = data[np.minimum(offsets[:-1], max(len(data) - 1, 0))] if len(data) else np.zeros(len(self), np.uint8)
        # Text that begins with a visible ASCII character is not blank.
        for row in np.flatnonzero((lengths > 0) & ((firsts <= SPACE) | (firsts >= DELETE))):
            blank[row] = not self.responses[int(row)].as_py().strip()
        return np.asarray(blank, np.bool_)

    @cached_property
    def unreferenced(self) -> NDArray[np.bool_]:
        """Rows without a reference; shape (n,)."""
        return np.array(np.diff(self.offsets) == 0, dtype=np.bool_)

    @cached_property
    def has_one_reference_each(self) -> bool:
        """Whether each row has exactly one reference."""
        return len(self.rows) == len(self) and bool((np.diff(self.offsets) == 1).all())

    def tokens(self, tokenizer: Tokenizer, *, lowercase: bool = False) -> Tokens:
        """Return token ids; each distinct text is split into chunks once, each distinct chunk tokenised once."""
        if (tokenizer, lowercase) not in self._tokens:
            ragged, words = tokens(self._chunked(tokenizer.cut), tokenizer, lowercase=lowercase)
            n = len(self)
            responses, references = Ragged(ragged.ids, ragged.offsets[: n + 1]), Ragged(ragged.ids, ragged.offsets[n:])
            self._tokens[tokenizer, lowercase] = Tokens(responses, references, words)
        return self._tokens[tokenizer, lowercase]

    def clipped_matches(
        self, tokenizer: Tokenizer, max_order: int, *, lowercase: bool, pooled: bool
    ) -> NDArray[np.int64]:
        """Return the common n-grams of each order, shape (n or m, max_order); callers do not change it.

        pooled: of each response with all its references; else of each reference with its response.
        """
        from goldmeter.text.kernels.sequences import clipped_matches  # importing numba takes half a second

        key = (tokenizer, lowercase, max_order, pooled and not self.has_one_reference_each)
        if key not in self._matches:
            rows, begins = (
                (np.arange(len(self)), self.offsets) if key[-1] else (self.rows, np.arange(len(self.rows) + 1))
            )
            arrays = self.tokens(tokenizer, lowercase=lowercase).arrays
            self._matches[key] = clipped_matches(*arrays, rows, begins[:-1], begins[1:], max_order)
        return self._matches[key]

    def once(self, key: str, compute: Callable[[], Shared]) -> Shared:
        """Return what `compute` returned when this key was first asked for; callers do not change it."""
        if key not in self._shared:
            self._shared[key] = compute()
        shared: Shared = self._shared[key]
        return shared

    def _chunked(self, cut: Cut) -> Chunked:
        if cut not in self._chunks:
            self._chunks[cut] = chunked(*utf8(self.responses, self.flat_references), cut)
        return self._chunks[cut]

    @cached_property
    def normalized_texts(self) -> tuple[pa.Array, pa.Array]:
        """The n responses and m references, normalised by the normalize stage, else with the default options."""
        if self.normalized:
            return self.normalized
        texts, which = self._texts
        forms, n = normalized_column(texts).take(pa.array(which)), len(self)
        return pc.if_else(self.responses.is_null(), pa.scalar(None, pa.string()), forms[:n]), forms[n:]

    @cached_property
    def flat_references(self) -> pa.Array:
        """All m references, row after row."""
        return self.references.flatten()

    @cached_property
    def _texts(self) -> tuple[pa.Array, NDArray[np.int32]]:
        """The distinct texts, and the index of each response and then each reference among them; shape (n + m,)."""
        return distinct(self.responses, self.flat_references)


def _lists(name: str, values: "TextLists | None", responses: pa.Array) -> pa.Array | None:
    return None if values is None else _as_long(name, list_column(name, values, missing=True), responses)


def _as_long(name: str, column: pa.Array, responses: pa.Array) -> pa.Array:
    if len(column) != len(responses):
        raise ValueError(f"{len(responses)} responses, but {len(column)} {name}")
    return column
