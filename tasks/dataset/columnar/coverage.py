"""Which files and mappings are loaded as columns; without kernels, whose import takes longer than to load little."""

from tasks.dataset.answers import mapped_columns
from tasks.dataset.paths import parse
from tasks.dataset.settings import Dataset, Params
from tasks.dataset.sources import Records

# Bytes of a data set: a smaller one is loaded before worker processes have started.
SMALLEST = 1 << 22
FORMATS = {".jsonl", ".csv", ".tsv", ".parquet"}


def is_covered(records: Records, params: Params) -> bool:
    """Whether records are loaded as columns.

    Raises:
        ParamsError: The sections do not fit together.
    """
    params.check()
    has_format = records.format is None and all(file.suffix.lower() in FORMATS for file in records.files)
    return has_format and _is_wide(params.dataset) and all(map(_is_plain, mapped_columns(params)))


def is_large(records: Records) -> bool:
    """Whether there are so many bytes that worker processes pay."""
    return sum(file.stat().st_size for file in records.files) >= SMALLEST


def _is_wide(dataset: Dataset) -> bool:
    """Whether each record holds all answers to a question, one of each candidate."""
    joined = [candidate.path for candidate in dataset.named.values()] + [dataset.label_file]
    joined += [dataset.references.path] if dataset.references else []
    return not (dataset.long or dataset.has_draws or any(joined))


def _is_plain(name: str) -> bool:
    """Whether a name can only be a column, and stand in a file."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return parse(name) in {None, (name,)}
