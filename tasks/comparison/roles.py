"""Roles of measures: the primary one decides, guards can stop a release, secondary ones are shown.

Each role is a family of tests of its own, so that measures beside the primary one do not cost it power.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from tasks.comparison.gate import Gate, Role
from tasks.comparison.measures import measures, without_threshold
from tasks.comparison.pairing import Pairing, Positions
from tasks.metrics.base import Floats
from tasks.scores.columns import Candidate
from tasks.scores.human_labels import LABEL
from tasks.scores.primary import MEANING_MATCH, Primary, column, primary
from tasks.scores.repeated_answers import names

# Two measures whose correlation over the rows is rounded to 1.00 are one measure.
SAME = 0.995


def shared_primary(pairings: Sequence[Pairing], gate: Gate, *, random: bool) -> Primary:
    """The primary measure of two versions: one that both have on their shared rows.

    Human labels of an earlier answer say nothing of a new one. So labels decide only if every shared row with a label
    in BASE has one in HEAD; else the rows that still have one would be those whose answers did not change.

    Args:
        pairings: The pairs of candidates.
        gate: Section `gate` of params.yaml.
        random: Whether the labelled rows were chosen at random in each version where not all are labelled.

    Raises:
        ParamsError: No version has the measure that `gate.primary` names, or it names none and there is no default.
    """
    shared = [one for one in pairings if len(one.head_rows)]
    sides = [(_on(one.base, one.base_rows), _on(one.head, one.head_rows)) for one in shared]
    if gate.primary is None and any(_lost_labels(*both) for both in sides):
        unlabelled = [_without_labels(side) for both in sides for side in both]
        return primary(None, unlabelled)._replace(reason="the new answers have no human labels")
    return primary(gate.primary, [side for both in sides for side in both], random=random)


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
        read_first = [name for name in dict.fromkeys([decides, LABEL, MEANING_MATCH]) if name in found]
        for name in [name for column in read_first for name in names(column, pass_at)]:
            found.setdefault(name, "secondary")
    return found


def margin(gate: Gate, name: str, role: Role) -> float:
    """The largest acceptable loss of a measure, as a share of its scale."""
    if role == "primary":  # without gate.primary, a guard may turn out to be the primary measure
        return min(gate.margin, gate.metrics.get(name, gate.margin))
    return gate.metrics[name] if role == "guard" else 0.0


def duplicates(values: Mapping[str, Floats]) -> list[list[str]]:
    """Groups of measures that say the same row by row; values: name → the value of each row, shape (n,)."""
    varying = [name for name, rows in values.items() if np.unique(rows[~np.isnan(rows)]).size > 1]
    groups: list[list[str]] = []
    for name in varying:
        group = next((group for group in groups if _same(values[group[0]], values[name])), None)
        if group is None:
            groups.append([name])
        else:
            group.append(name)
    return [group for group in groups if len(group) > 1]


def _rates(candidate: Candidate) -> Iterator[str]:
    yield from (measure.name for measure in measures(candidate).values() if measure.kind == "rate")
    yield from without_threshold(candidate)


def _on(candidate: Candidate, rows: Positions) -> Candidate:
    return replace(candidate, columns=[column.rows(rows) for column in candidate.columns])


def _lost_labels(base: Candidate, head: Candidate) -> bool:
    older, newer = column(base, LABEL), column(head, LABEL)
    if older is None:
        return False
    labelled = ~np.isnan(older.values)
    return bool(labelled.any() if newer is None else (labelled & np.isnan(newer.values)).any())


def _without_labels(candidate: Candidate) -> Candidate:
    return replace(candidate, columns=[column for column in candidate.columns if column.name != LABEL])


def _same(one: Floats, other: Floats) -> bool:
    both = ~(np.isnan(one) | np.isnan(other))
    if both.sum() < 2 or not (np.ptp(one[both]) and np.ptp(other[both])):  # noqa: PLR2004 (no correlation)
        return False
    return bool(np.corrcoef(one[both], other[both])[0, 1] >= SAME)
