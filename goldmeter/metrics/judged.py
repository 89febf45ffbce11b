"""Base class of metrics scored by a judge: prompt, reply schema, and parsing of replies."""

import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from goldmeter.metrics.base import Floats, MeanMetric
from goldmeter.metrics.judge_replies import verdict_in
from goldmeter.metrics.pairs import Pairs
from goldmeter.metrics.prompt_template import LAYOUT, encode_fields
from goldmeter.metrics.verdict_types import Criterion, Verdict, VerdictType
from goldmeter.pipeline.hashing import sha256

DETAILS, REASON = "details", "reason"
# Characters of the texts in a reply: a nonce has 10, and a reason is one short sentence.
LONGEST, BOUND = {"nonce": 32, "reason": 600}, "maxLength"
# Tokens of a reply with the longest reason in any script, and of {"criterion": 12, "met": false} with white space.
REPLY_TOKENS, CRITERION_TOKENS = 1024, 32
Accept = Callable[[Sequence[str]], list[str]]


class Needs(NamedTuple):
    """Columns of data/normalize without which a row is not asked about; None: the request does not hold one.

    given: columns that must not be null.
    """

    response: str | None
    references: str | None
    given: tuple[str, ...] = ()


class JudgeMetric(MeanMetric):
    """A metric whose scores are verdicts of a judge; its corpus score is their mean.

    The instructions are the text file beside its module. Statistics are the scores and 1, or zeros without a verdict.

    is_correctness: whether it says, as a human label does, if an answer is right. has_offline: whether the offline
    judge gives it, too. knows_canaries: whether its verdicts on canaries are known. explanation: the kind of the column
    `<name>_<explanation>`: `reason` holds what the judge said; `details` also why there is no score, which
    `judge_status` says of the other metrics; None for no such column. accepted_problems: see `Question`.
    """

    verdict_type: ClassVar[VerdictType]
    is_correctness: ClassVar[bool] = False
    has_offline: ClassVar[bool] = False
    knows_canaries: ClassVar[bool] = False
    explanation: ClassVar[str | None] = REASON
    accepted_problems: ClassVar[frozenset[str]] = frozenset()

    @property
    def verdict(self) -> VerdictType:
        """The type of its verdicts."""
        return self.verdict_type

    @cached_property
    def criteria(self) -> tuple[Criterion, ...]:
        """The criteria of the row that it is about; empty where verdicts are not on criteria, or no row is known."""
        return ()

    def with_criteria(self, criteria: Sequence[Criterion]) -> Self:  # noqa: ARG002 (only rubrics have criteria)
        """Return the metric as it is about a row with these criteria; name, prompt and signature are the same."""
        return self

    def of_row(self, row: Mapping[str, Any]) -> Self:
        """Return the metric as it is about this row of data/normalize."""
        return self.with_criteria([Criterion(**one) for one in row.get("criteria") or ()])

    @property
    def met_column(self) -> str | None:
        """The column of data/judge with the share of draws that call each criterion met; None without criteria."""
        return None

    @property
    def probability_field(self) -> str | None:
        """The name of a verdict of true or false in a reply; None for other verdicts."""
        return self.verdict.field if self.verdict.has_probability else None

    @property
    def statements(self) -> dict[str, str]:
        """Name → what a decision model gives the probability of; empty for verdicts that it can't give.

        The last paragraph of the instructions says how a chat model replies.
        """
        rules = self.instructions.rpartition("\n\n")[0]
        return {name: f"{rules}\n\n{text}" for name, text in self.verdict.statements.items()}

    def decided(self, probabilities: Mapping[str, float]) -> Verdict:
        """Return the verdict by the probability of each of `statements`."""
        return self.verdict.decided(probabilities)

    @property
    def probability_column(self) -> str | None:
        """The column of data/judge with the probability that the verdict is true; None for other verdicts."""
        return probability_column(self.name) if self.verdict.has_probability else None

    @property
    def family(self) -> str:
        return "judge"

    @property
    def bounds(self) -> tuple[float, float]:
        return self.verdict.bounds

    @property
    def instructions(self) -> str:
        """The static part of the request."""
        return _text_beside(type(self))

    @cached_property
    def prompt_hash(self) -> str:
        """The sha256, in hex, of everything in a request but the row."""
        return sha256(f"{self.instructions}\n{LAYOUT}\n{json.dumps(self.reply_schema)}").hex()

    @property
    def reply_schema(self) -> dict[str, Any]:
        """The JSON schema of a reply."""
        verdict = {self.verdict.field: self.verdict.schema}
        properties = {"nonce": {"type": "string"}, "reason": {"type": "string"}, **verdict}
        return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}

    @property
    def sent_schema(self) -> dict[str, Any]:
        """The schema with a longest length of each text; no part of `prompt_hash`, because it changes no verdict."""
        schema = self.reply_schema
        bounds = {name: {BOUND: most} for name, most in LONGEST.items()}
        return schema | {"properties": {name: one | bounds.get(name, {}) for name, one in schema["properties"].items()}}

    @property
    def reply_tokens(self) -> int:
        """The most tokens of a reply, without thoughts."""
        return REPLY_TOKENS + CRITERION_TOKENS * len(self.criteria)

    def mapped(self, variables: Mapping[str, str]) -> list[str]:
        """Return the columns that `judge.variables` maps to what its request reads."""
        return [*variables.values()]

    def needs(self, variables: Mapping[str, str]) -> Needs:
        """Return the columns that a request needs; variables: variable of the prompt → column of data/normalize."""
        return Needs(variables["output"], variables["ground_truth"])

    def fields(self, row: Mapping[str, Any], variables: Mapping[str, str], accept: Accept = list) -> str:
        """Return what a request says of a row of data/normalize.

        Args:
            row: The cells of the row by column.
            variables: Variable of the prompt → column.
            accept: Returns all texts that count as right, given the references.

        Raises:
            ValueError: The request can't be made from this row; the message says why.
        """
        values = {name: row[column] for name, column in variables.items()}
        return encode_fields(values | {"ground_truth": accept(texts_of(values["ground_truth"]))})

    def message(self, fields: str, nonce: str) -> str:
        """Return the part of a request that differs from row to row."""
        return LAYOUT.format(nonce=nonce, fields=fields)

    def parse(self, reply: str, nonce: str) -> Verdict:
        """Parse a reply, which must state one verdict of the schema that repeats the request's nonce.

        Raises:
            ValueError: The reply is invalid; the message says why.
        """
        return verdict_in(reply, nonce, self.verdict)

    def stats(self, pairs: Pairs) -> Floats:
        raise NotImplementedError(f"{self.name} is judged: its statistics come from scores, `stats_of(scores)`")

    def stats_of(self, scores: Floats) -> Floats:
        """Return the statistics of row scores, shape (n,) to (n, 2); NaN is unmeasured."""
        measured = ~np.isnan(scores)
        return np.stack([np.where(measured, scores, 0.0), measured.astype(np.float64)], axis=-1)

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column, *(part_column(self.name, part) for part in self.verdict.parts))

    def is_higher_better(self, column: str) -> bool:
        return column not in [part_column(self.name, part) for part in self.verdict.bad_parts]

    @property
    def table_columns(self) -> tuple[str, ...]:
        """All columns that it has in data/judge: its scores, the result, and what explains them."""
        explained = (f"{self.name}_{self.explanation}",) if self.explanation else ()
        more = filter(None, (self.probability_column, self.met_column))
        return (*self.columns, f"{self.column}_result", *more, *explained)

    @property
    def pass_above(self) -> float | None:
        return self.verdict.pass_above

    @property
    def pass_rule(self) -> str:
        return super().pass_rule if self.pass_above is None else f"pass:>{self.pass_above:g}"

    def result(self, scores: Floats) -> NDArray[np.str_]:
        if self.pass_above is None:
            return super().result(scores)
        return np.where(np.isnan(scores), "unmeasured", np.where(scores > self.pass_above, "pass", "fail"))


def probability_column(name: str) -> str:
    """Return the column of data/judge with the probability that a metric's verdict is true."""
    return f"{name}_probability"


def part_column(name: str, part: str) -> str:
    """Return the column of a part of a verdict, such as the share of a label.

    >>> part_column("tone", "very rude")
    'tone_very_rude'
    """
    word = re.sub(r"\W+", "_", part)
    return f"{name}_{word}"


def texts_of(cell: Any) -> list[str]:
    """Return the texts of a cell, a text or a list of texts, that are not blank."""
    return [text for text in (cell if isinstance(cell, list) else [cell]) if text and text.strip()]


@cache
def _text_beside(metric: type[JudgeMetric]) -> str:
    return Path(inspect.getfile(metric)).with_suffix(".txt").read_text(encoding="utf-8")
