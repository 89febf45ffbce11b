"""References to look at first: precision on wrong references planted in EVOUNA-NQ, recall on NQ301.

    python -m benchmarks.suspects [SEED …]

Of 5 % of the questions the reference is that of another question of the same kind; of 5 % all accepted answers but the
one that fewest answers use are dropped. The measure is the offline judge, which was trained on the original rows.
"""

import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.data import EVOUNA
from benchmarks.nq301 import FOLDER, letters, nq301
from benchmarks.offline_judge.labelled import Labelled, human_labelled
from goldmeter.estimates.suspects import Asked, Given, Suspect, contains, suspect
from goldmeter.metrics.base import Floats
from goldmeter.models.offline import RIGHT, judge
from goldmeter.models.offline.kinds import question_kind, reference_kind
from goldmeter.text.normalization import normalize

SHARE, FIRST, OF_NQ301 = 0.05, 100, 200
WRONG, INCOMPLETE = "wrong", "incomplete"


class Question(NamedTuple):
    """A question; rows: its answers with human labels. planted: what is wrong with its references."""

    references: list[str]
    rows: list[Labelled]
    planted: str = ""


def questions(rows: Sequence[Labelled]) -> list[Question]:
    """Return rows by question."""
    found: dict[str, list[Labelled]] = {}
    for row in rows:
        found.setdefault(row.group, []).append(row)
    return [Question(own[0].references, own) for own in found.values()]


def planted(known: Sequence[Question], seed: int) -> list[Question]:
    """Return the questions, some with wrong and some with incomplete references."""
    rng, size = np.random.default_rng(seed), round(SHARE * len(known))
    order, result = rng.permutation(len(known)).tolist(), [*known]
    kinds = [(question_kind(one.rows[0].question), reference_kind(one.references[0])) for one in known]
    wrong = [place for place in order if kinds.count(kinds[place]) > 1][:size]
    for place in wrong:
        same = [i for i, kind in enumerate(kinds) if kind == kinds[place] and _differ(known[i], known[place])]
        if same:
            result[place] = known[place]._replace(references=known[rng.choice(same)].references, planted=WRONG)
    left = [place for place in order if place not in {*wrong} and _least_used(known[place])]
    for place in left[:size]:
        result[place] = known[place]._replace(references=_least_used(known[place]), planted=INCOMPLETE)
    return result


def _differ(one: Question, other: Question) -> bool:
    return {*map(normalize, one.references)}.isdisjoint(map(normalize, other.references))


def _least_used(one: Question) -> list[str]:
    """Return the reference that fewest answers contain; none where all are in as many answers."""
    uses = [sum(contains(row.response, [text]) for row in one.rows) for text in one.references]
    return [one.references[uses.index(min(uses))]] if min(uses) < max(uses) else []


def ranked(known: Sequence[Question], *, labels: bool) -> list[tuple[Suspect, Question]]:
    """Return all questions, the most suspicious ones first; labels: use the human labels."""
    rows = [(row, one) for one in known for row in one.rows]
    passed = judge(
        [row.question for row, _ in rows], [one.references for _, one in rows], [row.response for row, _ in rows]
    )
    verdicts: Iterator[float] = iter((passed.probabilities >= RIGHT).astype(float).tolist())
    found = []
    for number, one in enumerate(known):
        given = [Given(r.source, r.response, next(verdicts), float(r.verdict) if labels else np.nan) for r in one.rows]
        asked = Asked(f"{number:05d}", one.rows[0].question, one.references, given)
        found.append((suspect(asked), one))
    return sorted(found, key=lambda pair: (-pair[0].score, pair[0].asked.id))


def is_contradicted(found: Suspect, one: Question) -> bool:
    """Whether human labels call an answer right that the measure fails."""
    return any(given.passed == 0 and row.verdict for given, row in zip(found.asked.given, one.rows, strict=True))


def _precision(known: Sequence[Question], seed: int, *, labels: bool) -> tuple[Floats, int]:
    first = ranked(planted(known, seed), labels=labels)[:FIRST]
    kinds = [one.planted for _, one in first]
    right = [bool(one.planted) or is_contradicted(found, one) for found, one in first]
    return np.array([kinds.count(WRONG), kinds.count(INCOMPLETE), sum(right)], np.float64), len(first)


def _nq301() -> Iterator[str]:
    known = questions([row._replace(group=letters(row.question)) for row in nq301(FOLDER)])
    new = {id(one) for one in known if any(r.verdict and not contains(r.response, r.references) for r in one.rows)}
    for labels in (False, True):
        found = ranked(known, labels=labels)
        order = [id(one) in new for _, one in found]
        yield (
            f"NQ301, {_with(labels)}: {len(known)} questions, {len(new)} with an answer that people accept and no "
            f"reference is in; recall of the first {OF_NQ301} {sum(order[:OF_NQ301]) / len(new):.2f} (chance "
            f"{OF_NQ301 / len(known):.2f}); precision of the {sum(one.is_listed for one, _ in found)} listed "
            f"{np.mean([is_new for (one, _), is_new in zip(found, order, strict=True) if one.is_listed]):.2f}"
        )


def _with(labels: bool) -> str:  # noqa: FBT001 (one word)
    return f"with{'' if labels else 'out'} labels"


def main(arguments: Sequence[str]) -> int:
    """Print both."""
    known = questions([*human_labelled(EVOUNA)])
    for labels in (False, True):
        for seed in map(int, arguments or ("0", "1", "2")):
            (wrong, incomplete, right), n = _precision(known, seed, labels=labels)
            true = wrong + incomplete
            print(
                f"EVOUNA-NQ, {_with(labels)}, seed {seed}: of the first {n} are planted "
                f"{true / n:.2f} ({wrong:.0f} wrong, {incomplete:.0f} incomplete); labels contradict the reference of "
                f"{right - true:.0f} of the {n - true:.0f} others; either: {right / n:.2f}"
            )
    for line in _nq301():
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
