"""What changed since the last committed run: which answers became wrong or right, and the difference."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from goldmeter.comparison.gate import Gate
from goldmeter.comparison.of_versions import compare_versions, score_table_names
from goldmeter.console.format import counted
from goldmeter.console.terminal import plain
from goldmeter.errors import GoldmeterError
from goldmeter.estimates.headline import deciding
from goldmeter.history.labelled_answers import compare_options
from goldmeter.pipeline import git, params
from goldmeter.versions.version import LOCK, WORKSPACE, Version, versions
from goldmeter.wording import comparison_lines, notes
from goldmeter.wording.comparison_document import ComparisonDocument

if TYPE_CHECKING:
    from rich.console import Console

# Commits of dvc.lock that are looked at, and candidates that have a line.
COMMITS, CANDIDATES = 20, 5


def show(out: "Console") -> None:
    """Print what changed since the last committed run with other tables, if DVC's cache has them."""
    try:
        if commit := _last_run():
            for line in _lines(commit):
                out.print(plain(line))
    except GoldmeterError as error:  # the run itself is not affected
        out.print(plain(f"! what changed since the last run is not known: {error}"), style="yellow")


def _last_run() -> str | None:
    """The newest commit whose tables differ from those of the workspace; None if there is none, or it is not here."""
    workspace = Version(WORKSPACE, Path(), None)
    tables = [f"data/{name}" for name in ("load", *score_table_names(workspace))]
    now = [workspace.hashes().get(table) for table in tables]
    commits = (git.answer("log", f"--max-count={COMMITS}", "--format=%h", "HEAD", "--", LOCK) or "").split()
    for commit in commits:
        hashes = Version(commit, Path(), commit).hashes()
        then = [hashes.get(table) for table in tables]
        if then != now:
            return commit if hashes.get("data/load") and _are_in_cache([*filter(None, then)]) else None
    return None


def _are_in_cache(hashes: list[str]) -> bool:
    from dvc.repo import Repo  # takes a second

    with Repo() as repo:
        return all(repo.cache.local.exists(each) for each in hashes)


def _lines(commit: str) -> Iterator[str]:
    gate = params.section(Gate, params.raw(), "gate")
    with versions([commit, WORKSPACE]) as (older, newer):
        document = compare_versions(older, newer, gate, compare_options())
    day = git.answer("log", "-1", "--format=%cs", commit)
    yield f"Since the run of {day} (python -m flows.compare {commit} --html shows the answers):"
    changed = [line for line in _changes(document) if line]
    more = [f"{counted(len(changed) - CANDIDATES, 'more candidate')}"] if len(changed) > CANDIDATES else []
    said = [*changed[:CANDIDATES], *more, *notes.candidates_notes(document)]
    yield from (f"  {line}" for line in said or ["no answer became wrong or right"])


def _changes(document: ComparisonDocument) -> Iterator[str]:
    """What changed of each candidate: the difference, and the rows; empty for one without."""
    primary = document["primary"]["measure"]
    for pair in document["pairs"]:
        rows = comparison_lines.named_rows_line(pair, primary)
        name, entry = deciding(pair, primary) or (primary, None)
        by = f" {comparison_lines.interval(entry['difference'], entry['unit'])} by {name}" if entry else ""
        yield f"{pair['head']}{by}: {rows}" if rows else ""
