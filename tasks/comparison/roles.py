"""Roles of measures: the primary one decides, guards can stop a release, secondary ones are shown.

Each role is a family of tests of its own, so that measures beside the primary one do not cost it power.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np

from tasks.comparison.compared_rows import Blocks
from tasks.comparison.gate import Gate
from tasks.comparison.measures import measures, without_threshold
from tasks.comparison.pairing import Pairing, Positions
from tasks.scores.columns import Candidate, ScoreColumn
from tasks.scores.human_labels import LABEL
from tasks.scores.primary import OPTION, VERDICT, Primary, Reason, column, primary
from tasks.scores.repeated_answers import names
from tasks.wording.verdicts import Role


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
    yield from (measure.name for measure in measures(candidate).values() if measure.kind == "rate")
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
    older, newer = column(base, LABEL), column(head, LABEL)
    if older is None:
        return False
    labelled = ~np.isnan(older.values)
    return bool(labelled.any() if newer is None else (labelled & np.isnan(newer.values)).any())


def _without_labels(candidate: Candidate) -> Candidate:
    return replace(candidate, columns=[column for column in candidate.columns if column.name != LABEL])
