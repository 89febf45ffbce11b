"""Written pairs and rows made up for the tests of the offline judge."""

import json
from itertools import product

from goldmeter.models.offline import judge
from goldmeter.models.offline.feature_names import FEATURES
from goldmeter.models.offline.features import TextRows, row_features
from tests.small_project import ROOT

RULES = [
    json.loads(line)
    for line in (ROOT / "benchmarks/offline_judge/rules.jsonl").read_text(encoding="utf-8").splitlines()
]


def judged(pairs):
    """What the shipped model says of pairs as rules.jsonl has them."""
    return judge(
        [pair["input"] for pair in pairs],
        [pair["references"] for pair in pairs],
        [pair["response"] for pair in pairs],
    )


def described(response, *references, question=""):
    """The features of one row by name."""
    rows = TextRows.of([question], [references], [response])
    return dict(zip(FEATURES, row_features(rows).features[0].tolist(), strict=True))


def evouna(questions):
    """Made-up items as EVOUNA has them: of two systems one is always right, the other never."""
    cities, rivers = ("Oslo", "Lima", "Rome", "Cairo"), ("Nile", "Rhine", "Volga", "Tiber")
    names = [f"{city} on {river} {i}" for i, (city, river) in enumerate(product(cities * questions, rivers))]
    return [
        {
            "question": f"which town is number {i}",
            "golden_answer": name,
            "answer_one": f"It is {name}.",
            "judge_one": True,
            "answer_two": f"It is {names[-1 - i]}.",
            "judge_two": False,
            "improper": False,
        }
        for i, name in enumerate(names[:questions])
    ]
