"""Responses with their references, and the views of them that metrics share; each is computed once, on first use."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tasks.text.normalization import normalized_column
from tasks.text.tokenizers import Cut, Tokenizer
from tasks.text.tokens import Chunked, Ragged, chunked, tokens
from tasks.text.utf8 import distinct, utf8

Embed = Callable[[Sequence[str]], NDArray[np.float64]]


@dataclass(frozen=True)
class Tokens:
    """Token ids of responses and references over one vocabulary; both are rows of the same ids.

    Attributes:
        responses: n rows; a missing response has no tokens.
        references: m rows, in the order of `Pairs.reference_texts`.
        vocabulary: Id → token.
    """

    responses: Ragged
    references: Ragged
    vocabulary: list[str]

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
        normalized: Normalised responses and flat references, from the normalize stage.
        embed: Returns unit vectors of texts, shape (len(texts), d); only the semantic family needs it.
    """

    responses: pa.Array
    references: pa.Array
    inputs: pa.Array | None = None
    phrases: pa.Array | None = None
    normalized: tuple[pa.Array, pa.Array] | None = None
    embed: Embed | None = None
    _tokens: dict[tuple[Tokenizer, bool], Tokens] = field(default_factory=dict, repr=False, compare=False)
    _chunks: dict[Cut, Chunked] = field(default_factory=dict, repr=False, compare=False)

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
        """Create pairs from Python sequences; a reference may be one string or several.

        Raises:
            ValueError: The lengths differ, or an entry is not text.
        """
        if len(responses) != len(references):
            raise ValueError(f"{len(responses)} responses, but {len(references)} references")
        lists = [[r] if r is None or isinstance(r, str) else list(r) for r in references]
        pairs = cls(
            _column("responses", responses, pa.string()),
            _column("references", lists, pa.list_(pa.string())),
            None if inputs is None else _column("inputs", inputs, pa.string()),
            None if phrases is None else _column("phrases", phrases, pa.list_(pa.string())),
            embed=embed,
        )
        if pairs.flat_references.null_count:
            row = next(i for i, texts in enumerate(lists) if None in texts)
            raise ValueError(f"references, row {row}: a reference is a string; found None in {lists[row]!r}")
        return pairs

    def __len__(self) -> int:
        return len(self.responses)

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
        return np.array([text is not None and not text.strip() for text in self.response_texts], dtype=np.bool_)

    @cached_property
    def unreferenced(self) -> NDArray[np.bool_]:
        """Rows without a reference; shape (n,)."""
        return np.array(np.diff(self.offsets) == 0, dtype=np.bool_)

    def tokens(self, tokenizer: Tokenizer, *, lowercase: bool = False) -> Tokens:
        """Return token ids; each distinct text is split into chunks once, each distinct chunk tokenised once."""
        if (tokenizer, lowercase) not in self._tokens:
            ragged, vocabulary = tokens(self._chunked(tokenizer.cut), tokenizer, lowercase=lowercase)
            n = len(self)
            responses, references = Ragged(ragged.ids, ragged.offsets[: n + 1]), Ragged(ragged.ids, ragged.offsets[n:])
            self._tokens[tokenizer, lowercase] = Tokens(responses, references, vocabulary)
        return self._tokens[tokenizer, lowercase]

    def _chunked(self, cut: Cut) -> Chunked:
        if cut not in self._chunks:
            texts, which = self._texts
            chunks = chunked(*utf8(texts), cut)
            self._chunks[cut] = replace(chunks, texts=chunks.texts.take(which))
        return self._chunks[cut]

    @property
    def normalized_texts(self) -> tuple[pa.Array, pa.Array]:
        """The n responses and m references, normalised by the normalize stage, else with the default options."""
        return self.normalized or (normalized_column(self.responses), normalized_column(self.flat_references))

    @cached_property
    def flat_references(self) -> pa.Array:
        """All m references, row after row."""
        return self.references.flatten()

    @cached_property
    def _texts(self) -> tuple[pa.Array, NDArray[np.int32]]:
        """The distinct texts, and the index of each response and then each reference among them; shape (n + m,)."""
        return distinct(self.responses, self.flat_references)


def _column(name: str, values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Convert values to an Arrow array; ValueError names the row of a value that is not text."""
    try:
        return pa.array(values, kind)
    except UnicodeEncodeError as error:
        row = next(i for i, value in enumerate(values) if error.object in (value or ()))
        raise ValueError(f"{name}, row {row}: not a Unicode text, it has a lone surrogate: {error.object!r}") from None
