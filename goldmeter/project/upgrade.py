"""Upgrade the project to the installed library: print the changes, and leave them uncommitted."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from goldmeter.console.arguments import Parser
from goldmeter.console.terminal import exit_status, say
from goldmeter.errors import ParamsError
from goldmeter.pipeline import git, params, revisions
from goldmeter.pipeline.dvc_yaml import GOLDMETER_YAML
from goldmeter.pipeline.params_text import ParamsText
from goldmeter.pipeline.revisions import Change, Library, own_version
from goldmeter.project import template

PARAMS, PYPROJECT = str(params.PATH), "pyproject.toml"
# Folder for the library's version of files that the user has changed; git ignores it.
THEIRS = Path(".dvc/tmp/upgrade")
BY_HAND = "; change params.yaml by hand"
# Path → what is written there; None: the file is removed.
Files = Mapping[str, bytes | None]


def main(arguments: Sequence[str]) -> int:
    """Upgrade the project in the current folder; returns the exit status."""
    parser = Parser(
        prog="goldmeter upgrade",
        description=__doc__,
        epilog="A file that you have changed stays.",
        examples=["pip install --upgrade goldmeter", "goldmeter upgrade"],
    )
    parser.parse_args(arguments)
    return exit_status(lambda: say("\n".join(upgrade())))


def upgrade() -> list[str]:
    """Rewrite the files that the installed library requires to change; returns what it changes, as lines.

    Raises:
        ParamsError: The project is of a newer library, or what would be rewritten is not committed.
    """
    before = revisions.read() if revisions.PATH.exists() else None
    since = revisions.changes_since(before) if before else []
    files, lines = _in_clone() if _is_clone() else _in_project(before, since)
    written = {name: content for name, content in files.items() if content != _content(Path(name))}
    if not written:
        return [
            f"already at goldmeter {own_version()}",
            *_section("To be merged; then remove the second file", _unmerged()),
        ]
    _require_committed([*written])
    for name, content in written.items():
        _write(Path(name), content)
    return [
        f"goldmeter {before.version if before else 'unknown'} → {own_version()}",
        *_section(
            "Numbers that differ; these stages run again",
            revisions.reasons(before.revisions if before else {}),
        ),
        *_section(
            "Not comparable with versions from before, which `goldmeter compare` says, too",
            [name for change in since for name in change.signatures],
        ),
        *lines,
        "",
        f"written: {', '.join(sorted(name for name in written if not Path(name).is_relative_to(THEIRS)))}",
        f"next: git diff, goldmeter run, git add --all, git commit --message 'goldmeter {own_version()}'",
    ]


def _is_clone() -> bool:
    """Whether the library lies in this folder: then git brings its stages and settings."""
    return Path("goldmeter/project/upgrade.py").is_file()


def _in_clone() -> tuple[Files, list[str]]:
    return {GOLDMETER_YAML: template.goldmeter_yaml({})}, []


def _in_project(before: Library | None, since: Sequence[Change]) -> tuple[Files, list[str]]:
    """The files of the installed library, and a line about each setting and file that changes."""
    shipped = template.project_files()
    files, of_files = _pipeline(template.upgraded(shipped), before.files if before else {})
    text, of_settings = _params(since)
    pyproject = _content(Path(PYPROJECT))
    pin = {PYPROJECT: template.pinned(pyproject)} if pyproject else {}
    lines = [*_section("Settings, in params.yaml", of_settings), *_section("Files", of_files)]
    return {**files, PARAMS: text, **pin, GOLDMETER_YAML: shipped[GOLDMETER_YAML]}, lines


def _params(since: Sequence[Change]) -> tuple[bytes, list[str]]:
    """params.yaml as the versions need it, and a line about each setting that changes."""
    params.raw()  # raises if it is missing, or is no YAML
    mine = ParamsText(params.PATH.read_bytes().decode())
    lines = []
    for change in reversed(since):
        for path, name in change.renamed.items():
            if mine.find(path):
                lines.append(f"{path}: its name is {name} now{'' if mine.rename(path, name) else BY_HAND}")
            if path in mine.text:
                lines.append(f"{path}: params.yaml names it elsewhere, too, such as in schedule{BY_HAND}")
        for path, instead in change.removed.items():
            if mine.find(path):
                lines.append(f"{path}: removed; {instead}{'' if mine.remove(path) else BY_HAND}")
    return mine.text.encode(), lines


def _pipeline(shipped: Mapping[str, bytes], before: Mapping[str, str]) -> tuple[Files, list[str]]:
    """Files of the pipeline to be written, and a line about each.

    Args:
        shipped: Those of the library.
        before: The fingerprints of those that were written when the project was made or upgraded last.
    """
    files: dict[str, bytes | None] = {}
    lines = []
    for name in sorted(shipped.keys() | {*filter(template.is_upgraded, before)}):
        old, now, new = before.get(name), _fingerprint(_content(Path(name))), shipped.get(name)
        if _fingerprint(new) in {old, now} or (now is None and old):  # as it was, as it is, or removed by the user
            continue
        if now == old:
            files[name] = new
            lines.append(f"{name}: {'removed' if new is None else 'replaced' if now else 'new'}")
        elif new is None:
            lines.append(f"{name}: the library has no such file any more; yours was changed and stays")
        else:
            files[str(THEIRS / name)] = new
            lines.append(f"{name}: changed here and in the library; {_comparison(name)}")
    return files, lines


def _comparison(name: str) -> str:
    return f"git diff --no-index {name} {THEIRS / name}"


def _unmerged() -> list[str]:
    """Commands that compare the files which the user has still to merge."""
    files = sorted(path.relative_to(THEIRS).as_posix() for path in THEIRS.rglob("*") if path.is_file())
    return [*map(_comparison, files)]


def _require_committed(names: Sequence[str]) -> None:
    """Check that git can give back what is overwritten."""
    there = [name for name in names if Path(name).exists() and not Path(name).is_relative_to(THEIRS)]
    if not there:
        return
    changed = git.run("status", "--porcelain", "-z", "--", *there).stdout.split("\0")
    unknown = [name for name in there if git.answer("ls-files", "--error-unmatch", "--", name) is None]
    if names := [entry[3:] for entry in changed if entry] or unknown:
        raise ParamsError(f"{names[0]}: is not committed; `git commit` first, so that the upgrade is a diff of its own")


def _fingerprint(content: bytes | None) -> str | None:
    return None if content is None else template.fingerprint(content)


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _write(path: Path, content: bytes | None) -> None:
    if content is None:
        path.unlink()
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _section(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield from ("", title, *(f"  {line}" for line in lines))
