"""The labelled answers of recorded runs, beside the history, one row each; and how comparisons use them."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from goldmeter.comparison.blocks import LabelledAnswers, left_in_place, of_load
from goldmeter.comparison.of_versions import CompareOptions
from goldmeter.console.format import counted
from goldmeter.console.terminal import plain
from goldmeter.errors import GoldmeterError
from goldmeter.estimates.columns import Mask, hashed
from goldmeter.estimates.weighting import Mixing
from goldmeter.history import store
from goldmeter.pipeline import params
from goldmeter.pipeline.tables import Parts
from goldmeter.reporting.settings import Report

if TYPE_CHECKING:
    from rich.console import Console


# row: hash of candidate, id and content. answer: hash of row and response. Later runs stand further down.
SCHEMA = pa.schema(
    [
        pa.field("row", pa.uint64(), nullable=False),
        pa.field("answer", pa.uint64(), nullable=False),
        pa.field("label", pa.bool_(), nullable=False),
    ],
    metadata={"goldmeter": '{"schema": 1}'},
)


def path() -> Path:
    """The file, beside the history."""
    return store.path().with_name("history-labels.parquet")


def stale(load: Parts) -> Mask:
    """Return which rows of data/load have a label that recorded runs had for another answer; shape (n,).

    Raises:
        LedgerError: The file is damaged.
    """
    earlier = _read()
    return _stale(_answers(load), earlier) if len(earlier) else np.zeros(load.rows, np.bool_)


def warn(out: "Console") -> None:
    """Print a warning if labels of the run in the working folder are of other answers."""
    load = Parts(Path("data/load"))
    try:
        count = int(stale(load).sum()) if load.folder.is_dir() else 0
    except GoldmeterError as error:  # the run itself is not affected
        out.print(plain(f"! {error}"), style="yellow")
        return
    if count:
        labels = counted(count, "label belongs", "labels belong")
        text = f"! {labels} to another answer, by recorded runs (stale): comparisons do not count them, this run does"
        out.print(plain(text), style="yellow")


def add(load: Parts) -> None:
    """Add the labelled answers of data/load, except those whose label is of another answer.

    Raises:
        LedgerError: The file is damaged, or can't be written.
    """
    with store.exclusive(path().with_suffix(".lock")):
        earlier, answers = _read(), _answers(load)
        new = ~np.isnan(answers.labels.label) & ~_stale(answers, earlier)
        if not new.any():
            return
        columns = [answers.row[new], answers.labels.response[new], answers.labels.label[new].astype(np.bool_)]
        replaced = pc.is_in(earlier["answer"], pa.array(columns[1]))
        store.replace_whole(path(), pa.concat_tables([earlier.filter(pc.invert(replaced)), pa.table(columns, SCHEMA)]))


class _Answers(NamedTuple):
    """The rows of data/load; n rows. labels.response: hash of row and response. Every array has shape (n,)."""

    row: NDArray[np.uint64]
    candidate: NDArray[np.uint64]
    labels: LabelledAnswers


def _answers(load: Parts) -> _Answers:
    keys = load.whole(["candidate", "id", "content"])
    labels = of_load(load)
    row = hashed(pc.binary_join_element_wise(*keys.columns, "\0"))
    answer = pd.util.hash_pandas_object(pd.DataFrame({"row": row, "response": labels.response}), index=False)
    return _Answers(row, hashed(keys["candidate"]), labels._replace(response=answer.to_numpy().astype(np.uint64)))


def _stale(answers: _Answers, earlier: pa.Table) -> Mask:
    """Which labels were left in place although no recorded run has this answer with a label; shape (n,)."""
    last = pd.Series(earlier["label"].to_numpy().astype(np.float64), earlier["row"].to_numpy())
    label = last[~last.index.duplicated(keep="last")].reindex(answers.row).to_numpy()
    labelled = np.isin(answers.labels.response, earlier["answer"].to_numpy())
    response = np.where(labelled, answers.labels.response, ~answers.labels.response)  # ~: any other answer
    before = LabelledAnswers(response, label, np.zeros(len(label), np.bool_))
    return left_in_place(before, answers.labels, answers.candidate)


def _read() -> pa.Table:
    return store.read_as(SCHEMA, path(), "a list of labelled answers")


def compare_options(renamed: Mapping[str, str] | None = None, *, rescore: bool = False) -> CompareOptions:
    """Return the options of a comparison.

    Args:
        renamed: Candidate of BASE → its name in HEAD; "" if it was dropped.
        rescore: Score BASE again by the settings of HEAD.

    Raises:
        ParamsError: Section `report` or `aggregate` of params.yaml is wrong.
    """
    content = params.raw()
    rows = params.section(Report, content, "report").rows_to_look_at
    mix = params.section(Mixing, content, "aggregate").chosen_mix
    return CompareOptions(renamed or {}, rescore, rows, stale, mix)
