"""The rows of one measure of two candidates in one block of their pairing."""

from typing import NamedTuple

import numpy as np

from tasks.comparison.measures import Measure, measures
from tasks.comparison.pairing import Pairing, Positions
from tasks.metrics.base import Floats
from tasks.scores.columns import Mask


class ComparedRows(NamedTuple):
    """One measure of two candidates on the shared rows of one block; n of them are measured in both.

    base, head: the measure of each candidate, on all its rows. measured: which of the pairing's shared rows are the n.
    """

    pairing: Pairing
    base: Measure
    head: Measure
    measured: Mask

    @classmethod
    def of(cls, pairing: Pairing, name: str) -> "ComparedRows":
        """The measure of this name, which both candidates have, on the rows where it is measured in both."""
        base, head = measures(pairing.base)[name], measures(pairing.head)[name]
        missing = np.isnan(base.values[pairing.base_rows]) | np.isnan(head.values[pairing.head_rows])
        return cls(pairing, base, head, ~missing)

    @property
    def differences(self) -> Floats:
        """HEAD minus BASE, row by row, shape (n,)."""
        pairing = self.pairing
        base = self.base.values[pairing.base_rows[self.measured]]
        return np.asarray(self.head.values[pairing.head_rows[self.measured]] - base)

    @property
    def clusters(self) -> Positions | None:
        """The cluster of each of the n rows."""
        return None if self.pairing.groups is None else self.pairing.groups[self.measured]

    @property
    def weights(self) -> Floats | None:
        """How often each of the n rows counts; None without weights."""
        return None if self.pairing.weights is None else self.pairing.weights[self.measured]

    @property
    def stats(self) -> tuple[Floats, Floats]:
        """The statistics of both candidates on the n rows, shape (n, k); k is 0 but for corpus scores."""
        n, pairing = int(self.measured.sum()), self.pairing
        sides = (self.base, pairing.base_rows[self.measured]), (self.head, pairing.head_rows[self.measured])
        base, head = (
            np.empty((n, 0)) if one.kind != "corpus" or one.column.stats is None else one.column.stats[rows]
            for one, rows in sides
        )
        return base, head

    def where(self, rows: Mask) -> "ComparedRows":
        """The same measure on some of the pairing's shared rows."""
        return self._replace(measured=self.measured & rows)

    def failed(self) -> tuple[Mask, Mask]:
        """Which of the pairing's shared rows were asked for and could not be measured, in BASE and in HEAD."""
        sides = (self.base, self.pairing.base_rows), (self.head, self.pairing.head_rows)
        base, head = (np.isnan(measure.values[rows]) & ~measure.column.not_asked[rows] for measure, rows in sides)
        return base, head
