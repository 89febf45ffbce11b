"""`python -m flows.robust`: a conclusion of the last run, or on two versions, under what could be chosen otherwise."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from goldmeter.comparison.gate import Gate, margin, shared_primary
from goldmeter.comparison.measures import LABEL, measures
from goldmeter.comparison.of_versions import VersionScores, match, pairings, scores_of
from goldmeter.comparison.readings import Reading, of_other_version, readings, shared
from goldmeter.comparison.robustness import Asked, robustness
from goldmeter.console.markdown import escaped, table
from goldmeter.console.terminal import print_rows, say
from goldmeter.errors import DataError, ParamsError
from goldmeter.estimates.columns import Candidate, Hashes, hashed
from goldmeter.estimates.estimates import rounded
from goldmeter.estimates.metrics_report import METRICS, reading
from goldmeter.estimates.primary import VERDICT, Targets
from goldmeter.estimates.signature import VerdictSource
from goldmeter.judging.earlier import OneMore, committed_judges, earlier_verdicts, one_more
from goldmeter.judging.settings import Judge
from goldmeter.pipeline import params
from goldmeter.reporting.study_plan import systems_of
from goldmeter.versions.version import WORKSPACE, Version, versions
from goldmeter.wording import robustness as wording
from goldmeter.wording.verdicts import FIXED_ROWS, Why, refusal

Document = dict[str, Any]


class Options(NamedTuple):
    """measure: the one that concludes, None: the primary one. also: versions. without: a file with an id a line."""

    measure: str | None = None
    also: Sequence[str] = ()
    without: Path | None = None


class _Side(NamedTuple):
    """A system: its rows of a version."""

    candidate: Candidate
    version: Version
    scores: VersionScores

    @property
    def normalized(self) -> pa.Table | None:
        """Its rows of data/normalize, from which requests to a judge are made; None without the table."""
        if not self.version.has("data/normalize"):
            return None
        return self.version.parts("normalize").whole().take(pa.array(self.candidate.positions))


class _Checks(NamedTuple):
    """What conclusions are checked with, beside the tables of their versions.

    judges: of committed versions. also: versions whose judge gave verdicts on the same answers. without: hashes of ids
    whose references are under suspicion; None: those that the run of the first system suspects.
    """

    judges: Sequence[tuple[str, Judge]]
    also: Sequence[VersionScores] = ()
    without: Hashes | None = None


def conclusions(names: Sequence[str], options: Options) -> tuple[list[Document], OneMore | None]:
    """Check what is concluded on systems of the last run, or on each candidate of two versions.

    Args:
        names: Two systems; one, whose rate is compared with its target; none: the two best of the run. Else one or two
            versions, the second by default the workspace.
        options: What is looked at.

    Returns:
        Each conclusion, and what one more judge would cost.

    Raises:
        GoldmeterError: A name is unknown, there was no run, or it measured too little.
    """
    without = None if options.without is None else _ids(options.without)
    with versions([WORKSPACE, *options.also]) as (workspace, *others):
        checks = _Checks(committed_judges(), [scores_of(one) for one in others], without)
        if not names or workspace.has("data/load"):
            _, measure, systems = systems_of(workspace, options.measure)
            by_name = {one.name: one for one in systems}
            if all(name in by_name for name in names):
                chosen = [by_name[name] for name in names] or systems[:2]
                asked = Asked(measure, 0.0, _target(measure) if len(chosen) == 1 else None, _gate().confidence)
                scores = scores_of(workspace)
                sides = [_Side(one, workspace, scores) for one in chosen]
                found = [_checked(sides, asked, checks)]
                return found, _one_more(sides, found)
        with versions([*names, WORKSPACE][:2]) as (older, newer):
            pairs, asked = _pairs(older, newer, options.measure)
            found = [_checked(sides, asked, checks) for sides in pairs]
            return found, _one_more([one for two in pairs for one in two], found)


def of_versions(older: Version, newer: Version, renamed: Mapping[str, str] = {}) -> list[Document]:
    """Check what is concluded by the primary measure on each pair of candidates of two versions, in their order.

    Args:
        older: The base version.
        newer: The head version.
        renamed: Candidate of the base version → its name in the head version.

    Raises:
        GoldmeterError: Nothing can be compared, or not by this measure.
    """
    (pairs, asked), checks = _pairs(older, newer, None, renamed), _Checks(committed_judges())
    return [_checked(sides, asked, checks) for sides in pairs]


def _pairs(
    older: Version, newer: Version, measure: str | None, renamed: Mapping[str, str] = {}
) -> tuple[list[list[_Side]], Asked]:
    """Each pair of candidates of two versions, the newer first, and what is concluded by a measure."""
    base, head, gate = scores_of(older), scores_of(newer), _gate()
    pairs = pairings(base, head, match(base.names(), head.names(), renamed).pairs, None)
    random = all(side.labels_random for (one,) in pairs for side in (one.base, one.head))
    name = measure or shared_primary(pairs, gate, random=random).name
    sides = [
        [
            _Side(replace(side.rows(rows), name=f"{side.name} of {version.name}"), version, scores)
            for side, rows, version, scores in (
                (one.head, one.head_rows, newer, head),
                (one.base, one.base_rows, older, base),
            )
        ]
        for (one,) in pairs
    ]
    return sides, Asked(name, margin(gate, name, "primary"), None, gate.confidence)


def _one_more(sides: Sequence[_Side], found: Sequence[Document]) -> OneMore | None:
    rows = [one for side in sides if (one := side.normalized) is not None]
    known = {check["judge"] for document in found for check in document["checks"]}
    return one_more(pa.concat_tables(rows, promote_options="default"), known) if rows else None


def _checked(sides: Sequence[_Side], asked: Asked, checks: _Checks) -> Document:
    found = shared([[*_readings(side, checks)] for side in sides])
    own = [measures(side.candidate).get(asked.primary) for side in sides]
    if any(one is not None and one.column.facts.stopped for one in own):
        raise ParamsError(f"{asked.primary}: {refusal(Why.STOPPED, said=FIXED_ROWS)}")
    if asked.primary not in found:
        raise ParamsError(
            f"{asked.primary}: no pass rate that all of them have and measured the same way; name one by --measure: "
            f"{', '.join(found)}"
        )
    groups, first = [], sides[0]
    if first.candidate.groups is not None:
        named = first.scores.load.whole(["id", "group"]).take(pa.array(first.candidate.positions))
        groups = pc.coalesce(named["group"], named["id"]).to_pylist()
    without = _suspected(first.version, asked.primary) if checks.without is None else checks.without
    result = robustness([side.candidate for side in sides], found, asked, without, groups)
    document: Document = rounded(
        result._asdict()
        | {
            "systems": [*result.systems],
            "conclusion": result.conclusion._asdict(),
            "checks": [one._asdict() for one in result.checks],
            "sources": None if result.sources is None else result.sources._asdict(),
        }
    )
    return document


def _readings(side: _Side, checks: _Checks) -> Iterator[Reading]:
    yield from readings(side.candidate, side.scores.tables.get("judge"))
    for version in checks.also:
        yield from of_other_version(side.candidate, side.scores.load, version)
    if checks.judges and (rows := side.normalized) is not None:
        for one in earlier_verdicts(rows, checks.judges):
            judge, is_verdict = VerdictSource.of(one.signature).name, one.column == VERDICT
            yield Reading(f"{one.column} of {one.commit}", judge, one.signature, one.values, is_verdict)


def _gate() -> Gate:
    return params.section(Gate, params.raw(), "gate")


def _target(measure: str) -> float:
    target = params.section(Targets, params.raw(), "report").targets.get(measure)
    if not isinstance(target, float):
        raise ParamsError(f"report.targets.{measure}: none to compare one system with; set one, or name two systems")
    return target


def _suspected(version: Version, measure: str) -> Hashes | None:
    """Ids of the references that a run calls suspicious; None without any, and where labels decide, which need none."""
    if measure == LABEL or not version.has(METRICS):
        return None
    with reading(version.path(METRICS), version.name) as document:
        return _hashed([row["id"] for row in document["suspects"]["rows"]]) if "suspects" in document else None


def _ids(file: Path) -> Hashes:
    try:
        ids = [line for line in file.read_text(encoding="utf-8").splitlines() if line]
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"--without {file}: {error}; expected a text file with one id in each line") from None
    return _hashed(ids)


def _hashed(ids: Sequence[str]) -> Hashes:
    return hashed(pa.chunked_array([pa.array(ids, pa.string())]))


def print_table(found: Document) -> None:
    """Print a conclusion and its checks to the terminal."""
    say(wording.sentence(found))
    print_rows(wording.HEADS, wording.rows(found))
    for note in wording.notes(found):
        say(note)


def to_markdown(found: Document) -> str:
    """The same as Markdown."""
    lines = [f"**{escaped(wording.sentence(found))}**", "", *table(wording.HEADS, wording.rows(found))]
    return "\n".join([*lines, "", *map(escaped, wording.notes(found)), ""])
