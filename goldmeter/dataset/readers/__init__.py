"""Logs of other tools as flat records, one module for each tool.

A reader yields records with these columns: `id`, `input`, `references` (a list), `response` (null for an error or a
missing sample), `candidate` (the model or run), `error` (text or null), and where the log has them `draw`, `group`,
`contexts`, `latency` (seconds), `tokens`, `cost` (US dollars), `score_<name>`, `verdict_<name>` (a word of a tool or a
model), `human_<name>` or `human_<name> by <rater>` (what people said; only if the log says so) and `metadata.<name>`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from goldmeter.dataset.readers import (
    alpaca_eval,
    argilla,
    deepeval,
    every_eval_ever,
    helm,
    inspect,
    label_studio,
    langfuse,
    langsmith,
    lighteval,
    lm_eval,
    mlflow,
    mt_bench,
    oaieval,
    openai_batch,
    openai_evals,
    opik,
    otel,
    phoenix,
    promptfoo,
    ragas,
    squad,
    summeval,
    tables,
    wmt_mqm,
)
from goldmeter.dataset.readers.log import Head, head_of, lacks_question, missing, records
from goldmeter.dataset.record import Record, Value, file_name
from goldmeter.dataset.tasks import Task
from goldmeter.errors import DataError, did_you_mean

# Files of a folder that `detect` opens.
FILES_OPENED = 100


class Reader(NamedTuple):
    """What reads the logs of one tool.

    Attributes:
        recognises: Tells by the head of a file whether it is such a log.
        read: Yields the records of the logs; files that are none of the tool's logs are refused or passed over.
        lower_is_better: Returns the scores of which the logs say that less is better.
        is_table: The logs can be read as they are, too.
        task: What all logs of the tool ask for; None if that differs.
    """

    recognises: Callable[[Head], bool]
    read: Callable[[Sequence[Path]], Iterator[Record]]
    lower_is_better: Callable[[Sequence[Path]], frozenset[str]] = lambda _: frozenset()
    is_table: bool = False
    task: Task | None = None


def detect(path: str | Path) -> str | None:
    """Return the tool whose log a file is, by its content, or of a folder's files the first that is one; or None."""
    path = Path(path)
    for file in _files(path) if path.is_dir() else [path]:
        head = head_of(file)
        for tool, reader in READERS.items():
            if head is not None and reader.recognises(head):
                return tool
    return None


def read(files: Sequence[Path], tool: str) -> Iterator[Record]:
    """Yield the records of a tool's logs; missing samples whose question only another log knows, at the end.

    Raises:
        DataError: A log can't be read, is of an unknown version, or holds less than it says.
    """
    if tool not in READERS:
        raise DataError(f"dataset.format: {tool!r} is not known{did_you_mean(tool, READERS)}; {', '.join(READERS)}")
    empty = True
    try:
        for record in _with_questions(READERS[tool].read, files):
            empty = False
            yield record
    except OSError as error:
        raise DataError(f"{file_name(files[0])}: can't be read: {error.strerror or error}") from None
    except RecursionError:
        raise DataError(f"{file_name(files[0])}: a value in one of the files is nested too deep") from None
    if empty:
        raise DataError(f"{file_name(files[0])}: no record in it (dataset.format: {tool})")


def with_draws(records: Iterable[Record]) -> Iterator[Record]:
    """Give draw 1 to the records without a draw, of logs in which others have one."""
    for record in records:
        yield record._replace(values={**record.values, "draw": record.values.get("draw", "1")})


def _with_questions(read: Callable[[Sequence[Path]], Iterator[Record]], files: Sequence[Path]) -> Iterator[Record]:
    """Yield records; a missing sample that is in another log too has its question from there."""
    lacking: set[Value] = set()
    for record in read(files):
        if len(files) > 1 and lacks_question(record.values):
            lacking.add(record.values["id"])
        else:
            yield record
    asked: dict[Value, Mapping[str, Value]] = {}
    for record in read(files) if lacking else ():
        if record.values["id"] in lacking and not lacks_question(record.values):
            asked.setdefault(record.values["id"], record.values)
    for record in read(files) if lacking else ():
        if lacks_question(record.values):
            yield record._replace(values=missing(record.values, asked.get(record.values["id"])))


def _files(folder: Path) -> list[Path]:
    files = sorted(file for file in folder.rglob("*") if file.is_file() and file.name[0] != ".")
    return files[:FILES_OPENED]


READERS: Mapping[str, Reader] = {
    "lm_eval": Reader(lm_eval.recognises, lm_eval.read, lm_eval.lower_is_better),
    "inspect": Reader(inspect.recognises, partial(records, rows=inspect.rows)),
    "promptfoo": Reader(promptfoo.recognises, partial(records, rows=promptfoo.rows)),
    "deepeval": Reader(deepeval.recognises, partial(records, rows=deepeval.rows)),
    "openai_batch": Reader(openai_batch.recognises, openai_batch.read),
    "oaieval": Reader(oaieval.recognises, oaieval.read),
    "openai_evals": Reader(openai_evals.recognises, openai_evals.read),
    "mlflow": Reader(mlflow.recognises, partial(tables.records, rows=mlflow.rows), is_table=True),
    "langsmith": Reader(langsmith.recognises, partial(tables.records, rows=langsmith.rows), is_table=True),
    "helm": Reader(helm.recognises, helm.read),
    "ragas": Reader(ragas.recognises, partial(tables.records, rows=ragas.rows), is_table=True),
    "phoenix": Reader(phoenix.recognises, partial(tables.records, rows=phoenix.rows), is_table=True),
    "lighteval": Reader(lighteval.recognises, lighteval.read),
    "label_studio": Reader(label_studio.recognises, partial(tables.records, rows=label_studio.rows), is_table=True),
    "argilla": Reader(argilla.recognises, partial(tables.records, rows=argilla.rows), is_table=True),
    "wmt_mqm": Reader(wmt_mqm.recognises, wmt_mqm.read, is_table=True, task="translation"),
    "summeval": Reader(summeval.recognises, partial(records, rows=summeval.rows), is_table=True, task="summary"),
    "alpaca_eval": Reader(alpaca_eval.recognises, alpaca_eval.read, is_table=True),
    "mt_bench": Reader(mt_bench.recognises, mt_bench.read),
    "otel": Reader(otel.recognises, otel.read),
    "every_eval_ever": Reader(every_eval_ever.recognises, every_eval_ever.read),
    "squad": Reader(squad.recognises, squad.read),
    "opik": Reader(opik.recognises, partial(records, rows=opik.rows)),
    "langfuse": Reader(langfuse.recognises, langfuse.read),
}
