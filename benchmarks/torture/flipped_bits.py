"""One flipped bit in what a run has written: the next reader names the file, heals it, or writes the same bytes."""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache, partial
from itertools import compress
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from benchmarks.torture.campaign import Campaign, Trial, limited
from benchmarks.torture.small_run import LEDGER, Files, contents, restore, small_run
from goldmeter.errors import GoldmeterError
from goldmeter.ledger import verdicts
from goldmeter.ledger.entries import parse
from goldmeter.ledger.vectors import VectorEvidence, Vectors
from goldmeter.ledger.verdicts import MOST_IN_ONE_FILE, Verdicts
from goldmeter.pipeline import contents as stated
from goldmeter.pipeline.dvc_yaml import stages
from goldmeter.pipeline.yaml import load_yaml

JUDGE, EMBED = "data/ledger/judge/verdicts.jsonl", "data/ledger/embed/vectors.arrow"
SCRATCH, CACHE = Path("scratch"), Path(".dvc/cache/files/md5")
# Evidence of more entries is divided into files.
FEW = 4
# A stage that a flip does not stop runs whole.
SECONDS = 120.0


class Flip(NamedTuple):
    """path: the file with the flip. read: the next reader. expected: what is written where nothing is damaged."""

    path: Path
    read: Callable[[], Files]
    expected: Files


def _trials(seed: int, trials: int) -> Iterator[Trial]:
    with small_run() as run, patch.dict(os.environ, {"GOLDMETER_LEDGER": str(run.project.folder / LEDGER)}):
        flip = partial(_flip, run.project.folder, run.files)
        yield from limited(flip, (f"{seed}-{number}" for number in range(trials)), seconds=SECONDS)


def _flip(folder: Path, files: Files, drawn: str) -> Trial:
    """Flip one bit; drawn: the seed of what and where."""
    os.chdir(folder)
    rng = Random(drawn)  # noqa: S311 (a seed repeats the trial)
    kind = rng.choices([*KINDS], [weight for _, weight in KINDS.values()])[0]
    flip = KINDS[kind][0](files, rng)
    content, bit = flip.path.read_bytes(), rng.randrange(8 * flip.path.stat().st_size)
    try:
        _write(flip.path, _flipped(content, bit))
        outcome, is_kept = _outcome(flip, _flipped(content, bit))
    finally:
        with suppress(FileNotFoundError):
            _write(flip.path, content)
        restore(folder, files)
    failure = None if is_kept else f"{drawn}: {kind}, {flip.path}, bit {bit}: {outcome}"
    return Trial(outcome.partition(":")[0], failure)


def _outcome(flip: Flip, flipped: bytes) -> tuple[str, bool]:
    """Return what a flip came to, and whether the promise was kept."""
    try:
        written = flip.read()
    except GoldmeterError as error:
        is_named = flip.path.name in str(error) or flip.path.parent == CACHE / flip.path.parent.name
        return "named" if is_named else f"not named: {str(error)[:300]}", is_named
    if written != flip.expected:
        names = sorted(name for name in {*written, *flip.expected} if written.get(name) != flip.expected.get(name))
        return f"silent: {', '.join(names)}", False
    is_there = flip.path.exists() and flip.path.read_bytes() == flipped
    return ("no effect" if is_there else "healed"), True


def _flipped(content: bytes, bit: int) -> bytes:
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def _write(path: Path, content: bytes) -> None:
    """Change the content of a file as decay does: its time and mode stay."""
    known = path.stat()
    path.chmod(0o644)
    path.write_bytes(content)
    path.chmod(known.st_mode)
    os.utime(path, ns=(known.st_atime_ns, known.st_mtime_ns))


def _input(files: Files, rng: Random) -> Flip:
    """A table, report or evidence that a stage reads; then the stage."""
    from goldmeter.runner import run

    name = rng.choice([name for name, entry in stages().items() if _read_by(name, files) and entry.outs])
    path, outs = rng.choice(_read_by(name, files)), stages()[name].outs

    def read() -> Files:
        with patch.dict(os.environ, DVC_STAGE=name), patch.object(stated, "PAUSE", 0):
            run(name)
        return _below(contents(Path()), outs)

    return Flip(Path(path), read, _below(files, outs))


def _read_by(stage: str, files: Files) -> list[str]:
    entry = stages()[stage]
    own = [f"data/ledger/{entry.ledger_written}"] if entry.ledger_written else []
    made = {out for each in stages().values() for out in each.outs}
    return [name for name in _below(files, [dep for dep in entry.deps if dep in made] + own) if files[name]]


def _below(files: Files, outs: "tuple[str, ...] | list[str]") -> Files:
    return {name: files[name] for name in files if any(name == out or name.startswith(f"{out}/") for out in outs)}


def _object(files: Files, rng: Random) -> Flip:
    """An object in DVC's cache; then `dvc checkout` of the out that it belongs to, and the check of the next stage."""
    outs = [out for stage in load_yaml(Path("dvc.lock"))["stages"].values() for out in stage["outs"]]
    out = rng.choice([out for out in outs if out["path"].startswith("data/")])
    hashes = [out["md5"]]
    if out["md5"].endswith(".dir") and rng.randrange(4):
        full = [each["md5"] for each in load_yaml(_cached(out["md5"])) if _cached(each["md5"]).stat().st_size]
        hashes = full or hashes
    path = Path(out["path"])

    def read() -> Files:
        shutil.rmtree(path)
        _checkout(path)
        with patch.object(stated, "PAUSE", 0):
            stated.require_whole([str(path)])
        return _below(contents(Path()), [str(path)])

    return Flip(_cached(rng.choice(hashes)), read, _below(files, [str(path)]))


def _cached(md5: str) -> Path:
    return CACHE / md5[:2] / md5[2:]


def _checkout(path: Path) -> None:
    from dvc.exceptions import DvcException
    from dvc.repo import Repo

    try:
        with Repo(".") as repo:
            repo.checkout([str(path)], force=True)
    except (DvcException, OSError) as error:  # the command ends with this message
        raise GoldmeterError(f"{path}: {error}") from error


def _verdicts(files: Files, rng: Random) -> Flip:
    """A store of verdicts or evidence, then what the judge does with its ledger."""
    ledgers = _ledgers(files[JUDGE])
    name = rng.choice([*ledgers])
    before, most = ledgers[name], FEW if name == "divided" else MOST_IN_ONE_FILE
    expected = ledgers[name if name == "divided" else "evidence"]
    _lay_out(before)
    path = SCRATCH / rng.choice([*before])

    def read() -> Files:
        with patch.object(verdicts, "MOST_IN_ONE_FILE", most):
            return _judged_twice(files[JUDGE], expected)

    return Flip(path, read, expected)


def _judged_twice(lines: bytes, expected: Files) -> Files:
    """What a run writes, and if that is right, what the next run writes by the store alone."""
    first = _judged(lines, SCRATCH / "evidence")
    return first if first != expected else _judged(lines, None)


def _judged(lines: bytes, evidence: Path | None) -> Files:
    """Take in the evidence, ask again for what is missing, and write the evidence of the next version."""
    entries = {entry["key"]: entry for entry in map(parse, lines.splitlines(keepends=True))}
    with Verdicts(SCRATCH / "store") as ledger:
        if evidence:
            ledger.take_in(evidence)
        ledger.add([entries[key] for key in compress(entries, ledger.unanswered([*entries]))])
        ledger.use(entries)
        return _written(ledger)


@cache
def _ledgers(lines: bytes) -> Mapping[str, Files]:
    """Ledgers of these verdicts: a file, a file with the log of a killed writer, evidence, and divided evidence."""
    _lay_out({})
    _judged(lines, None)
    store = _all_files()
    with patch.object(verdicts, "MOST_IN_ONE_FILE", FEW):
        divided = _judged(lines, None)
    _lay_out({})
    with Verdicts(SCRATCH / "store") as ledger:
        for line in lines.splitlines(keepends=True):
            ledger.add([parse(line)])
        log = _all_files()
    one = {"evidence/verdicts.jsonl": lines}
    return {"file": store, "both": {**store, **one}, "evidence": one, "log": log, "divided": divided}


def _vectors(files: Files, rng: Random) -> Flip:
    """A store of vectors or evidence, then what embed does with its ledger."""
    stored = f"{LEDGER}/embed/vectors.sqlite"
    evidence, folder = SCRATCH / "evidence", Path(EMBED).parent
    expected = {f"evidence/{Path(name).name}": files[name] for name in files if Path(name).parent == folder}
    before = {"store/vectors.sqlite": files[stored]} | (expected if rng.randrange(2) else {})
    _lay_out({**before, "whole/vectors.arrow": files[EMBED]})
    path = SCRATCH / rng.choice([*before])

    def read() -> Files:
        first = _embedded(SCRATCH / "whole", evidence)
        return first if first != expected else _embedded(SCRATCH / "whole", None)

    return Flip(path, read, expected)


def _embedded(whole: Path, evidence: Path | None) -> Files:
    """Take in the evidence, encode again what is missing, and write the evidence of the next version."""
    texts = VectorEvidence(whole)
    keys = texts.keys
    with Vectors(SCRATCH / "store") as ledger:
        if evidence:
            ledger.take_in(evidence)
        if not (known := ledger.known(keys)).all():
            ledger.add(keys[~known], texts.take(np.flatnonzero(~known)))
        ledger.use(keys)
        return _written(ledger)


def _written(ledger: Any) -> dict[str, bytes]:
    shutil.rmtree(SCRATCH / "new", ignore_errors=True)
    ledger.write_evidence(SCRATCH / "new")
    return {f"evidence/{path.name}": path.read_bytes() for path in sorted((SCRATCH / "new").iterdir())}


def _lay_out(files: Files) -> None:
    shutil.rmtree(SCRATCH, ignore_errors=True)
    for name in ("store", "evidence"):
        (SCRATCH / name).mkdir(parents=True)
    for name, content in files.items():
        (SCRATCH / name).parent.mkdir(exist_ok=True)
        (SCRATCH / name).write_bytes(content)


def _all_files() -> dict[str, bytes]:
    store = SCRATCH / "store"
    files = {f"store/{path.name}": path.read_bytes() for path in sorted(store.iterdir()) if path.is_file()}
    return {name: content for name, content in files.items() if content}


# What is flipped, and in how many of 100 trials.
KINDS: Mapping[str, tuple[Callable[[Files, Random], Flip], int]] = {
    "input of a stage": (_input, 45), "ledger of verdicts": (_verdicts, 30), "ledger of vectors": (_vectors, 20),
    "cache": (_object, 5),
}  # fmt: skip
CAMPAIGN = Campaign(
    "flipped bits",
    "After a flipped bit in evidence, store, its log, table, report or cache, the next reader names the file, or its "
    "outputs have the same bytes.",
    trials=3_000,
    few=40,
    run=_trials,
)
