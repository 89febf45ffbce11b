"""The release gate: section `gate` of params.yaml, the verdict on one difference, and the decision on a release."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Discriminator, Field, Tag, field_validator, model_validator

from goldmeter.comparison.measures import measures, without_threshold
from goldmeter.comparison.pairing import Blocks, Pairing, Positions
from goldmeter.estimates.column_facts import resource_measures
from goldmeter.estimates.columns import Candidate, ScoreColumn
from goldmeter.estimates.headline import deciding, have_labels
from goldmeter.estimates.human_labels import LABEL
from goldmeter.estimates.primary import OPTION, VERDICT, Maximum, Primary, Reason, primary
from goldmeter.estimates.repeated_answers import names
from goldmeter.estimates.sums import column_of
from goldmeter.pipeline.settings import Section, Share
from goldmeter.wording.comparison_document import DecisionEntry, NeededEntry, PairEntry, WorstSlice
from goldmeter.wording.more_data import most_needed
from goldmeter.wording.release import Decisive, Release, reasons, sentence
from goldmeter.wording.verdicts import Decision, Role, Verdict

Name = Annotated[str, Field(min_length=1)]
# The largest acceptable loss, as a share of the measure's scale; of what answers take, of the value before.
Margin = Annotated[float, Field(ge=0, lt=1)]


def _kind(given: Any) -> str:
    return "|max" if isinstance(given, dict | Maximum) else "|margin"


Guard = Annotated[Annotated[Margin, Tag("|margin")] | Annotated[Maximum, Tag("|max")], Discriminator(_kind)]

# Families of metrics whose scores are compared where they have no pass rate.
WITHOUT_RATE = frozenset({"lexical", "semantic"})


class Gate(Section):
    """What decides on a release.

    primary: the measure that decides; None: goldmeter.estimates.primary chooses. metrics: the guards, measures that
    stop a release when they lose more than their margin, or exceed their maximum. margin: of the primary measure.
    """

    primary: Name | None
    metrics: Mapping[Name, Guard]
    margin: Margin
    # Below 1, because looks at a baseline share 1 - confidence.
    confidence: Annotated[float, Field(gt=0.5, le=0.999999)]
    fail_on: Literal["worse", "cannot_tell"]
    max_unmeasured: Share

    @field_validator("metrics", mode="before")
    @classmethod
    def _guards_have_margins(cls, metrics: Any) -> Any:
        if isinstance(metrics, list | tuple | str):
            raise ValueError(  # noqa: TRY004 (pydantic reports only ValueError)
                "expected guards, each with the largest acceptable loss as a share of its scale, such as "
                "{meteor: 0.05}; the measure that decides is gate.primary"
            )
        return {} if metrics is None else metrics

    @model_validator(mode="after")
    def _primary_is_no_guard(self) -> Self:
        if self.primary in self.metrics:
            raise ValueError(f"metrics names the primary measure, {self.primary}; its margin is gate.margin")
        return self

    @model_validator(mode="after")
    def _maxima_are_of_what_answers_take(self) -> Self:
        names = resource_measures()
        for name, guard in self.metrics.items():
            if isinstance(guard, Maximum) and name not in names:
                raise ValueError(f"metrics.{name}: max is for {', '.join(names)}; expected the largest acceptable loss")
        return self

    def margin_of(self, name: str, default: float = 0.0) -> float:
        """The margin of a guard; of one with a maximum, and of any other measure, the default."""
        guard = self.metrics.get(name, default)
        return default if isinstance(guard, Maximum) else guard

    def fails(self, verdicts: Collection[Verdict]) -> bool:
        """Whether a release with these verdicts on the primary measure and the guards may not ship."""
        return Verdict.WORSE in verdicts or (self.fail_on == "cannot_tell" and Verdict.CANNOT_TELL in verdicts)


def verdict(
    low: float, high: float, margin: float, *, higher_is_better: bool, unchanged: bool, has_direction: bool = True
) -> Verdict:
    """Decide from the interval of a difference.

    low, high: limits of the difference, new minus old. margin: the smallest loss that matters, in the same unit.
    has_direction: whether more is better, or less.

    >>> verdict(-0.04, -0.01, 0.0, higher_is_better=True, unchanged=False)
    <Verdict.WORSE: 'worse'>
    >>> verdict(-0.04, -0.01, 0.05, higher_is_better=True, unchanged=False)
    <Verdict.NO_WORSE: 'no worse'>
    """
    if unchanged:
        return Verdict.UNCHANGED
    if not has_direction:
        return Verdict.DIFFERENT if high < -margin or low > margin else Verdict.CANNOT_TELL
    low, high = (low, high) if higher_is_better else (-high, -low)
    if high < -margin:
        return Verdict.WORSE
    if low > margin:
        return Verdict.BETTER
    if low > -margin:
        return Verdict.NO_WORSE
    return Verdict.CANNOT_TELL


def decision(pairs: Sequence[PairEntry], primary: Primary, gate: Gate, *, blocked: bool) -> DecisionEntry:
    """Decide from the primary measure and the guards of all pairs of candidates.

    Args:
        pairs: The compared pairs.
        primary: The primary measure.
        gate: Section `gate` of params.yaml.
        blocked: Whether something that the gate asks for could not be compared.
    """
    decisive = sorted(_by_role(pairs, "primary"), key=_gravity)
    guards = sorted(_by_role(pairs, "guard"), key=_gravity)
    worse = [one for one in (*decisive, *guards) if one.entry["verdict"] == Verdict.WORSE]
    strict = guards if gate.fail_on == "cannot_tell" else []
    open_ones = {Verdict.CANNOT_TELL, Verdict.DIFFERENT}
    undecided = [one for one in (*decisive, *strict) if one.entry["verdict"] in open_ones]
    says = Decision.SHIP
    if worse:
        says = Decision.DO_NOT_SHIP
    elif blocked or undecided or not decisive:
        says = Decision.UNDECIDED
    needed = _needed(undecided) if says is Decision.UNDECIDED and not blocked else None
    release = Release(says, decisive, guards, worse, undecided, needed, blocked)
    return {
        "verdict": says,
        "needed": needed,
        "sentence": sentence(release),
        "reasons": reasons(release, pairs, primary, gate.confidence),
        "worst_slice": worst_slice(pairs, primary.name),
    }


def worst_slice(pairs: Sequence[PairEntry], measure: str) -> WorstSlice | None:
    """The slice that lost most surely by the deciding measure: whose best limit is the worst.

    Its interval is exploratory. None if no slice lost anything. measure: the primary one.
    """
    found: list[tuple[float, WorstSlice]] = []
    for pair in pairs:
        decides, compared = deciding(pair, measure) or (measure, None)
        better_is_more = compared is not None and compared["higher_is_better"]
        for part in pair.get("slices", ()):
            value, low, high = (part["difference"][name] for name in ("value", "low", "high"))
            if part["measure"] != decides or value is None or low is None or high is None:
                continue
            if (-value if better_is_more else value) > 0.0:
                found.append((high if better_is_more else -low, {**part, "candidate": pair["head"]}))
    return min(found, key=lambda each: each[0])[1] if found else None


def _by_role(pairs: Sequence[PairEntry], role: Role) -> list[Decisive]:
    return [
        Decisive(pair, name, entry)
        for pair in pairs
        for name, entry in pair["measures"].items()
        if entry["role"] == role
    ]


def _gravity(one: Decisive) -> tuple[int, float]:
    value = one.entry["difference"]["value"] or 0.0
    return Verdict(one.entry["verdict"]).gravity, value if one.entry["higher_is_better"] else -value


def _needed(undecided: Sequence[Decisive]) -> NeededEntry | None:
    """What decides all of them: the most that one needs; None where that of one is unknown."""
    return most_needed([one.entry["needed"] for one in undecided])


def shared_primary(pairs: Sequence[Blocks], gate: Gate, *, random: bool, option: str = OPTION) -> Primary:
    """The primary measure of two versions: one that both have on their shared rows.

    Human labels of an earlier answer say nothing of a new one. So labels decide only if every shared row with a label
    in BASE has one in HEAD; else the rows that still have one would be those whose answers did not change.

    Args:
        pairs: The paired rows of each pair of candidates, in blocks.
        gate: Section `gate` of params.yaml.
        random: Whether the labelled rows were chosen at random in each version where not all are labelled.
        option: The option that names the measure, for messages.

    Raises:
        ParamsError: No version has the measure that `gate.primary` names, or it names none and there is no default.
    """
    shared = [blocks for blocks in pairs if any(len(one.head_rows) for one in blocks)]
    sides = [
        (
            of_blocks([(one.base, one.base_rows) for one in blocks]),
            of_blocks([(one.head, one.head_rows) for one in blocks]),
        )
        for blocks in shared
    ]
    if gate.primary is None and any(_lost_labels(*both) for both in sides):
        unlabelled = [_without_labels(side) for both in sides for side in both]
        return primary(None, unlabelled, option=option)._replace(reason=Reason.LOST_LABELS)
    return primary(gate.primary, [side for both in sides for side in both], random=random, option=option)


def are_labelled(blocks: Blocks) -> bool:
    """Whether human labels allow a statement on both candidates of a pair."""
    sides = [(one.base, one.base_rows) for one in blocks], [(one.head, one.head_rows) for one in blocks]
    return any(len(one.head_rows) for one in blocks) and have_labels([of_blocks(side) for side in sides])


def roles_of(
    pairing: Pairing, gate: Gate, decides: str, pass_at: Sequence[int] = (), others: Collection[str] = ()
) -> dict[str, Role]:
    """The measures of two candidates by name with their roles: the primary one, the guards, and every other rate.

    Candidates with repeated answers also have pass@k and pass^k of the rates that people read first: the primary one,
    human labels and verdicts; those of the others would hide them. others: more secondary measures.
    """
    found: dict[str, Role] = {decides: "primary"}
    for name in gate.metrics:
        found.setdefault(name, "guard")
    for name in [name for candidate in (pairing.base, pairing.head) for name in _rates(candidate)] + [*others]:
        found.setdefault(name, "secondary")
    if pairing.base.questions is not None and pairing.head.questions is not None:
        read_first = [name for name in dict.fromkeys([decides, LABEL, VERDICT]) if name in found]
        for name in [name for column in read_first for name in names(column, pass_at)]:
            found.setdefault(name, "secondary")
    return found


def margin(gate: Gate, name: str, role: Role) -> float:
    """The largest acceptable loss of a measure, as a share of its scale."""
    if role == "primary":  # without gate.primary, a guard may turn out to be the primary measure
        return min(gate.margin, gate.margin_of(name, gate.margin))
    return gate.margin_of(name) if role == "guard" else 0.0


def _rates(candidate: Candidate) -> Iterator[str]:
    """Pass rates, and the scores of metrics of texts that have none."""
    every = measures(candidate).values()
    gated = {measure.column.facts.metric for measure in every if measure.kind == "rate"}
    for measure in every:
        facts = measure.column.facts
        plain = facts.family in WITHOUT_RATE and facts.metric not in gated and not facts.awaits_threshold
        if measure.kind == "rate" or plain:
            yield measure.name
    yield from without_threshold(candidate)


def of_blocks(sides: Sequence[tuple[Candidate, Positions]]) -> Candidate:
    """The labels and verdicts of some rows of a candidate, of all blocks; its other columns have no rows.

    sides: the candidate's rows of each block, and which of them.
    """
    first, _ = sides[0]
    nothing = np.empty(0, np.intp)

    def joined(column: ScoreColumn) -> ScoreColumn:
        if column.name not in (LABEL, VERDICT):
            return column.rows(nothing)
        own = [(one, rows) for candidate, rows in sides for one in candidate.columns if one.name == column.name]
        values, not_asked = (
            np.concatenate([getattr(one, name)[rows] for one, rows in own]) for name in ("values", "not_asked")
        )
        return replace(column, values=values, not_asked=not_asked, passed=None, stats=None)

    return replace(first.rows(nothing), columns=[joined(column) for column in first.columns])


def _lost_labels(base: Candidate, head: Candidate) -> bool:
    older, newer = column_of(base, LABEL), column_of(head, LABEL)
    if older is None:
        return False
    labelled = ~np.isnan(older.values)
    return bool(labelled.any() if newer is None else (labelled & np.isnan(newer.values)).any())


def _without_labels(candidate: Candidate) -> Candidate:
    return replace(candidate, columns=[column for column in candidate.columns if column.name != LABEL])
