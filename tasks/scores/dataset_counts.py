"""Counts of the data set, as reports/metrics.json has them."""

from collections import Counter
from typing import cast

import pyarrow.compute as pc

from tasks.pipeline.hashing import sha256
from tasks.pipeline.tables import Parts
from tasks.scores.columns import QUESTION
from tasks.scores.label_status import STALE
from tasks.scores.metrics_report import DatasetCounts

# What data/load says of its files, where it is not empty.
OF_LOAD = ("left_out", "label_conflicts", "unanswered")


def dataset_counts(load: Parts, rejected: Parts, embed: Parts) -> DatasetCounts:
    """Counts, and a hash of inputs, references and labels that does not depend on the order of rows."""
    rows = load.whole(["id", "content"])
    contents = rows["content"].unique()
    reasons = Counter(rejected.whole(["reason"])["reason"].to_pylist())
    counts: DatasetCounts = {
        "rows": load.rows,
        "ids": len(rows["id"].unique()),
        "rejected": rejected.rows,
        "rejected_reasons": dict(sorted(reasons.items())),
        "truncated_texts": embed.about.get("truncated", 0),
        "hash": sha256("\n".join(contents.take(pc.sort_indices(contents)).to_pylist())).hex(),
    }
    if stale := _stale_labels(load):
        counts["stale_labels"] = stale
    counts |= cast(DatasetCounts, {name: load.about[name] for name in OF_LOAD if load.about.get(name)})
    if QUESTION in load.schema.names:
        drawn = load.whole([QUESTION, "candidate"]).group_by([QUESTION, "candidate"]).aggregate([([], "count_all")])
        counts["questions"] = len(drawn[QUESTION].unique())
        counts["draws_each"] = [*pc.min_max(drawn["count_all"]).as_py().values()]
    return counts


def _stale_labels(load: Parts) -> int:
    """The number of labels that are of other answers."""
    if "label_status" not in load.schema.names:
        return 0
    return pc.sum(pc.equal(load.whole(["label_status"])["label_status"], STALE)).as_py() or 0
