"""Counts of the data set, as reports/metrics.json has them; those of parts add up."""

from collections import Counter
from typing import NamedTuple, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from goldmeter.estimates.column_facts import QUESTION, SPLIT_IDS, STALE
from goldmeter.estimates.columns import hashed
from goldmeter.estimates.metrics_report import DatasetCounts
from goldmeter.pipeline.tables import Parts

# What data/load says of its files, where it is not empty.
OF_LOAD = ("left_out", "label_conflicts", "unanswered", "failed_answers", "thoughts", "stale_corrections")
# Bits of the hash of a row's content, and bytes of a piece in which hashes are added up.
HASH_BITS, PIECE = 256, 4


class PartCounts(NamedTuple):
    """Rows of data/load, distinct ids and labels of other answers; content: the sum of the hashes of ids' contents.

    Ids and content of a table that splits ids are not known of a part.
    """

    rows: int = 0
    ids: int = 0
    stale_labels: int = 0
    content: int = 0

    def __add__(self, other: "PartCounts") -> "PartCounts":  # type: ignore[override]  # a sum
        """The counts of both."""
        return PartCounts(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


def part_counts(load: Parts, number: int) -> PartCounts:
    """Count the rows of one part."""
    names = [name for name in ("id", "content", "label_status") if name in load.schema.names]
    rows = load.part(number, names)
    stale = pc.sum(pc.equal(rows["label_status"], STALE)).as_py() if "label_status" in names else None
    counts = PartCounts(rows.num_rows, stale_labels=stale or 0)
    if load.about.get(SPLIT_IDS, True):
        return counts
    distinct = rows.select(["id", "content"]).group_by(["id", "content"]).aggregate([])
    return counts._replace(ids=len(rows["id"].unique()), content=_hash_sum(distinct["content"]))


def _of_all_parts(load: Parts) -> PartCounts:
    """The ids and content of a table that splits ids; 16 bytes an id are in memory."""
    ids, pairs, content = np.empty(0, np.uint64), np.empty(0, np.uint64), 0
    for part in load.read(["id", "content"]):
        ids = np.union1d(ids, hashed(part["id"]))
        both = hashed(pc.binary_join_element_wise(part["content"], part["id"], ""))
        known = len(pairs)
        pairs, first = np.unique(np.concatenate([pairs, both]), return_index=True)
        content += _hash_sum(part["content"].take(pa.array(first[first >= known] - known)))
    return PartCounts(ids=len(ids), content=content)


def dataset_counts(counts: PartCounts, load: Parts, rejected: Parts, embed: Parts) -> DatasetCounts:
    """Counts, and a hash of inputs, references and labels that depends neither on the order of rows nor on parts.

    The hash is the sum of the SHA-256 of each id's content, modulo 2 ** 256.
    """
    if load.about.get(SPLIT_IDS, True):
        counts += _of_all_parts(load)
    reasons: Counter[str] = Counter()
    for part in rejected.read(["reason"]):
        reasons.update(part["reason"].to_pylist())
    entry: DatasetCounts = {
        "rows": counts.rows,
        "ids": counts.ids,
        "rejected": rejected.rows,
        "rejected_reasons": dict(sorted(reasons.items())),
        "truncated_texts": embed.about.get("truncated", 0),
        "hash": f"{counts.content % (1 << HASH_BITS):064x}",
    }
    if counts.stale_labels:
        entry["stale_labels"] = counts.stale_labels
    entry |= cast(DatasetCounts, {name: load.about[name] for name in OF_LOAD if load.about.get(name)})
    if QUESTION in load.schema.names:
        drawn = load.whole([QUESTION, "candidate"]).group_by([QUESTION, "candidate"]).aggregate([([], "count_all")])
        entry["questions"] = len(drawn[QUESTION].unique())
        entry["draws_each"] = [*pc.min_max(drawn["count_all"]).as_py().values()]
    return entry


def _hash_sum(hashes: pa.ChunkedArray) -> int:
    """The sum of hashes, each of 64 hexadecimal digits."""
    pieces = np.frombuffer(bytes.fromhex("".join(hashes.to_pylist())), ">u4").reshape(-1, HASH_BITS // 8 // PIECE)
    total = 0
    for piece in pieces.sum(axis=0, dtype=np.uint64).tolist():
        total = (total << 8 * PIECE) + piece
    return total
