"""What stages wrote: the SHA-256 of each file, stated in the stage's validation report, and checked before it is read.

The report travels with the tables through DVC, and is there when a stage was run by hand. It ends with a hash of
its own content, and states what the stage read, so that tables of different runs are refused. A report from before it
stated hashes is not checked.
"""

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

from tasks.errors import DataError
from tasks.pipeline.dvc_yaml import stages
from tasks.pipeline.files import read_json, to_json
from tasks.pipeline.hashing import sha256
from tasks.pipeline.storage import Manifest, manifest_of

# Keys of a validation report: path of each file written → its SHA-256, and the SHA-256 of the rest of the report.
FILES, OWN = "files", "sha256"
CHANGED = "damaged, its content is not what was written"
# Removed first: DVC does not look into a file whose size and time are what it knows.
REMEDY = (
    "remove it, then `dvc checkout` brings it back, or `dvc repro` makes it again; `python -m tasks verify` finds more"
)


def report_of(stage: str) -> Path:
    """Return the path of a stage's validation report."""
    return Path("reports", "validation", f"{stage}.json")


def sealed(report: Mapping[str, Any], written: Mapping[str, str]) -> str:
    """Return the text of a validation report that states the hashes of the files written, and its own."""
    content = {**report, FILES: dict(written)} if written else dict(report)
    return to_json({**content, OWN: sha256(to_json(content)).hex()})


def read_report(path: Path) -> dict[str, Any]:
    """Read a validation report.

    Raises:
        DataError: It can't be read, or is not as it was written.
    """
    report = read_json(path)
    stated = report.get(OWN)
    if OWN not in report and FILES not in report:
        return report  # of an older version
    rest = {name: value for name, value in report.items() if name != OWN}
    with suppress(ValueError):  # a number that is too large, a text that is none
        if stated == sha256(to_json(rest)).hex() and path.read_text(encoding="utf-8") == to_json(report):
            return report
    raise DataError(f"{path}: {CHANGED}; {REMEDY}")


def file_hashes(outs: Iterable[Path], root: Path = Path()) -> dict[str, str]:
    """Return the SHA-256 of each file in outs of a stage, in hex, by path; of a manifest, those of the parts it names.

    Args:
        outs: Files and folders, relative to the root.
        root: The folder that they are in.
    """
    named: dict[str, str] = {}
    files: list[Path] = []
    for out in outs:
        if manifest := manifest_of(root / out):
            named |= _parts(out, manifest)
        else:
            files += _files(out, root)
    with ThreadPoolExecutor() as pool:  # hashing releases the interpreter
        hashes = pool.map(lambda path: sha256(root / path).hex(), files)
        return dict(sorted((named | dict(zip(map(str, files), hashes, strict=True))).items()))


def damages(outs: Iterable[str], root: Path = Path()) -> list[str]:
    """Return what in these outs is not as their stages wrote it; nothing of outs whose report states no hash.

    Raises:
        DataError: A report, or a manifest, can't be read or is damaged.
    """
    return [damage for out in outs for damage in _damages_of(out, root)]


def require_whole(outs: Iterable[str], root: Path = Path()) -> None:
    """Check outs of stages. Raises DataError, which names the first damaged file, when they are not as written."""
    if found := damages(outs, root):
        more = f" (and {len(found) - 1:,} more)" if len(found) > 1 else ""
        raise DataError(f"{found[0]}{more}; {REMEDY}")


def maker_of(out: str) -> str | None:
    """Return the stage that writes an out and a validation report; None if there is none, or no dvc.yaml here."""
    entries = stages() if Path("dvc.yaml").exists() else {}
    made = (name for name, entry in entries.items() if out in entry.outs and str(report_of(name)) in entry.outs)
    return next(made, None)


def stated(out: str, root: Path = Path()) -> dict[str, str]:
    """Return the hashes that the report of its stage states of an out, by path; empty if it states none."""
    maker = maker_of(out)
    if maker is None or not (path := root / report_of(maker)).exists():
        return {}
    written: dict[str, str] = read_report(path).get(FILES, {})
    return {name: value for name, value in written.items() if name == out or name.startswith(f"{out}/")}


def _damages_of(out: str, root: Path) -> Iterator[str]:
    if out == str(report_of(Path(out).stem)):
        if (root / out).exists():
            read_report(root / out)
        return
    if not (expected := stated(out, root)):
        return
    found = file_hashes([Path(out)], root)
    for path in sorted(expected.keys() | found.keys()):
        if path not in found:
            yield f"{path}: missing"
        elif path not in expected:
            yield f"{path}: not of this table: its stage has not written it"
        elif found[path] != expected[path]:
            yield f"{path}: {CHANGED}"


def _files(out: Path, root: Path) -> list[Path]:
    if (root / out).is_file():
        return [out]
    found = sorted(path for path in (root / out).rglob("[!.]*") if path.is_file())
    return [path.relative_to(root) for path in found]


def _parts(out: Path, manifest: Manifest) -> dict[str, str]:
    """The hashes of parts in storage, by the names that they have in files."""
    return {f"{out}/part-{number:05d}.parquet": part.sha256 for number, part in enumerate(manifest.parts)}


# Key of a validation report: out that the stage read → SHA-256 over what the report of that out's stage states of it.
INPUTS = "inputs"


def inputs_of(outs: Iterable[str]) -> dict[str, str]:
    """Return what a stage's validation report states of the outs of other stages that it reads."""
    return {out: found for out in outs if (found := _digest(out))}


def require_one_run(outs: Iterable[str]) -> None:
    """Check that outs were made from each other, as far as their validation reports say; those of older versions don't.

    Raises:
        DataError: One was made from another content than is there, or a report can't be read.
    """
    now: dict[str, str] = {}
    for out, read, digest in _readings(outs, set()):
        if read not in now:
            now[read] = _digest(read)
        if now[read] and now[read] != digest:
            raise DataError(
                f"{out}: of another run than {read}, from which it was made; `dvc repro` brings them together "
                "(`run.verify: false` uses them as they are)"
            )


def _readings(outs: Iterable[str], seen: set[str]) -> Iterator[tuple[str, str, str]]:
    """Yield out, out that it was made from, and the digest of that then; for all upstream."""
    for out in outs:
        maker = maker_of(out)
        if maker is None or maker in seen or not report_of(maker).exists():
            continue
        seen.add(maker)
        read = read_report(report_of(maker)).get(INPUTS, {})
        yield from ((out, name, digest) for name, digest in read.items())
        yield from _readings(read, seen)


def _digest(out: str) -> str:
    """The SHA-256 over the hashes that are stated of an out; empty if none are."""
    return sha256(to_json(hashes)).hex() if (hashes := stated(out)) else ""
