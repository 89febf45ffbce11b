"""Answers that name classes, scored as the stage does."""

from goldmeter.estimates.tables import score_table
from goldmeter.metrics.catalogue import configure
from goldmeter.metrics.pairs import Pairs
from tests.reporting.made import load_table, row

CLASSES = ["billing", "login", "other", "spam"]
ANSWERS = [
    # id, reference, what aurora answers, what borealis answers
    ("q01", "billing", "billing", "billing"),
    ("q02", "billing", "It is about billing.", "login"),
    ("q03", "billing", "login", "login"),
    ("q04", "login", "login", "Login!"),
    ("q05", "login", "login", "I can't say"),
    ("q06", "other", "other", "billing"),
    ("q07", "other", "other or login", "other"),
    ("q08", "other", "other", "other"),
    ("q09", "refund", "billing", "other"),
    ("q10", "login", None, "login"),
]


def class_rows(answers=ANSWERS, **others):
    return [
        row(key, name, response, None, 0.5, None, references=(reference,), **others)
        for key, reference, *responses in answers
        for name, response in zip(("aurora", "borealis"), responses, strict=True)
    ]


def lexical(rows, options=None, name="class_match"):
    """The table of the stage; options: of the metric."""
    metric = configure("lexical", name, {"classes": CLASSES} if options is None else options)
    pairs = Pairs.of([each["response"] for each in rows], [list(each["references"]) for each in rows])
    return {"lexical": score_table(load_table(rows), pairs, {name: metric})}
