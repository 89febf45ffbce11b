"""Fresh rows: those whose questions no earlier run of a schedule has tested."""

import numpy as np

from goldmeter.comparison.measures import Measure
from goldmeter.estimates.columns import Mask
from goldmeter.history.store import Contents


def fresh(measure: Measure, contents: Contents, seen: Contents) -> Mask:
    """Which rows are new: one measured row of each content that is not in `seen`; shape (n,)."""
    new = np.flatnonzero(~np.isnan(measure.values) & ~np.isin(contents, seen))
    _, first = np.unique(contents[new], return_index=True)
    chosen = np.zeros(len(contents), np.bool_)
    chosen[new[first]] = True
    return chosen
