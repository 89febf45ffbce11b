"""Whether files and folders are as dvc.lock says: MD5, and for a folder that of the JSON list of its files."""

import hashlib
import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from goldmeter.errors import DataError

# How the hash of a folder ends.
FOLDER = ".dir"
LOCK = "dvc.lock"
CHANGED = "damaged, its content is not what was written"
# Removed first: DVC does not look into a file whose size and time are what it knows.
REMEDY = (
    "remove it, then `dvc checkout` brings it back, or `dvc repro` makes it again; `python -m tasks verify` finds more"
    ". If its stage was run by hand, `dvc commit` takes it as it is"
)
# Seconds between two looks at a dvc.lock that DVC may be writing for another stage of the run, and their number.
PAUSE, LOOKS = 0.5, 20


def report_of(stage: str) -> Path:
    """Return the path of a stage's validation report."""
    return Path("reports", "validation", f"{stage}.json")


def md5_of(path: Path) -> str:
    """Return the MD5 of a file's content, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def dvc_hash(path: Path) -> str:
    """Return the hash of a file or a folder as dvc.lock states it."""
    if not path.is_dir():
        return md5_of(path)
    listed = json.dumps([{"md5": md5, "relpath": name} for name, md5 in _files(path).items()])
    return f"{hashlib.md5(listed.encode(), usedforsecurity=False).hexdigest()}{FOLDER}"


def cache_folder(root: Path = Path()) -> Path:
    """Return the folder of DVC's cache. Raises NotDvcRepoError where there is no DVC."""
    from dvc.repo import Repo  # takes a second

    with Repo(str(root)) as repo:
        return Path(repo.cache.local.path)


def damages(out: str, hashed: str, root: Path = Path()) -> list[str]:
    """Return what of an out is not as its hash says: each file, or the out where DVC has no list of its files."""
    if not (root / out).exists():
        return [f"{out}: missing"]
    if dvc_hash(root / out) == hashed:
        return []
    expected = _listed(hashed, root) if hashed.endswith(FOLDER) and (root / out).is_dir() else None
    return [*_differences(out, expected, _files(root / out))] if expected else [f"{out}: {CHANGED}"]


def require_whole(outs: Iterable[str], root: Path = Path()) -> None:
    """Check outs against dvc.lock, as far as it states them.

    Raises:
        DataError: One is not what its stage wrote when DVC ran it; the message names the first damaged file.
    """
    found = {out: dvc_hash(root / out) if (root / out).exists() else "" for out in outs}
    lock = _lock(root, lambda lock: found.items() <= lock.outs.items())
    wrong = [out for out in found if found[out] != lock.outs.get(out, found[out])]
    if problems := [problem for out in wrong for problem in damages(out, lock.outs[out], root)]:
        more = f" (and {len(problems) - 1:,} more)" if len(problems) > 1 else ""
        raise DataError(f"{problems[0]}{more}; {REMEDY}")


def problem_if_newer(out: str, root: Path = Path()) -> str:
    """Check an out as `require_whole` does, and return the problem, if any, of one that is newer than dvc.lock.

    It may be what a stage wrote that was run by hand, or damaged after DVC had brought it back.
    """
    try:
        require_whole([out], root)
    except DataError as error:
        paths = [path for path in (root / out, *(root / out).rglob("*")) if path.exists()]
        if max((path.stat().st_mtime_ns for path in paths), default=0) <= (root / LOCK).stat().st_mtime_ns:
            raise
        return str(error)
    return ""


def is_lacking(out: str) -> bool:
    """Return whether an out is not here although dvc.lock says that it has content."""
    had = rf"^    - path: {re.escape(out)}\n(?:      (?!size).*\n)*      size: [1-9]"
    return not Path(out).exists() and bool(re.search(had, _text(Path()), re.MULTILINE))


def require_one_run(outs: Iterable[str]) -> None:
    """Check that outs were made from each other, as far as dvc.lock says.

    Raises:
        DataError: One was made from another content than is there.
    """
    wanted = [*outs]
    if problem := _lock(Path(), lambda lock: lock.older(wanted) is None).older(wanted):
        raise DataError(problem)


class _Lock(NamedTuple):
    """What dvc.lock states. outs: path → hash. deps: path of an out → paths and hashes of what its stage read."""

    outs: Mapping[str, str]
    deps: Mapping[str, Mapping[str, str]]

    def older(self, outs: Iterable[str]) -> str | None:
        """Return the message about the first out, of these and all upstream, that was made from another dep."""
        upstream = [*outs]
        for out in upstream:  # which grows
            read = {dep: md5 for dep, md5 in self.deps.get(out, {}).items() if dep in self.outs}
            upstream += [dep for dep in read if dep not in upstream]
            for dep, md5 in read.items():
                if self.outs[dep] != md5:
                    return (
                        f"{out}: of another run than {dep}, from which it was made; `dvc repro` brings them together "
                        "(`run.verify: false` uses them as they are)"
                    )
        return None


# Lines as DVC writes them: to read all of dvc.lock as YAML takes 60 ms, in each stage.
_LINE = re.compile(
    r"^(?:  (\S+):|    (deps|params|outs):|    - path: (.+)|      md5: ([0-9a-f]{32}(?:\.dir)?))$", re.MULTILINE
)


def _lock(root: Path, is_right: Callable[[_Lock], bool]) -> _Lock:
    """Read dvc.lock; if it is not right, again when DVC, which writes it when any stage ends, has finished."""
    lock = _parse(_text(root))
    return lock if is_right(lock) or not (root / LOCK).exists() else _parse(_finished(root))


def _parse(text: str) -> _Lock:
    outs, deps = dict[str, str](), dict[str, dict[str, str]]()
    read, section, path = dict[str, str](), "", ""
    for line in _LINE.finditer(text):
        stage, begun, named, md5 = line.groups()
        read = {} if stage else read
        section, path = begun or section, named or path
        if md5 and section == "deps":
            read[path] = md5
        elif md5 and section == "outs":
            outs[path], deps[path] = md5, read
    return _Lock(outs, deps)


def _finished(root: Path) -> str:
    """The text of dvc.lock when nobody writes it any more."""
    text = _text(root)
    for _ in range(LOOKS):
        time.sleep(PAUSE)
        before, text = text, _text(root)
        if text and text == before:
            break
    return text


def _text(root: Path) -> str:
    with suppress(FileNotFoundError):
        return (root / LOCK).read_text(encoding="utf-8", errors="replace")
    return ""


def _files(folder: Path) -> dict[str, str]:
    """The MD5 of each file in a folder by its path there, in DVC's order."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    with ThreadPoolExecutor() as pool:  # hashing releases the interpreter
        return dict(zip(names, pool.map(lambda name: md5_of(folder / name), names), strict=True))


def _listed(hashed: str, root: Path) -> dict[str, str] | None:
    """DVC's list of the files in a folder, as `_files`; None if its cache has none, or a damaged one."""
    from dvc.exceptions import NotDvcRepoError

    with suppress(NotDvcRepoError, OSError):
        path = cache_folder(root) / hashed[:2] / hashed[2:]
        if md5_of(path) == hashed.removesuffix(FOLDER):
            return {entry["relpath"]: entry["md5"] for entry in json.loads(path.read_bytes())}
    return None


def _differences(out: str, expected: Mapping[str, str], found: Mapping[str, str]) -> Iterator[str]:
    for name in sorted(expected.keys() | found.keys()):
        if name not in found:
            yield f"{out}/{name}: missing"
        elif name not in expected:
            yield f"{out}/{name}: not of this table: its stage has not written it"
        elif found[name] != expected[name]:
            yield f"{out}/{name}: {CHANGED}"
