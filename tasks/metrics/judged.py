"""Base class of metrics scored by a judge: prompt, reply schema, and parsing of replies."""

import inspect
import json
import re
from collections.abc import Mapping
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tasks.metrics.base import Floats, MeanMetric
from tasks.metrics.pairs import Pairs
from tasks.pipeline.hashing import sha256

FENCE = re.compile(r"```(?:json)?[ \t]*\r?\n(.*)\n[ \t]*```", re.DOTALL | re.IGNORECASE)
# The message about a row, which follows the prompt.
LAYOUT = "<data nonce={nonce}>\n{fields}\n</data nonce={nonce}>"


class Verdict(NamedTuple):
    """A judge's score of one row, and its reason."""

    score: float
    reason: str


class JudgeMetric(MeanMetric):
    """A metric whose scores are verdicts of a judge; its corpus score is their mean.

    The prompt is the text file beside its module. Statistics are (score, 1), or zeros without a verdict.
    """

    verdict_name: ClassVar[str]
    verdict_schema: ClassVar[Mapping[str, object]]

    def verdict_score(self, value: object) -> float | None:
        """Return the score of the value under `verdict_name`; None if it is not a verdict."""
        raise NotImplementedError

    @property
    def prompt(self) -> str:
        """The static part of the request."""
        return _prompt(type(self))

    @cached_property
    def prompt_hash(self) -> str:
        """The sha256, in hex, of everything in a request but the row."""
        return sha256(f"{self.prompt}\n{LAYOUT}\n{json.dumps(self.reply_schema)}").hex()

    @property
    def reply_schema(self) -> dict[str, Any]:
        """The JSON schema of a reply."""
        properties = {"nonce": {"type": "string"}, "reason": {"type": "string"}, self.verdict_name: self.verdict_schema}
        return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}

    def parse(self, reply: str, nonce: str, *, fenced: bool = False) -> Verdict:
        """Parse a reply, which must be one JSON object of the schema that repeats the request's nonce.

        Args:
            reply: The text of the reply.
            nonce: The nonce of the request.
            fenced: Accept one Markdown fence around the object.

        Raises:
            ValueError: The reply is invalid; the message says why.
        """
        values = _one_object(reply, fenced=fenced)
        if set(values) != set(self.reply_schema["properties"]):
            raise ValueError("the reply has other fields than asked for")
        if values["nonce"] != nonce:
            raise ValueError("the reply does not carry the nonce")
        score, reason = self.verdict_score(values[self.verdict_name]), values["reason"]
        if score is None or not isinstance(reason, str):
            raise ValueError("the reply has a field of a wrong type")
        return Verdict(score, reason.encode("utf-8", "replace").decode("utf-8"))

    def stats(self, pairs: Pairs) -> Floats:
        raise NotImplementedError(f"{self.name} is judged: its statistics come from scores, `stats_of(scores)`")

    def stats_of(self, scores: Floats) -> Floats:
        """Return the statistics of row scores, shape (n,) to (n, 2); NaN is unmeasured."""
        measured = ~np.isnan(scores)
        return np.stack([np.where(measured, scores, 0.0), measured.astype(np.float64)], axis=-1)


@cache
def _prompt(metric: type[JudgeMetric]) -> str:
    return Path(inspect.getfile(metric)).with_suffix(".txt").read_text(encoding="utf-8")


@lru_cache(256)
def _one_object(reply: str, *, fenced: bool) -> dict[str, object]:
    text = reply.strip()
    if fenced and (match := FENCE.fullmatch(text)):
        text = match[1]
    try:
        values = json.loads(text, object_pairs_hook=_unique_names, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        values = None
    if isinstance(values, dict):
        return values
    raise ValueError("the reply is not one JSON object")


def _unique_names(pairs: list[tuple[str, object]]) -> dict[str, object]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise ValueError("a name twice")
    return values


def _refuse_constant(name: str) -> object:
    raise ValueError(name)
