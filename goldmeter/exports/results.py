"""What is exported of a run: reports/metrics.json of a version, and the candidates that were asked for."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from goldmeter.errors import ExportError, unknown
from goldmeter.estimates.metrics_report import METRICS, Candidates, MetricsReport, reading
from goldmeter.pipeline.files import replacing
from goldmeter.versions.version import WORKSPACE, Version, versions

# Characters of a hash that tell apart names which are shortened or changed to fit a target.
HASH_CHARS = 8
CONCLUSIONS = ("confidence", "dataset", "primary", "headlines", "leaders", "comparisons", "targets", "worst_slices")


class Results(NamedTuple):
    """A run. candidates: those to export, with their metrics."""

    version: Version
    report: MetricsReport
    candidates: Candidates


@contextmanager
def results(name: str, candidates: Sequence[str] = ()) -> Iterator[Results]:
    """Read the results of a version, for use in the body of a `with` statement.

    Args:
        name: Of the version.
        candidates: Those to export; none for all.

    Raises:
        VersionError: The version is unknown, has no results, or older ones than its settings and data.
        ExportError: A candidate is unknown.
    """
    with versions([name]) as [of_run]:
        path = of_run.path(METRICS)
        of_run.require_current([METRICS])
        with reading(path, name) as report:
            every = report["candidates"]
        for candidate in candidates:
            if candidate not in every:
                raise ExportError(f"--candidate: {unknown('candidate', candidate, [*every])}")
        yield Results(of_run, report, {one: every[one] for one in candidates or every})


def headlines() -> dict[str, Any]:
    """The conclusions of the last run, those of its reports/metrics.json that a claim may be made from.

    Raises:
        VersionError: There are no results, or older ones than settings and data.
    """
    with results(WORKSPACE) as found:
        document: Mapping[str, Any] = found.report
        return {name: document.get(name) for name in CONCLUSIONS}


@contextmanager
def written(target: Path) -> Iterator[Path]:
    """Yield the path of a temporary file to be written, which then becomes the target.

    Raises:
        ExportError: The target is something else than a file, or its folder is missing.
    """
    if target.is_symlink() or (target.exists() and not target.is_file()):  # a link such as /dev/stdout stays as it is
        raise ExportError(f"{target}: is no regular file; expected the path of a file to write")
    if not target.parent.is_dir():
        raise ExportError(f"{target}: there is no folder {target.parent}; create it first")
    try:
        with replacing(target) as temporary:
            yield temporary
    except PermissionError as error:
        raise ExportError(f"{target}: can't be written: {error.strerror}") from None


def safe_name(name: str, changed: str, limit: int) -> str:
    """A name that a target accepts: `changed`, and where that is not the name itself, a hash that tells names apart.

    Args:
        name: As it is.
        changed: The name with other characters where the target does not allow its own.
        limit: The most characters.

    >>> safe_name("f1", "f1", 20), safe_name("a/b", "a_b", 20), safe_name("a\\b", "a_b", 20)
    ('f1', 'a_b-c14cddc0', 'a_b-6f7ea90e')
    """
    if changed == name and len(name) <= limit:
        return name
    ending = f"-{sha256(name.encode(errors='backslashreplace')).hexdigest()[:HASH_CHARS]}"
    return changed[: limit - len(ending)] + ending
