"""`python -m flows.robust`: a conclusion of the last run, or on two versions, under what could be chosen otherwise."""

from collections.abc import Mapping, Sequence
from math import sqrt
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from goldmeter.comparison.gate import Gate, margin, shared_primary
from goldmeter.comparison.of_versions import VersionScores, match, pairings, scores_of
from goldmeter.comparison.readings import Reading, of_other_version, readings, shared
from goldmeter.comparison.robustness import Asked, robustness
from goldmeter.console.markdown import escaped, table
from goldmeter.console.terminal import console, plain, say
from goldmeter.errors import ComparisonError, DataError, ParamsError
from goldmeter.estimates.columns import Candidate, Hashes, hashed
from goldmeter.estimates.estimates import rounded
from goldmeter.estimates.primary import Targets
from goldmeter.pipeline import params
from goldmeter.reporting.study_plan import systems_of
from goldmeter.versions.version import WORKSPACE, Version, versions
from goldmeter.wording import robustness as wording

Document = dict[str, Any]


class Options(NamedTuple):
    """measure: the one that concludes, None: the primary one. also: versions. without: a file with an id a line."""

    measure: str | None = None
    also: Sequence[str] = ()
    without: Path | None = None


def conclusions(names: Sequence[str], options: Options) -> list[Document]:
    """Check what is concluded on systems of the last run, or on each candidate of two versions.

    Args:
        names: Two systems; one, whose rate is compared with its target; none: the two best of the run. Else one or two
            versions, the second by default the workspace.
        options: What is looked at.

    Raises:
        GoldmeterError: A name is unknown, there was no run, or it measured too little.
    """
    without = None if options.without is None else _ids(options.without)
    with versions([WORKSPACE, *options.also]) as (workspace, *others):
        also = [scores_of(one) for one in others]
        if not names or workspace.has("data/load"):
            _, measure, systems = systems_of(workspace, options.measure)
            by_name = {one.name: one for one in systems}
            if all(name in by_name for name in names):
                sides = [by_name[name] for name in names] or systems[:2]
                asked = Asked(measure, 0.0, _target(measure) if len(sides) == 1 else None, _gate().confidence)
                scores = scores_of(workspace)
                return [_checked(sides, [scores] * len(sides), also, asked, without)]
        with versions([*names, WORKSPACE][:2]) as (older, newer):
            return of_versions(older, newer, also, options.measure, without)


def of_versions(
    older: Version,
    newer: Version,
    also: Sequence[VersionScores] = (),
    measure: str | None = None,
    without: Hashes | None = None,
    renamed: Mapping[str, str] = {},
) -> list[Document]:
    """Check what is concluded on each pair of candidates of two versions, in their order.

    Args:
        older: The base version.
        newer: The head version.
        also: Versions whose judge gave verdicts on the same answers.
        measure: What concludes; None: the primary measure.
        without: Hashes of ids whose references are under suspicion.
        renamed: Candidate of the base version → its name in the head version.

    Raises:
        GoldmeterError: Nothing can be compared, or not by this measure.
    """
    base, head, gate = scores_of(older), scores_of(newer), _gate()
    matched = match(base.names(), head.names(), renamed)
    with TemporaryDirectory(prefix="goldmeter-") as folder:
        pairs = pairings(base, head, matched.pairs, Path(folder))
        if any(len(blocks) > 1 for blocks in pairs):
            raise ComparisonError("too many rows to check versions; check two systems of one run")
        random = all(side.labels_random for (one,) in pairs for side in (one.base, one.head))
        name = measure or shared_primary(pairs, gate, random=random).name
        asked = Asked(name, margin(gate, name, "primary"), None, gate.confidence)
        sides = [[one.head.rows(one.head_rows), one.base.rows(one.base_rows)] for (one,) in pairs]
        found = [_checked(both, [head, base], also, asked, without) for both in sides]
    for one, both in zip(found, sides, strict=True):
        one["systems"] = [f"{side.name} of {of.name}" for side, of in zip(both, (newer, older), strict=True)]
    return found


def _checked(
    sides: Sequence[Candidate],
    scores: Sequence[VersionScores],
    also: Sequence[VersionScores],
    asked: Asked,
    without: Hashes | None,
) -> Document:
    found = shared([_readings(side, of, also) for side, of in zip(sides, scores, strict=True)])
    if asked.primary not in found:
        raise ParamsError(
            f"{asked.primary}: no pass rate that all of them have and measured the same way; name one by --measure: "
            f"{', '.join(found)}"
        )
    groups = []
    if sides[0].groups is not None:
        named = scores[0].load.whole(["id", "group"]).take(pa.array(sides[0].positions))
        groups = pc.coalesce(named["group"], named["id"]).to_pylist()
    result = robustness(sides, found, asked, without, groups)
    errors = {} if result.sources is None else result.sources._asdict()
    document: Document = rounded(
        result._asdict()
        | {
            "confidence": asked.confidence,
            "conclusion": result.conclusion._asdict(),
            "checks": [one._asdict() for one in result.checks],
            "sources": {name: None if value is None else sqrt(value) for name, value in errors.items()},
        }
    )
    return document


def _readings(side: Candidate, scores: VersionScores, also: Sequence[VersionScores]) -> list[Reading]:
    own = [*readings(side, scores.tables.get("judge"))]
    return own + [one for version in also for one in of_other_version(side, scores.load, version)]


def _gate() -> Gate:
    return params.section(Gate, params.raw(), "gate")


def _target(measure: str) -> float:
    target = params.section(Targets, params.raw(), "report").targets.get(measure)
    if not isinstance(target, float):
        raise ParamsError(f"report.targets.{measure}: none to compare one system with; set one, or name two systems")
    return target


def _ids(file: Path) -> Hashes:
    try:
        ids = [line for line in file.read_text(encoding="utf-8").splitlines() if line]
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"--without {file}: {error}; expected a text file with one id in each line") from None
    return hashed(pa.chunked_array([pa.array(ids, pa.string())]))


def print_table(found: Document) -> None:
    """Print a conclusion and its checks to the terminal."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    say(wording.sentence(found))
    shown = Table(*wording.HEADS, box=SIMPLE_HEAD)
    for row in wording.rows(found):
        shown.add_row(*map(plain, row))
    console().print(shown)
    for note in wording.notes(found):
        say(note)


def to_markdown(found: Document) -> str:
    """The same as Markdown."""
    lines = [f"**{escaped(wording.sentence(found))}**", "", *table(wording.HEADS, wording.rows(found))]
    return "\n".join([*lines, "", *map(escaped, wording.notes(found)), ""])
