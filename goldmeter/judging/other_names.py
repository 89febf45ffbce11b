"""The user's table of names that mean the same (`judge.aliases`): for one of them, the judge accepts the others."""

import csv
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from goldmeter.errors import DataError
from goldmeter.pipeline.hashing import sha256

# Bytes of the table, and names of one thing; more is a mistake, such as the wrong file.
LARGEST, MOST_NAMES = 64 << 20, 1_000
COMMENT = "# "
# Folded name → the other names of each thing that has it, in the order of the table.
OtherNames: TypeAlias = Mapping[str, Sequence[str]]


def folded(name: str) -> str:
    """Return a name as it is compared: in Unicode's compatible form, without case, blanks alike.

    >>> folded(" New\\u00a0YORK ")
    'new york'
    """
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def other_names(path: str) -> OtherNames:
    """Read a table of names in CSV: a line for each thing, its names separated by commas; `# ` begins a comment.

    A name of two things gets the other names of both; nothing follows from names that two things share. No file names
    nothing: DVC, which runs the stage, refuses to run it without the file.

    Raises:
        DataError: It can't be read, or a line has fewer than two different names.
    """
    try:
        state = Path(path).stat()
        if state.st_size > LARGEST:
            raise DataError(f"judge.aliases: {path} has {state.st_size >> 20} MiB; a table of names has at most 64")
        return _read(path, state.st_mtime_ns, state.st_size)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise DataError(f"judge.aliases: {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise DataError(f"judge.aliases: {path} is not in UTF-8: {error}") from None


def hash_of(path: str) -> str:
    """Return a hash of what the table says, 12 hex digits; "" if it names nothing."""
    said = other_names(path)
    return sha256(repr(sorted(said.items()))).hex()[:12] if said else ""


def accepted(references: Sequence[str], names: OtherNames) -> list[str]:
    """Return the references, each followed by its other names.

    >>> accepted(["US", "Canada"], {"us": ["USA"]})
    ['US', 'USA', 'Canada']
    """
    return [name for text in references for name in (text, *names.get(folded(text), ()))]


def accepted_columns(
    texts: pa.Array, offsets: NDArray[np.int64], names: OtherNames
) -> tuple[pa.Array, NDArray[np.int64]]:
    """Return the references of n rows as `accepted` does, by column.

    Args:
        texts: All references, null where one is missing.
        offsets: Of each row's references in them, shape (n + 1,).
        names: The user's table.
    """
    if not names:
        return texts, offsets
    coded = texts.dictionary_encode()
    distinct = coded.dictionary.to_pylist()
    more = [names.get(folded(text), ()) for text in distinct]
    if not any(more):
        return texts, offsets
    sequences = [[code] for code in range(len(distinct))]
    for code, others in enumerate(more):
        sequences[code] += range(len(distinct), len(distinct) + len(others))
        distinct += others
    sequences.append([-1])  # of a missing reference
    lengths = np.array([*map(len, sequences)])
    codes = coded.indices.fill_null(len(sequences) - 1).to_numpy()
    ends = np.concatenate([[0], np.cumsum(lengths[codes])])
    starts = (np.cumsum(lengths) - lengths)[codes]
    flat = np.concatenate([np.array(one) for one in sequences])
    places = np.repeat(starts - ends[:-1], lengths[codes]) + np.arange(ends[-1])
    chosen = flat[places]
    return pa.array(distinct, pa.string()).take(pa.array(chosen, mask=chosen < 0)), ends[offsets]


@lru_cache(maxsize=1)
def _read(path: str, _modified: int, _size: int) -> OtherNames:
    found: dict[str, list[str]] = {}
    for line, names in _lines(path):
        distinct = {folded(name): name for name in reversed(names) if name}
        if len(distinct) < 2:  # noqa: PLR2004 (one name says nothing)
            raise DataError(f"judge.aliases: {path}, line {line}: expected at least two names, separated by commas")
        if len(distinct) > MOST_NAMES:
            raise DataError(f"judge.aliases: {path}, line {line}: {len(names):,} names; at most {MOST_NAMES:,}")
        for one in distinct:
            others = found.setdefault(one, [])
            others += [name for key, name in reversed(distinct.items()) if key != one and name not in others]
    return found


def _lines(path: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of each line that is neither blank nor a comment, and its names."""
    with Path(path).open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True, skipinitialspace=True)
        try:
            for names in reader:
                stripped = [name.strip() for name in names]
                if any(stripped) and not stripped[0].startswith(COMMENT):
                    yield reader.line_num, stripped
        except csv.Error as error:
            raise DataError(f"judge.aliases: {path}, line {reader.line_num}: {error}") from None
