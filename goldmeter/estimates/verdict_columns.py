"""What data/judge states beside the verdicts: the votes of a panel, and verdicts on rows asked about more than once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from goldmeter.estimates.column_facts import VALUE
from goldmeter.metrics.base import Floats
from goldmeter.statistics.majority import majority

# Keys of the metadata of data/judge: the names of the jurors in the order of votes; metric → what its votes mean.
JURORS, VOTES = "jurors", "votes"


def votes_column(metric: str) -> str:
    """Return the column of data/judge with the vote of each juror, null where it has none."""
    return f"{metric}_votes"


@dataclass(frozen=True)
class Votes:
    """What the votes of a panel on one metric mean.

    Attributes:
        columns: Score column → the score of each vote by its number, for votes that are labels; None where the number
            itself is the score.
        is_majority: Whether the first column is the majority of its votes, else the mean. Further columns are means.
        is_correctness: Whether it says, as a human label does, if an answer is right.
    """

    columns: Mapping[str, Sequence[float] | None]
    is_majority: bool
    is_correctness: bool

    @classmethod
    def from_json(cls, stated: Mapping[str, Any]) -> Self:
        """The meaning that `to_json` wrote."""
        return cls(**stated)

    def to_json(self) -> dict[str, Any]:
        """The meaning as the table's metadata has it."""
        return {**vars(self), "columns": dict(self.columns)}

    def scored(self, votes: Floats, column: str) -> Floats:
        """Return the votes as scores of a column, shape (n, k); NaN without a vote."""
        scores = self.columns[column]
        if scores is None:
            return votes
        known = ~np.isnan(votes)
        return np.where(known, np.asarray(scores)[np.where(known, votes, 0.0).astype(np.intp)], np.nan)

    def scores(self, votes: Floats) -> Floats:
        """Return the scores of rows by their votes, shape (n, columns); NaN without any vote."""
        found = [_mean(self.scored(votes, column)) for column in self.columns]
        if self.is_majority:
            found[0] = majority(self.scored(votes, next(iter(self.columns))))
        return np.column_stack(found)


def stated_votes(facts: Mapping[str, Any]) -> dict[str, Votes]:
    """Metric → what its votes mean, by the metadata of data/judge; empty without a panel."""
    return {name: Votes.from_json(one) for name, one in facts.get(VOTES, {}).items()}


def vote_table(column: Any, jurors: int) -> Floats:
    """Return a column of votes as an array, shape (n, jurors), NaN without a vote."""
    lists = column.combine_chunks()
    flat = lists.flatten().to_numpy(zero_copy_only=False).astype(np.float64)
    votes = np.full((len(lists), jurors), np.nan)
    votes[lists.is_valid().to_numpy(zero_copy_only=False)] = flat.reshape(-1, jurors)
    return votes


def _mean(votes: Floats) -> Floats:
    known = ~np.isnan(votes)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean: Floats = np.where(known, votes, 0.0).sum(axis=1) / known.sum(axis=1)
    return mean


# Key of the metadata of data/judge: metric → what its repeated verdicts are.
REPEATED = "repeated"


def verdicts_column(metric: str) -> str:
    """Return the column of data/judge with all verdicts of a metric on each row."""
    return f"{metric}_verdicts"


def facts(
    metric: str, column: str, bounds: tuple[float, float] | None, draws: int, *, has_rate: bool, is_binary: bool
) -> dict[str, Any]:
    """Return what data/judge states of the repeated verdicts of a metric, which its column `<metric>_verdicts` holds.

    Args:
        metric: Its name.
        column: Its score column.
        bounds: Of its verdicts; None if they are names.
        draws: Verdicts that make a score.
        has_rate: Whether rows of the column pass or fail.
        is_binary: Whether a verdict is true or false.
    """
    # A single verdict that is true or false passes if it is true: the rate is the mean of the verdicts.
    is_mean = not has_rate or (draws == 1 and is_binary)
    measures = [column] * is_mean + [f"{column}{VALUE}"] * has_rate
    stated = {"column": column, "bounds": bounds, "is_binary": is_binary, "draws": draws, "measures": measures}
    return {metric: stated}
