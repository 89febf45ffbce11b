"""The one order of candidates and of measures: in metrics.json, and so on the page, the terminal and in Markdown.

Candidates: by the primary measure, the best first, those without a number last. Measures: the primary one first, the
others as params.yaml has them: human labels and imported scores, words, meaning, judge.
"""

from collections.abc import Iterable, Mapping

from tasks.scores.metrics_report import Limited


def best_first(rates: Mapping[str, Limited], *, higher_is_better: bool = True) -> list[str]:
    """The candidates by their rates, the best first; equal ones by name.

    >>> best_first({"a": {"value": 0.5, "low": None, "high": None}, "b": {"value": 0.7, "low": None, "high": None}})
    ['b', 'a']
    """

    def place(name: str) -> tuple[bool, float, str]:
        value = rates[name]["value"]
        return value is None, 0.0 if value is None else -value if higher_is_better else value, name

    return sorted(rates, key=place)


def primary_first(measures: Iterable[str], primary: str) -> list[str]:
    """The measures with the primary one first; its score stands beside its pass rate.

    >>> primary_first(["bleu", "f1", "meteor"], "f1.value")
    ['f1', 'bleu', 'meteor']
    """
    name = primary.partition(".")[0]
    return sorted(measures, key=lambda measure: measure.partition(".")[0] != name)
