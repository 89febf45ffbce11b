"""The signature of a score as a value: its metric, how it was made, field by field, and who gave the verdicts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow.compute as pc

from goldmeter.estimates.column_facts import ColumnFacts
from goldmeter.metrics.base import CorpusMetric
from goldmeter.metrics.catalogue import configure
from goldmeter.pipeline.tables import Parts

ABSENT = "absent"


class FieldChange(NamedTuple):
    """A field that differs between two signatures; as a text, with both values."""

    name: str
    was: str
    now: str

    def __str__(self) -> str:
        """The change in words.

        >>> str(FieldChange("tok", "13a", "char"))
        'tok was 13a, is char'
        """
        return f"{self.name} was {self.was}, is {self.now}"


class Signature(NamedTuple):
    """A signature such as `f1|tok:13a|v:1`; fields: by name, in the order in which it states them."""

    metric: str
    fields: Mapping[str, str]

    @classmethod
    def of(cls, text: str) -> "Signature":
        """Read a signature.

        >>> Signature.of("f1|tok:13a|v:1")
        Signature(metric='f1', fields={'tok': '13a', 'v': '1'})
        """
        metric, *fields = text.split("|")
        return cls(metric, dict(field.partition(":")[::2] for field in fields))


def changes(base: str, head: str) -> tuple[FieldChange, ...]:
    """Which fields of two signatures differ.

    >>> [str(change) for change in changes("f1|tok:13a|v:1", "f1|tok:char|v:1")]
    ['tok was 13a, is char']
    """
    before, after = ({"metric": one.metric, **one.fields} for one in map(Signature.of, (base, head)))
    named = tuple(
        FieldChange(name, before.get(name, ABSENT), after.get(name, ABSENT))
        for name in dict.fromkeys([*before, *after])
        if before.get(name) != after.get(name)
    )
    if not named and base != head:  # a value, such as the text of a filter, may hold what separates fields
        return (FieldChange("signature", base, head),)
    return named


OFFLINE = "the offline judge"
# Column of data/judge, in a cascade only: which of its two judges the row went to; null where neither was asked.
JUDGED_BY = "judged_by"
OFFLINE_JUDGE, LANGUAGE_MODEL = "offline judge", "language model"


@dataclass(frozen=True)
class VerdictSource:
    """Who gave the verdicts on whether answers are right.

    name: in words. is_offline: whether it is the offline judge, whose error was measured. is_cascade: whether the
    offline judge decided some rows, and a language model judged the others. model: as the signature names it, empty
    without one. band: the probabilities between which a cascade asks the language model, as the signature has them.
    """

    name: str
    is_offline: bool
    is_cascade: bool = False
    model: str = ""
    band: tuple[str, str] | None = None

    @classmethod
    def of(cls, signature: str) -> "VerdictSource":
        """Read the signature of these verdicts, such as "…|provider:openai|model:…"."""
        fields = Signature.of(signature).fields
        named = fields.get("model", "")
        model = named or "a judge"
        if fields.get("provider") == "cascade":
            low, _, high = fields.get("band", "").partition("-")
            name, band = f"the cascade of {OFFLINE} and {model}", (low, high) if high else None
            return cls(name, is_offline=False, is_cascade=True, model=named, band=band)
        if "panel" in fields:
            *others, last = fields["model"].split("+")
            models = f"{', '.join(others)} and {last}" if others else f"{fields['panel']} × {last}"
            return cls(f"the panel of {models}", is_offline=False, model=named)
        is_offline = fields.get("provider") == "offline"
        return cls(OFFLINE if is_offline else model, is_offline, model=named)

    @property
    def has_offline(self) -> bool:
        """Whether the offline judge gave all or some of the verdicts."""
        return self.is_offline or self.is_cascade


FAMILY, METRICS = "lexical", frozenset({"bleu", "chrf", "ter"})
# The version whose numbers and signatures the tests compare.
VERSION = "2.6.0"


def sacrebleu_signatures(facts: Mapping[str, ColumnFacts], load: Parts) -> dict[str, str]:
    """Return score column → the signature that sacrebleu prints for its value.

    Args:
        facts: Score column → what its table states.
        load: data/load, for the number of references.
    """
    found = {}
    for name, one in facts.items():
        if one.family == FAMILY and one.options.get("metric", one.metric) in METRICS:
            metric = configure(FAMILY, one.metric, one.options)
            if isinstance(metric, CorpusMetric) and metric.sacrebleu:
                found[name] = metric.sacrebleu
    if not found:
        return {}
    n = _references(load)
    return {name: _signature({"nrefs": n, **own, "version": VERSION}) for name, own in found.items()}


def _signature(fields: Mapping[str, str]) -> str:
    return "|".join(f"{key}:{value}" for key, value in fields.items())


def _references(load: Parts) -> str:
    """How many references each row has; "var" if some have more than others."""
    counts = set()
    for part in load.read(["references"]):
        counts |= {*np.asarray(pc.unique(pc.list_value_length(part["references"]).drop_null())).tolist()} - {0}
    return str(counts.pop()) if len(counts) == 1 else "var"
