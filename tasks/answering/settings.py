"""Section `answer` of params.yaml, and the sections that the stage reads."""

from tasks.dataset.settings import Dataset, Load
from tasks.pipeline.settings import Section, Share


class Answer(Section):
    """The answers of candidates with a model.

    max_unmeasured: the run stops if a larger share of the questions has no answer.
    """

    max_unmeasured: Share


class Params(Section):
    """The sections of params.yaml that the stage reads."""

    dataset: Dataset
    load: Load
    answer: Answer
