"""An expectation of this project: Great Expectations' conditional ones would take ten times as long."""

from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from goldmeter.pipeline.validation import load_gx

load_gx()  # before the imports below: they would import scipy.stats

from great_expectations.execution_engine import PandasExecutionEngine  # noqa: E402, isort: skip
from great_expectations.expectations.expectation import ColumnPairMapExpectation  # noqa: E402, isort: skip
from great_expectations.expectations.metrics.map_metric_provider import (  # noqa: E402, isort: skip
    ColumnPairMapMetricProvider,
    column_pair_condition_partial,
)


class ExpectResultToFollowFromScore(ColumnPairMapExpectation):  # type: ignore[misc]
    """Expect `pass` where the score (column_A) passes, `fail` where it does not, `unmeasured` where it is null.

    pass_from: the lowest score that passes. pass_above: instead, the highest one that does not. pass_to: instead, the
    highest one that passes, of a score of which less is better.
    """

    pass_from: float | None = None
    pass_to: float | None = None
    pass_above: float | None = None
    ignore_row_if: Literal["neither"] = "neither"
    map_metric = "column_pair_values.result_follows_from_score"
    success_keys = ("ignore_row_if", "mostly", "pass_from", "pass_to", "pass_above")


class _ResultFollowsFromScore(ColumnPairMapMetricProvider):  # type: ignore[misc]
    """Evaluates ExpectResultToFollowFromScore: which rows of the two columns meet it."""

    condition_metric_name = ExpectResultToFollowFromScore.map_metric
    condition_value_keys = ("pass_from", "pass_to", "pass_above")

    @column_pair_condition_partial(engine=PandasExecutionEngine)  # type: ignore[untyped-decorator]
    def _pandas(
        self,
        score: pd.Series,
        result: pd.Series,
        pass_from: float | None,
        pass_to: float | None,
        pass_above: float | None,
        **_: object,
    ) -> NDArray[np.bool_]:
        if pass_to is not None:
            passes = score <= pass_to
        else:
            passes = score >= pass_from if pass_above is None else score > pass_above
        expected = {"pass": passes, "fail": score.notna() & ~passes, "unmeasured": score.isna()}
        follows: NDArray[np.bool_] = np.any([(result == name) & rows for name, rows in expected.items()], axis=0)
        return follows
