"""Texts as code points, for kernels that compare characters."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tasks.text.tokens import Ragged
from tasks.text.utf8 import distinct

_BLANKS = np.array([code for code in range(0x10000) if chr(code).isspace()], np.int32)
_LAST_BLANK = int(_BLANKS[-1])
_IS_BLANK = np.isin(np.arange(_LAST_BLANK + 2), _BLANKS)


def code_points(*texts: pa.Array, blanks: bool) -> Ragged:
    """Return the code points of all texts, one array after another; a null is an empty text.

    Args:
        *texts: Arrays of strings.
        blanks: White space counts as characters.

    >>> code_points(pa.array(["a b", None]), blanks=False).ids.tolist()
    [97, 98]
    """
    unique, which = distinct(*texts)
    codes = np.frombuffer("".join(unique.to_pylist()).encode("utf-32-le"), np.int32)
    ends = np.cumsum(pc.utf8_length(unique).to_numpy(zero_copy_only=False), dtype=np.int64)
    offsets = np.concatenate([np.zeros(1, np.int64), ends])
    visible = Ragged(codes.copy(), offsets) if blanks else _without_blanks(codes, offsets)
    return visible.take(which)


def _without_blanks(codes: NDArray[np.int32], offsets: NDArray[np.int64]) -> Ragged:
    kept = ~_IS_BLANK[np.minimum(codes, _LAST_BLANK + 1)]
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept, dtype=np.int64)])
    return Ragged(codes[kept], before[offsets])
