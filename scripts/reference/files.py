"""Stages, tables and files as Markdown: the stages from dvc.yaml, the columns from the code that writes them."""

from collections.abc import Iterable, Mapping

import pyarrow as pa

from goldmeter.answering.rows import SCHEMA as ANSWERS
from goldmeter.dataset import normalized
from goldmeter.dataset.settings import CandidateMapping
from goldmeter.dataset.settings import Params as Load
from goldmeter.dataset.table import REJECTED, schema
from goldmeter.estimates import embedded_texts, signature
from goldmeter.estimates.column_facts import RESOURCES
from goldmeter.judging import preference, rows, statuses
from goldmeter.judging.settings import default_metric
from goldmeter.metrics.catalogue import names
from goldmeter.pipeline import params
from goldmeter.pipeline.dvc_yaml import DATA, REPORTS, stages
from goldmeter.reference.markdown import code, sentence, table
from goldmeter.reporting import metrics_document

SAYS = {
    "id": "of the row, as `dataset.id` says or a hash",
    "candidate": "the system that answered",
    "input": "the question",
    "response": "the answer; null: there is none",
    "references": "what counts as right",
    "label": "what people said of the answer",
    "label_status": "whether the label file says that the label is of this answer: `confirmed`, or `stale` if it is of "
    "another one (the label is then null)",
    "ratings": "what each rater says of the answer, in the order of the columns; without labels of several raters, "
    "there is no such column",
    "group": "rows that belong together",
    "weight": "how often the row stands for real traffic; without `dataset.weight`, there is no such column",
    "slices": "values of the columns under `dataset.slices`; without any, there is no such column",
    "phrases": "for `semantic_list_contains`",
    "question": "of repeated answers, the id without the number of the answer; without `dataset.draw` and "
    "`dataset.lists: draws`, there is no such column",
    "draw": "number of the answer among the repeated ones, from 1; there is no such column likewise",
    "content": "sha256 of input and references: versions are compared where it is equal",
    "file": "where the record stands",
    "line": "its line, or number",
    "reason": "why it can't be used",
    "response_normalized": "the answer in comparable form",
    "references_normalized": "the references in comparable form",
    "key": "sha256 of model, precision and text",
    "offset": "of the vector in `data/ledger/embed`",
    "tokens": "of the text, uncut; null: only the server knows",
    "truncated": "whether the model's window cuts it",
    "norm": "of the vector, 1",
    "meaning_match": "1, 0, or the share of the draws that said true",
    "meaning_match_result": "pass, fail, unmeasured; a tie of draws fails",
    "meaning_match_probability": "the judge's probability that the verdict is 1: as it states it, else the share of "
    "draws, else the verdict; metrics of true or false have such a column",
    "meaning_match_reason": "what the judge said",
    "similarity_judge": "1 to 5",
    "similarity_judge_result": "pass, fail, unmeasured",
    "offline_match": "the offline judge's probability that the answer is right, whoever judges; null with "
    "`judge.provider: none` if no human labels are mapped",
    "judge_status": ", ".join(statuses.STATUSES),
    "judge_reason": "why there is no verdict",
    "judge_sampled": "whether the row is in the sample",
    "judge_draws": "verdicts there are; of a panel, votes",
    "judge_agree": "whether all verdicts on the row are the same; null: there is one",
    "in_domain": "whether the row is like those on which the offline judge was measured; true if a server judges alone",
    "domain_reason": "why not: another script or language, a long reference or response",
    "candidate_a": "the first of two candidates",
    "candidate_b": "the second one",
    "verdict": "whose answer is better: `a`, `b` or `tie`; verdicts that differ by order are a tie; null: none",
    "preference_status": ", ".join(preference.STATUSES),
    "verdict_a_first": "the verdict with the answer of a shown first",
    "verdict_b_first": "the verdict with the answer of b shown first",
    "reason_a_first": "what the judge said, with a first",
    "reason_b_first": "what the judge said, with b first",
    "problem": "why there is no verdict",
    "judged_by": "with `judge.provider: cascade`, which judge the row went to: "
    f"{signature.OFFLINE_JUDGE}, {signature.LANGUAGE_MODEL}; with another provider, there is no such column",
    "metric": "the score's column",
    "slice": "the slice column; null: all rows",
    "slice_value": "its value",
    "value": "mean, or what the summed statistics give",
    "low": "lower end of the interval",
    "high": "upper end of the interval",
    "rows": "of the candidate, in the slice",
    "n": "rows measured",
    "n_not_asked": "rows not asked, by design",
    "n_failed": "rows asked that did not answer",
    "worst": "the value, had each failed row the lowest score",
    "best": "the value, had each failed row the highest score",
    "lower_bound": "smallest possible score",
    "upper_bound": "largest possible score",
    "failed_share": "of the asked rows",
    "pass_value": "share of rows at or above the threshold",
    "pass_low": "lower end of its interval",
    "pass_high": "upper end of its interval",
    "threshold": "from which score on a row passes",
    "method": "how the interval was made",
    "signature": "how the value was made",
    "rate_signature": "how the pass rate was made",
}
"""What each column holds; a column without a line here is an error."""
FILES = {
    "reports/metrics.json": "every number, for programs: by candidate and metric value, interval, counts, pass rate",
    "reports/summary.json": "the DVC metric: candidate → metric → value",
    "reports/index.html": "the report",
    "reports/plots": "what `dvc plots` shows",
    "reports/validation": "every check of a stage's table: expectation, columns, counts, ids",
    "data/ledger/embed": "the vectors that data/embed uses, in its order",
    "data/ledger/answer": "the replies of models that data/answer uses",
    "data/ledger/judge": "the replies of servers that data/judge and data/preference use",
}


def pipeline() -> str:
    """One row a stage: what it does, reads and writes, and the sections of params.yaml it sees."""
    rows = (
        [code(each.name), sentence(each.description), _tables(each.deps), _tables(each.outs), _codes(each.params)]
        for each in stages().values()
    )
    return table(["stage", "does", "reads", "writes", "sees"], rows)


def tables() -> str:
    """One chapter a table whose columns are known before it is made."""
    schemas = {
        "answer": ANSWERS,
        "load": _with_optional(params.for_stage("load")),
        "load_rejected": REJECTED,
        "normalize": normalized.SCHEMA,
        "embed": embedded_texts.SCHEMA,
        "judge": rows.schema_of(map(default_metric, names("judge"))).append(pa.field(signature.JUDGED_BY, pa.string())),
        "preference": preference.SCHEMA,
        "aggregate": metrics_document.SCHEMA,
    }
    own = {"answer": ASKED, "load": TAKEN}
    return "\n\n".join(f"### data/{name}\n\n{_columns(schema, own.get(name, {}))}" for name, schema in schemas.items())


ASKED = {
    "draw": "number of the answer among those to the question, from 1",
    "problem": "why there is no answer, or that `max_tokens` cut it off",
    "had_thought": "whether a thought before the answer was taken off (dataset.thoughts)",
    "latency": "seconds of the call that was answered; null: it was part of a batch, or there is no answer",
    "input_tokens": "of the message, as the server counts them",
    "output_tokens": "of the reply, as the server counts them",
    "cost": "US dollars of the calls; null: the model has no price",
    "model": "as the server names it",
}
"""What data/answer says of answers."""
TAKEN = {
    "latency": "seconds that the answer took; without a candidate that maps it, there is no such column",
    "tokens": "tokens of the answer; there is no such column likewise",
    "cost": "US dollars that the answer cost; there is no such column likewise",
}
"""What data/load says of answers, if the data do."""


def _with_optional(load: Load) -> pa.Schema:
    """The columns of data/load, those of repeated answers, weights, and what answers took included."""
    taken = CandidateMapping(response="answer", **dict.fromkeys(RESOURCES, "column"))
    every = {"draw": True, "weight": "weight", "candidates": {"name": taken}}
    return schema(load.model_copy(update={"dataset": load.dataset.model_copy(update=every)}))


def reports() -> str:
    """One row a file or folder that stages write beside their tables."""
    written = {_group(out) for stage in stages().values() for out in stage.outs if not _is_table(out)}
    return table(["path", "holds"], [[code(path), sentence(FILES[path])] for path in sorted(written)])


def _columns(schema: pa.Schema, own: Mapping[str, str]) -> str:
    rows = [
        [code(field.name), code(_type(field.type)), sentence(own.get(field.name) or _says(field.name))]
        for field in schema
    ]
    return table(["column", "type", "holds"], rows)


def _says(column: str) -> str:
    return "numbers from elsewhere" if column.startswith("score_") else SAYS[column]


def _type(kind: pa.DataType) -> str:
    """A type of Arrow, without the name of a list's element.

    >>> _type(pa.list_(pa.string()))
    'list<string>'
    """
    return f"list<{kind.value_type}>" if pa.types.is_list(kind) else "struct" if pa.types.is_struct(kind) else str(kind)


def _tables(paths: Iterable[str]) -> str:
    """What is data or report, not code, of the paths; those of one folder of reports once."""
    made = [_group(path) for path in paths if path.startswith((DATA, REPORTS, "$"))]
    return _codes(dict.fromkeys(made))


def _group(path: str) -> str:
    return "reports/validation" if path.startswith("reports/validation/") else path


def _is_table(path: str) -> bool:
    return path.startswith(DATA) and path.count("/") == 1


def _codes(texts: Iterable[str]) -> str:
    return " ".join(map(code, texts))
