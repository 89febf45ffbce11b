"""sacrebleu's signatures of the columns whose value of all rows sacrebleu gives too."""

from collections.abc import Mapping

import numpy as np
import pyarrow.compute as pc

from goldmeter.estimates.column_facts import ColumnFacts
from goldmeter.metrics.base import CorpusMetric
from goldmeter.metrics.catalogue import configure
from goldmeter.pipeline.tables import Parts

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
