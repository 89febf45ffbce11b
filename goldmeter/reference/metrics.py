"""The metrics as Markdown: what each says, its range and threshold, its options, columns and profiles."""

import importlib
import re
from collections.abc import Iterator, Mapping
from math import isinf
from typing import Any

from goldmeter.metrics.base import Metric
from goldmeter.metrics.catalogue import configure, families, metric_class, names
from goldmeter.reference import allowed
from goldmeter.reference.markdown import code, meanings, opening, option_notes, paragraphs, said_of_all, sentence, table
from goldmeter.text.tokenizers import TOKENIZERS

SHARED = (*Metric.model_fields,)
"""Options that every metric has."""
FAMILIES = ("lexical", "semantic", "judge")


def overview() -> str:
    """One row a metric: what it says, range, threshold."""
    return table(["metric", "says", "range", "threshold"], ([*cells] for *cells, _ in map(_cells, _all())))


def options() -> str:
    """One row a metric, with its options by name."""
    head = ["metric", "definition", "range", "threshold", "options"]
    return table(head, map(_cells, _all()))


def details() -> str:
    """One chapter a metric: definition, source, columns, options, profiles."""
    return "\n\n".join(chapter(family, name) for family, name in _all())


def chapter(family: str, name: str) -> str:
    """The chapter of a metric."""
    return "\n\n".join(_chapter(family, name))


def tokenizers() -> str:
    """One row a tokenizer that the option `tokenizer` names."""
    said = ((code(name), paragraphs(each.split.__doc__)[0]) for name, each in TOKENIZERS.items())
    return table(["tokenizer", "tokens"], said)


def _all() -> list[tuple[str, str]]:
    if sorted(FAMILIES) != families():
        raise ValueError(f"families of metrics: {families()}; expected {sorted(FAMILIES)}")
    return [(family, name) for family in FAMILIES for name in names(family)]


def _cells(which: tuple[str, str]) -> tuple[str, ...]:
    family, name = which
    metric = configure(family, name, {})
    listed = " ".join(map(code, _own(metric_class(family, name)))) or "section `judge`"
    return code(name), definition(family, name), _range(metric), _threshold(metric), listed


def definition(family: str, name: str) -> str:
    """The first line of the metric's module, without the metric's own name before it."""
    module = importlib.import_module(metric_class(family, name).__module__)
    first = (module.__doc__ or "").partition("\n")[0].rstrip(".")
    begin, colon, rest = first.partition(": ")
    said = rest if colon and _letters(begin) == _letters(name) else first
    return opening(said).removesuffix(".")


def _letters(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _range(metric: Metric) -> str:
    low, high = metric.bounds
    if isinf(high):
        return f"from {low:g}"
    return f"{low:g} or {high:g}" if metric.default_threshold is None else f"{low:g}–{high:g}"


def _threshold(metric: Metric) -> str:
    return metric.threshold if isinstance(metric.threshold, str) else _number(metric.threshold)


def _number(threshold: float | None) -> str:
    return "" if threshold is None else f"{threshold:g}"


def _own(cls: type[Metric]) -> list[str]:
    return [name for name in cls.model_fields if name not in SHARED]


def _chapter(family: str, name: str) -> Iterator[str]:
    cls, metric = metric_class(family, name), configure(family, name, {})
    module = importlib.import_module(cls.__module__)
    yield f"### {name}"
    yield f"{sentence(definition(family, name))} {sentence(said_of_all(cls, _own(cls)))}".strip()
    if source := _source(module.__doc__ or ""):
        yield source
    yield _columns(metric)
    if _own(cls):
        yield table(["option", "default", "allowed", "meaning"], _option_rows(cls))
    if cls.profiles:
        yield table(["profile", "sets"], [[code(each), _sets(given)] for each, given in cls.profiles.items()])


def _source(documentation: str) -> str:
    found = re.search(r"^Source: (.*?)(?:\n\n|\Z)", documentation, re.DOTALL | re.MULTILINE)
    return f"Source: {' '.join(found[1].split())}" if found else ""


def _columns(metric: Metric) -> str:
    scores = ", ".join(map(code, metric.columns))
    gate = "binary: a row passes at 1" if metric.threshold is None else f"a row passes at {_threshold(metric)}"
    if not metric.has_pass_rate:
        gate = f"a row passes {'from' if metric.higher_is_better else 'up to'} the threshold that you state, if any"
    pooled = "" if metric.corpus_is_mean else "; the value of all rows is made of their summed statistics"
    return f"Columns {scores}, {code(f'{metric.column}_result')}; {gate}{pooled}. Signature {code(metric.signature())}."


def _option_rows(cls: type[Metric]) -> Iterator[list[str]]:
    notes = option_notes(cls, _own(cls))
    for name in _own(cls):
        field = cls.model_fields[name]
        meaning = notes.get(name) or meanings()["metrics"].get(name, "")
        yield [code(name), _shown(field.default), allowed.of_field(field), sentence(meaning)]


def _shown(value: Any) -> str:
    return "none" if value is None else code(_as_yaml(value))


def _sets(given: Mapping[str, Any]) -> str:
    return ", ".join(code(f"{name}: {_as_yaml(value)}") for name, value in given.items())


def _as_yaml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
