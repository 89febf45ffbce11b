"""How versions are compared by params.yaml and the labels of recorded runs."""

from collections.abc import Mapping

from tasks.comparison.compare import CompareOptions
from tasks.monitoring import labelled_answers
from tasks.pipeline import params
from tasks.reporting.settings import Report
from tasks.scores.mix import Mixing


def compare_options(renamed: Mapping[str, str] | None = None, *, rescore: bool = False) -> CompareOptions:
    """Return the options of a comparison.

    Args:
        renamed: Candidate of BASE → its name in HEAD; "" if it was dropped.
        rescore: Score BASE again by the settings of HEAD.

    Raises:
        ParamsError: Section `report` or `aggregate` of params.yaml is wrong.
    """
    content = params.raw()
    rows = params.section(Report, content, "report").rows_to_look_at
    mix = params.section(Mixing, content, "aggregate").chosen_mix
    return CompareOptions(renamed or {}, rescore, rows, labelled_answers.stale, mix)
