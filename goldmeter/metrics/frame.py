"""Scores of several metrics as one pandas table: one row per response; tokens, vectors and verdicts are made once."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from goldmeter.errors import ParamsError
from goldmeter.metrics import catalogue
from goldmeter.metrics.base import NOT_ASKED, Floats, Metric
from goldmeter.metrics.catalogue import check_columns, configure, declaring
from goldmeter.metrics.pairs import Embed, Pairs
from goldmeter.text.columns import entries

if TYPE_CHECKING:
    import pandas as pd

    from goldmeter.models.offline import Judged


# Key of DataFrame.attrs: metric → what its columns mean, for `goldmeter.compare`.
ATTRS = "goldmeter"
# End of the name of the column that says which rows of a metric are unmeasured by design.
NOT_ASKED_SUFFIX = "_not_asked"
IN_DOMAIN = "in_domain"
JUDGE, SEMANTIC = "judge", "semantic"
Options = Mapping[str, Any] | None


def score_frame(
    metrics: tuple[dict[str, str], dict[str, Metric | None]], pairs: Pairs, *, ids: Any = None, details: bool = False
) -> "pd.DataFrame":
    """Score pairs with several metrics of any family; `goldmeter.metrics.scores` explains the arguments.

    metrics: As `configured_metrics` returns them. pairs: its `embed` is a `SharedVectors`.
    """
    import pandas as pd

    families, configured = metrics
    index = _index(ids, len(pairs))
    _embed_all([metric for name, metric in configured.items() if metric and families[name] == SEMANTIC], pairs)
    judge = OfflineJudge(pairs)
    columns: dict[str, Any] = {}
    for name, metric in configured.items():
        if families[name] == JUDGE:
            columns |= _judged(name, metric, judge, details=details)
        elif metric:
            columns |= _scored(metric, pairs, details=details)
    frame = pd.DataFrame(columns, index=index)
    frame.attrs[ATTRS] = {name: _meaning(families[name], metric) for name, metric in configured.items() if metric}
    return frame


class SharedVectors:
    """Vectors of texts, each computed once; called with texts it returns theirs, shape (m, d), float64."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._vectors = np.empty((0, 0))

    def add(self, texts: Sequence[str]) -> None:
        """Compute the vectors of new texts in one call."""
        if new := [text for text in dict.fromkeys(texts) if text not in self._places]:
            vectors = _embed()(new)
            self._vectors = np.concatenate([self._vectors, vectors]) if self._places else vectors
            self._places |= {text: place for place, text in enumerate(new, len(self._places))}

    def __call__(self, texts: Sequence[str]) -> Floats:
        """Return the vectors of texts."""
        self.add(texts)
        return self._vectors[[self._places[text] for text in texts]]


def _embed() -> Embed:
    from goldmeter.metrics.semantic import default_embed

    return default_embed()


def pairs_for(metrics: Mapping[str, Metric | None], responses: Any, references: Any, **columns: Any) -> Pairs:
    """Return the pairs that these metrics score; references: None where no metric reads any.

    Raises:
        TypeError: A metric reads references, and there are none.
        ValueError: There are not as many references as responses.
    """
    if references is None:
        if reading := [name for name, metric in metrics.items() if metric is None or metric.needs_references]:
            raise TypeError(f"references: {reading[0]} compares responses with references; give one or a list per row")
        references = [[]] * len(entries("responses", responses))
    try:
        return Pairs.of(responses, references, embed=SharedVectors(), **columns)
    except ValueError as error:
        if own := [name for name, metric in metrics.items() if metric and "references" in type(metric).model_fields]:
            place = f"scores({{{own[0]!r}: {{'references': […]}}}}, responses)"
            raise ValueError(f"{error}; the same references for every row: {place}") from None
        raise


def configured_metrics(
    metrics: Mapping[str, Options] | Sequence[str],
) -> tuple[dict[str, str], dict[str, Metric | None]]:
    """Return each metric's family, and the metric with its options."""
    if isinstance(metrics, str):
        raise TypeError(f"metrics: expected {{{metrics!r}: {{}}}} or a list of names, not one string")
    options = metrics if isinstance(metrics, Mapping) else dict.fromkeys(metrics)
    families = {name: family_of(name, own) for name, own in options.items()}
    configured = {name: _configure(families[name], name, options[name]) for name in options}
    check_columns({name: metric for name, metric in configured.items() if metric})
    return families, configured


def family_of(name: str, options: Options = None) -> str:
    """Return the family of a metric, of the one that its options state, or of `offline_match`."""
    metric = options.get("metric", name) if isinstance(options, Mapping) else name
    return JUDGE if metric == OFFLINE_MATCH else catalogue.family_of(metric)


def _configure(family: str, name: str, options: Options) -> Metric | None:
    return judged_metric(name, options or {}) if family == JUDGE else catalogue.configure(family, name, options)


def _embed_all(metrics: Sequence[Metric], pairs: Pairs) -> None:
    """Compute the vectors of all metrics in one call: texts of similar length share a batch."""
    if isinstance(pairs.embed, SharedVectors):
        pairs.embed.add([text for metric in metrics for text in metric.texts(pairs)])


def _judged(name: str, metric: Metric | None, judge: "OfflineJudge", *, details: bool) -> dict[str, Any]:
    scores = judge.scores(name)
    if metric is None:
        return {name: scores}
    explained = {f"{name}_result": metric.result(scores), f"{name}_reason": judge.judged.reasons} if details else {}
    return {
        name: scores,
        **explained,
        IN_DOMAIN: [reason is None for reason in judge.judged.outside],
        **_by_design(name, np.isnan(scores) & judge.pairs.unreferenced & ~judge.pairs.missing),
    }


def _scored(metric: Metric, pairs: Pairs, *, details: bool) -> dict[str, Any]:
    columns: dict[str, Any] = metric.column_scores(metric.row_stats(pairs))
    if details:
        if metric.has_pass_rate:
            columns[f"{metric.column}_result"] = metric.result(columns[metric.column])
        columns[f"{metric.name}_details"] = metric.row_details(pairs)
    return columns | _by_design(metric.name, _not_asked(metric, pairs, np.isnan(columns[metric.column])))


def _by_design(name: str, rows: NDArray[np.bool_]) -> dict[str, Any]:
    """The column of the rows that are unmeasured by design, if there are any."""
    return {f"{name}{NOT_ASKED_SUFFIX}": rows} if rows.any() else {}


def _not_asked(metric: Metric, pairs: Pairs, missing: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which of the rows without a score are unmeasured by design."""
    not_asked = np.zeros_like(missing)
    rows = np.flatnonzero(missing)
    if len(rows):
        not_asked[rows] = [unmeasured_reason(text) in NOT_ASKED for text in metric.row_details(pairs.take(rows))]
    return not_asked


def unmeasured_reason(details: Any) -> str | None:
    """Return the reason in a row's details for its missing score; None if there is none."""
    try:
        reason = json.loads(details)["unmeasured"]
    except (TypeError, ValueError, KeyError):
        return None
    return reason if isinstance(reason, str) else None


def _meaning(family: str, metric: Metric) -> dict[str, Any]:
    """What the columns of a metric mean, as JSON has it."""
    signed = _models(family)
    return {
        "family": family,
        "options": metric.model_dump(mode="json"),
        "signature": metric.signature(**signed),
        "rate_signature": metric.rate_signature(**signed),
    }


def _models(family: str) -> dict[str, object]:
    """The model behind a family's numbers, as part of their signatures."""
    if family == SEMANTIC:
        from goldmeter.metrics.semantic import default_weights

        return {"weights": default_weights()}
    if family == JUDGE:
        from goldmeter.models import offline

        return {"provider": "offline", "model": offline.model_hash()[:12], "offline_v": offline.VERSION}
    return {}


def _index(ids: Any, rows: int) -> Any:
    import pandas as pd

    if ids is None:
        return pd.RangeIndex(rows)
    listed = entries("ids", ids)
    if len(listed) != rows:
        raise ValueError(f"{rows} responses, but {len(listed)} ids")
    return pd.Index(listed, name="id", tupleize_cols=False)


# The probability of the verdict "right"; no metric of params.yaml, the judge stage gives it for every row.
OFFLINE_MATCH = "offline_match"


@dataclass(frozen=True)
class OfflineJudge:
    """The offline judge's view of pairs, computed on first use."""

    pairs: Pairs

    @cached_property
    def judged(self) -> "Judged":
        """Probability and reason of each row."""
        from goldmeter.models import offline

        pairs = self.pairs
        return offline.judge_columns(pairs.inputs, pairs.flat_references, pairs.offsets, pairs.responses)

    def scores(self, name: str) -> Floats:
        """Return verdicts (1 or 0) or probabilities (offline_match), shape (n,); NaN is unmeasured."""
        from goldmeter.models.offline import RIGHT

        probabilities = self.judged.probabilities
        if name == OFFLINE_MATCH:
            return probabilities
        return np.where(np.isnan(probabilities), np.nan, probabilities >= RIGHT)


def judged_metric(name: str, options: Mapping[str, Any]) -> Metric | None:
    """Return the metric of this name as the offline judge gives it; None for `offline_match`, which has no options.

    Raises:
        ParamsError: The metric or an option needs a model on a server.
    """
    others = {key: value for key, value in options.items() if key != "provider"}
    if name == OFFLINE_MATCH:
        if set(others) - {"profile"}:
            raise ParamsError(f"{OFFLINE_MATCH}: unknown option {min(others)!r}; it has no options")
        return None
    metric = configure("judge", name, others)
    given = declaring("judge", "has_offline")
    if name not in given or options.get("provider", "offline") != "offline":
        listed = " and ".join([*given, OFFLINE_MATCH])
        raise ParamsError(f"{name}: the offline judge gives {listed} only; the stage `judge` asks a server")
    return metric
