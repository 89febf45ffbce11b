"""Whole columns in the comparable form of `normalize`; each distinct chunk between blanks is normalised once."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tasks.metrics.pairs import Pairs
from tasks.text.normalization import normalize
from tasks.text.tokenizers import Tokenizer
from tasks.text.tokens import chunked, tokens
from tasks.text.utf8 import distinct, utf8


def normalized(texts: pa.Array, **options: Any) -> pa.Array:
    """The texts as `normalize` with these options gives them; a null stays one."""
    words = Tokenizer(lambda text: normalize(text, **options).split(), cut="blanks")
    each, which = distinct(texts)
    ids, vocabulary = tokens(chunked(*utf8(each), words.cut), words, lowercase=False)
    lists = pa.ListArray.from_arrays(
        pa.array(ids.offsets, pa.int32()), pa.array(vocabulary, pa.string()).take(pa.array(ids.ids))
    )
    forms = pc.binary_join(lists, " ").take(pa.array(which))
    return pc.if_else(texts.is_null(), pa.scalar(None, pa.string()), forms)


def normalized_texts(pairs: Pairs) -> tuple[pa.Array, pa.Array]:
    """The n responses and m references, normalised: as the normalize stage did it, else by `normalize`'s defaults."""
    return pairs.normalized or (normalized(pairs.responses), normalized(pairs.flat_references))
