"""Tables of one run: each was made from the tables that are there, as validation reports state."""

from collections.abc import Iterable, Iterator

from tasks.errors import DataError
from tasks.pipeline.contents import maker_of, read_report, report_of, stated
from tasks.pipeline.files import to_json
from tasks.pipeline.hashing import sha256

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
