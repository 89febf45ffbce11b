"""Which files and mappings are loaded as columns; without kernels, whose import takes longer than to load little."""

from tasks.dataset.answers import mapped_columns
from tasks.dataset.paths import steps_into
from tasks.dataset.settings import Dataset, Params
from tasks.dataset.sources import Records

# Bytes of a data set: a smaller one is loaded before worker processes have started.
SMALLEST = 1 << 22
JSON_LINES = ".jsonl"
FORMATS = {JSON_LINES, ".csv", ".tsv", ".parquet"}


def is_covered(records: Records, params: Params) -> bool:
    """Whether records are loaded as columns.

    Raises:
        ParamsError: The sections do not fit together.
    """
    params.check()
    suffixes = {file.suffix.lower() for file in records.files}
    if records.format is not None or not suffixes <= FORMATS or not _is_wide(params.dataset):
        return False
    names = mapped_columns(params)
    # What a path is depends on all records, also on those beyond a limit.
    may_have_paths = suffixes == {JSON_LINES} and params.dataset.limit is None
    return all(map(_is_unicode, names)) and (may_have_paths or not any(map(steps_into, names)))


def is_large(records: Records) -> bool:
    """Whether there are so many bytes that worker processes pay."""
    return sum(file.stat().st_size for file in records.files) >= SMALLEST


def _is_wide(dataset: Dataset) -> bool:
    """Whether each record holds all answers to a question, one of each candidate; not for what columns do not read."""
    joined = [candidate.path for candidate in dataset.named.values()] + [dataset.label_file, dataset.asked]
    joined += [dataset.references.path] if dataset.references else []
    unread = dataset.labels == "designed" or dataset.criteria is not None
    return not (dataset.long or dataset.has_draws or any(joined) or unread)


def _is_unicode(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
