"""Scores of a stage that a user adds, as a table that aggregate, report and the comparison read."""

import json
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from tasks.pipeline.tables import describe
from tasks.scores.column_facts import ColumnFacts, statement


def own_scores(
    rows: pa.Table,
    name: str,
    scores: Sequence[float | None],
    *,
    version: int = 1,
    bounds: tuple[float, float] = (0.0, 1.0),
    threshold: float | None = None,
    higher_is_better: bool = True,
    reasons: Sequence[str | None] | None = None,
) -> pa.Table:
    """Return a score table: id, candidate, `<name>`, `<name>_result`, `<name>_details`.

    Args:
        rows: data/normalize or data/load: the scores are of its rows, in its order.
        name: Name of the metric and of its column.
        scores: One score per row; None or NaN is unmeasured.
        version: Of the definition. Scores of different versions are not compared.
        bounds: Smallest and largest possible score.
        threshold: The score from which on a row passes, or up to which if less is better; None: a binary score, which
            passes at its best.
        higher_is_better: Whether more is better.
        reasons: Why each row is unmeasured, or None. `not applicable` is by design, anything else a failure.

    Raises:
        ValueError: Another number of scores than of rows, a score outside of the bounds, or no threshold for a score of
            which less is better.
    """
    values = np.array([np.nan if score is None else score for score in scores], np.float64)
    if len(values) != rows.num_rows:
        raise ValueError(f"{name}: {len(values)} scores, but {rows.num_rows} rows")
    if len(outside := np.flatnonzero((values < bounds[0]) | (values > bounds[1]))):
        row, (low, high) = int(outside[0]), bounds
        raise ValueError(f"{name}: id {rows['id'][row]}: {values[row]:g} is outside the bounds, {low:g} to {high:g}")
    if threshold is None and not higher_is_better:
        raise ValueError(f"{name}: less of it is better, so state the threshold up to which a row passes")
    signature = f"{name}|better:{'higher' if higher_is_better else 'lower'}|v:{version}"
    rule = "pass:1" if threshold is None else f"thr:{threshold!r}"
    facts = ColumnFacts(
        metric=name,
        family="own",
        signature=signature,
        bounds=bounds,
        higher_is_better=higher_is_better,
        threshold=threshold,
        rate_signature=f"{signature}|{rule}",
    )
    passed = np.where(np.isnan(values), "unmeasured", np.where(facts.passes(values), "pass", "fail"))
    details = [
        None if reason is None else json.dumps({"unmeasured": reason}) for reason in reasons or [None] * len(values)
    ]
    columns = {
        "id": rows["id"],
        "candidate": rows["candidate"],
        name: pa.array(values, pa.float64(), from_pandas=True),
        f"{name}_result": pa.array(passed.tolist(), pa.string()),
        f"{name}_details": pa.array(details, pa.string()),
    }
    return describe(pa.table(columns), statement({name: facts}))
