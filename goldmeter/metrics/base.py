"""Base classes of metrics: options, additive statistics per row, and a score of (summed) statistics."""

import json
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, field_validator, model_validator

from goldmeter.metrics.pairs import Pairs, Tokens

Floats = NDArray[np.float64]
NO_RESPONSE, EMPTY_RESPONSE = "no response", "empty response"
NO_REFERENCE, NO_PHRASES = "no reference", "no phrases"
NOT_SAMPLED, FILTERED, DISABLED = "not sampled", "filtered", "disabled"
# The judge stopped before the row: what it decides was decided (judge.stop).
NOT_NEEDED = "not needed"
NOT_APPLICABLE = "not applicable"
# Reasons for a missing score that are by design; every other reason is a failure.
NOT_ASKED = frozenset({NO_REFERENCE, NO_PHRASES, NOT_SAMPLED, NOT_NEEDED, FILTERED, DISABLED, NOT_APPLICABLE})
# In params.yaml, a threshold that the aggregate stage fits to human labels, and that of a metric without a pass rate.
TO_FIT: Final = "learnt"
NO_PASS_RATE: Final = "none"  # noqa: S105 (no password)
# None: of a binary metric.
DefaultThreshold = float | Literal["none"] | None


class Metric(BaseModel):
    """A configured metric: its fields are its options, the name of its file is its name, unless params.yaml names it.

    metric: the metric that this is, where its key in params.yaml is a name of the user's.

    A row's score is `score(stats)`, the corpus score `score(stats.sum(0))`, a jackknife replicate
    `score(total - stats)`. A row that can't be measured has statistics of zeros, and `score(zeros)` is NaN.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    version: ClassVar[int] = 1
    profiles: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    default_threshold: ClassVar[DefaultThreshold] = 0.5
    higher_is_better: ClassVar[bool] = True
    # False: neither more nor less of a score is better, unless it passes a threshold.
    has_direction: ClassVar[bool] = True

    metric: str | None = Field(None, exclude_if=lambda metric: metric is None)
    profile: str = "default"
    threshold: float | Literal["learnt", "none"] | None = None

    _name: str | None = PrivateAttr(None)

    def model_post_init(self, context: Any) -> None:
        """Take a name of the user's from the context of the validation."""
        self._name = (context or {}).get("name")

    @model_validator(mode="before")
    @classmethod
    def _fill_from_profile(cls, options: Any) -> Any:
        options = dict(options or {})
        name = options.get("profile", "default")
        if name != "default" and name not in cls.profiles:
            raise ValueError(f"unknown profile {name!r}; allowed: {', '.join(['default', *cls.profiles])}")
        set_options = {key: value for key, value in options.items() if value is not None}
        filled = {**cls.profiles.get(name, {}), **set_options}
        return {"threshold": cls.threshold_for(filled), **filled}

    @field_validator("threshold", mode="before")
    @classmethod
    def _check_threshold_type(cls, threshold: Any) -> Any:
        number = isinstance(threshold, int | float) and not isinstance(threshold, bool)
        if number or threshold is None or threshold in (TO_FIT, NO_PASS_RATE):
            return threshold
        raise ValueError(f"expected a number, or {TO_FIT}, or {NO_PASS_RATE}")

    @model_validator(mode="after")
    def _check_threshold(self) -> Self:
        if self.default_threshold is None and self.threshold is not None:
            raise ValueError(f"{self.name} is binary (pass means 1.0) and takes no threshold")
        low, high = self.bounds
        if isinstance(self.threshold, float) and not low <= self.threshold <= high:
            raise ValueError(f"threshold {self.threshold:g} is outside the bounds of {self.name}, {low:g} to {high:g}")
        return self

    @classmethod
    def threshold_for(cls, options: Mapping[str, Any]) -> DefaultThreshold:  # noqa: ARG003 (most have one threshold)
        """Return the threshold that applies if `options` set none."""
        return cls.default_threshold

    @property
    def name(self) -> str:
        """The key in params.yaml."""
        return self._name or type(self).__module__.rpartition(".")[2]

    @property
    def family(self) -> str:
        """The name of the folder of its module."""
        return type(self).__module__.split(".")[-2]

    @property
    def column(self) -> str:
        """The score column that passes or fails."""
        return self.name

    @property
    def columns(self) -> tuple[str, ...]:
        """All score columns."""
        return (self.column,)

    def is_higher_better(self, column: str) -> bool:  # noqa: ARG002 (most metrics have one direction)
        """Return whether more of a column's score is better."""
        return self.higher_is_better

    @property
    def has_pass_rate(self) -> bool:
        """Whether rows pass or fail."""
        return self.threshold != NO_PASS_RATE

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest possible score of the column that passes or fails; infinite ones are no bounds."""
        return (0.0, 1.0)

    def bounds_of(self, column: str) -> tuple[float, float]:  # noqa: ARG002 (most metrics have one range)
        """Return the smallest and the largest possible score of a column."""
        return self.bounds

    @property
    def reads_normalized(self) -> bool:
        """Whether it scores the texts of the normalize stage; that stage's options are then part of the signature."""
        return False

    @property
    def needs_references(self) -> bool:
        """Whether a row without references can't be measured."""
        return True

    @property
    def corpus_is_mean(self) -> bool:
        """Whether the corpus score is the mean of the row scores."""
        return True

    def applies(self, pairs: Pairs) -> NDArray[np.bool_]:
        """Return which rows the metric can say something about, shape (n,); by default all.

        The other rows are unmeasured by design (not asked), whatever the response: they are no failure, and no case for
        `stats`. It may depend on inputs, references and phrases, but not on the response: systems are compared on the
        rows that are measured in both.
        """
        return np.ones(len(pairs), np.bool_)

    def stats(self, pairs: Pairs) -> Floats:
        """Return additive statistics of each row, shape (n, k), float64."""
        raise NotImplementedError

    def row_stats(self, pairs: Pairs) -> Floats:
        """Return `stats`, zeros for rows that the metric does not apply to."""
        stats, applies = self.stats(pairs), self.applies(pairs)
        return stats if applies.all() else np.where(applies[:, None], stats, 0.0)

    def row_details(self, pairs: Pairs) -> list[str | None]:
        """Return `details`, with the reason for rows that the metric does not apply to."""
        details, reason = self.details(pairs), json.dumps({"unmeasured": NOT_APPLICABLE})
        return [text if applies else reason for text, applies in zip(details, self.applies(pairs), strict=True)]

    def score(self, stats: Floats) -> Floats:
        """Return the scores of (summed) statistics, shape (..., k) to (...); NaN where nothing was measured."""
        return self.column_scores(stats)[self.column]

    def column_scores(self, stats: Floats) -> dict[str, Floats]:
        """Return the scores of each column, every array of shape (...)."""
        raise NotImplementedError

    def details(self, pairs: Pairs) -> list[str | None]:
        """Explain each row's score as JSON, or None where nothing needs explaining; length n."""
        cases = (
            (pairs.missing, {"unmeasured": NO_RESPONSE}),
            (pairs.unreferenced & self.needs_references, {"unmeasured": NO_REFERENCE}),
            (pairs.blank, {"note": EMPTY_RESPONSE}),
        )
        notes: list[str | None] = [None] * len(pairs)
        for rows, reason in reversed(cases):
            for row in np.flatnonzero(rows):
                notes[row] = json.dumps(reason)
        return notes

    def texts(self, pairs: Pairs) -> list[str]:  # noqa: ARG002 (most metrics need no vectors)
        """Return the texts whose embeddings `stats` needs."""
        return []

    def signature_fields(self) -> dict[str, object]:
        """Return what defines the number: by default all options that not every metric has; None is left out."""
        return self.model_dump(exclude={*Metric.model_fields})

    def signature(self, **run_fields: object) -> str:
        """Return one line that states how the number was computed; only numbers with equal signatures are compared.

        Args:
            **run_fields: Fields that are known only at run time, such as the hash of the embedding model's weights.
        """
        fields = {"metric": self.metric, **self.signature_fields(), **run_fields, "v": self.version}
        stated = (f"{key}:{_signature_value(value)}" for key, value in fields.items() if value is not None)
        return "|".join([self.name, *stated])

    def rate_signature(self, **run_fields: object) -> str:
        """Return the signature of the pass rate."""
        return f"{self.signature(**run_fields)}|{self.pass_rule}"

    @property
    def pass_above(self) -> float | None:
        """The score above which a row passes; None: it passes from the threshold on, or at the best score."""
        return None

    @property
    def pass_rule(self) -> str:
        """Which scores pass, in the form used in the signature of the pass rate."""
        return "pass:1" if self.threshold is None else f"thr:{_signature_value(self.threshold)}"

    def result(self, scores: Floats) -> NDArray[np.str_]:
        """Return `pass`, `fail` or `unmeasured` for each score, shape (n,); None while the threshold is not fitted."""
        if isinstance(self.threshold, str):
            return np.full(np.shape(scores), None)
        limit = self.bounds[int(self.higher_is_better)] if self.threshold is None else self.threshold
        passes = scores >= limit if self.higher_is_better else scores <= limit
        return np.where(np.isnan(scores), "unmeasured", np.where(passes, "pass", "fail"))


class MeanMetric(Metric):
    """A metric scored pair by pair: each row takes its best reference, and the corpus score is the mean.

    Its statistics are one sum per column and the count of rows.
    """

    def pair_scores(self, pairs: Pairs) -> Floats:
        """Score each response with each of its references; shape (m, columns).

        The response to reference j is `pairs.response_texts[pairs.rows[j]]`. It may be missing or blank; the score of
        such a pair is not used.
        """
        raise NotImplementedError

    def stats(self, pairs: Pairs) -> Floats:
        scores = self.pair_scores(pairs)
        best = best_reference(scores[:, self.columns.index(self.column)], pairs)
        rows = np.full((len(pairs), scores.shape[1] + 1), np.nan)
        rows[best >= 0, :-1] = scores[best[best >= 0]]
        rows[:, -1] = 1.0
        rows[pairs.blank & (best >= 0), :-1] = self.bounds[0]
        rows[pairs.missing | np.isnan(rows).any(axis=1)] = 0.0
        return rows

    def column_scores(self, stats: Floats) -> dict[str, Floats]:
        with np.errstate(invalid="ignore", divide="ignore"):
            means = stats[..., :-1] / stats[..., -1:]
        return {name: means[..., i] for i, name in enumerate(self.columns)}


class CorpusMetric(Metric):
    """A metric whose corpus score is a function of the summed statistics, not the mean of the rows."""

    aggregate: Literal["corpus", "mean"] = "corpus"

    @property
    def corpus_is_mean(self) -> bool:
        return self.aggregate == "mean"

    @property
    def sacrebleu(self) -> dict[str, str] | None:
        """The fields of sacrebleu's signature, if the score of all rows is sacrebleu's, out of `scale`; else None."""
        return None

    def column_scores(self, stats: Floats) -> dict[str, Floats]:
        return {self.column: self.score(stats)}

    def score(self, stats: Floats) -> Floats:
        raise NotImplementedError


def best_reference(scores: Floats, pairs: Pairs) -> NDArray[np.int64]:
    """Return each row's reference with the highest score, the first of equal ones.

    Args:
        scores: Score of each reference, shape (m,); NaN counts as the lowest.
        pairs: The rows.

    Returns:
        Indices into the flat references, shape (n,), int64; -1 for rows without references.
    """
    if pairs.has_one_reference_each:
        return np.arange(len(pairs))
    best = np.full(len(pairs), -1, dtype=np.int64)
    if not len(scores):
        return best
    finite = np.where(np.isnan(scores), -np.inf, scores)
    referenced = ~pairs.unreferenced
    highest = np.full(len(pairs), -np.inf)
    highest[referenced] = np.maximum.reduceat(finite, pairs.offsets[:-1][referenced])
    # In reverse, so that the first of several best references is written last.
    winners = np.flatnonzero(finite == highest[pairs.rows])[::-1]
    best[pairs.rows[winners]] = winners
    return best


def closest_lengths(tokens: Tokens, pairs: Pairs) -> NDArray[np.int64]:
    """Return the length of the reference closest to each response (of two, the shorter); shape (n,), 0 without any."""
    responses, references = tokens.responses.lengths[pairs.rows], tokens.references.lengths
    distance = 2 * np.abs(references - responses) + (references > responses)
    closest = best_reference(-distance.astype(np.float64), pairs)
    return np.append(references, 0)[closest]


def _signature_value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def token_fallback(tokens: Tokens, pairs: Pairs, order: int = 1) -> NDArray[np.float64]:
    """Score the pairs in which a text has no n-grams of that order (no tokens); NaN where both have some.

    Returns:
        Shape (m,), one per reference: 1 if neither text has n-grams and they are equal ignoring case, 0 if not, NaN
        where the metric applies.
    """
    has_response = tokens.responses.lengths[pairs.rows] >= order
    has_reference = tokens.references.lengths >= order
    scores = np.where(has_response & has_reference, np.nan, 0.0)
    for j in np.flatnonzero(~has_response & ~has_reference):
        response, reference = pairs.pair(j)
        scores[j] = response.casefold() == reference.casefold()
    return scores


def with_fallback(scores: NDArray[np.float64], tokens: Tokens, pairs: Pairs, order: int = 1) -> NDArray[np.float64]:
    """Replace the scores of pairs without n-grams of that order, shape (m, columns), by their fallback."""
    without_tokens = token_fallback(tokens, pairs, order)[:, None]
    return np.where(np.isnan(without_tokens), scores, without_tokens)


class RetrievalMetric(MeanMetric):
    """A metric of the retrieved contexts, whatever the response. Rows without contexts or relevant ones are not asked.

    k: only the first k contexts count.
    """

    default_threshold: ClassVar[float | None] = 0.5

    k: Annotated[int, Field(ge=1)] | None = None

    @property
    def needs_references(self) -> bool:
        return False

    def applies(self, pairs: Pairs) -> NDArray[np.bool_]:
        if pairs.contexts is None or pairs.relevant is None:
            return np.zeros(len(pairs), np.bool_)
        known = zip(pairs.contexts.is_valid().to_pylist(), pairs.relevant.to_pylist(), strict=True)
        return np.array([retrieved and bool(relevant) for retrieved, relevant in known], np.bool_)

    def stats(self, pairs: Pairs) -> Floats:
        rows = np.zeros((len(pairs), 2))
        for row in np.flatnonzero(self.applies(pairs)).tolist():
            retrieved = list(dict.fromkeys(pairs.contexts[row].as_py()))[: self.k]  # type: ignore[index]  # as applies says
            relevant = set(pairs.relevant[row].as_py())  # type: ignore[index]  # as applies says
            hits = np.array([context in relevant for context in retrieved], np.bool_)
            rows[row] = self.of_hits(hits, len(relevant)), 1.0
        return rows

    def details(self, pairs: Pairs) -> list[str | None]:
        return [None] * len(pairs)

    def of_hits(self, hits: NDArray[np.bool_], relevant: int) -> float:
        """Return the score of a row.

        Args:
            hits: Which of the retrieved contexts are relevant, best first; a repeated context counts once.
            relevant: How many contexts are relevant.
        """
        raise NotImplementedError


def yes_or_no(flag: bool) -> str:  # noqa: FBT001
    """How sacrebleu's signatures write a flag."""
    return "yes" if flag else "no"
