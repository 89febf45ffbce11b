"""What was measured of the offline judge on data sets with human labels: its bias per system, and its training set."""

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TypedDict

from goldmeter.errors import ModelError
from goldmeter.models.offline.trees import model_hash
from goldmeter.pipeline.hashing import sha256
from goldmeter.text.normalization import normalize

FILE = Path(__file__).parent / "data/measured.json"
# Digits of a question's hash: no two of a million questions are likely to share one.
_HASH_LENGTH = 12


class System(TypedDict):
    """The judge on the answers of one system, judged without its questions: n rows, rates, and their difference.

    bias: the judge's rate less the human rate. error: its standard error. accuracy: share of equal verdicts.
    """

    set: str
    system: str
    n: int
    judge: float
    human: float
    bias: float
    error: float
    accuracy: float


class Pair(TypedDict):
    """The judge on the answers of two systems to the same questions.

    bias: the difference of its rates less that of the human rates. error: its standard error. discordant: share of
    questions whose answers it judges differently.
    """

    set: str
    systems: list[str]
    bias: float
    error: float
    discordant: float


class TrainedOn(TypedDict):
    """The training set: its name, and the accuracy by cross-validation on its n rows.

    questions: hashes of its questions, with blanks between them.
    """

    set: str
    cross_validated: float
    n: int
    questions: str


class Kind(TypedDict):
    """The judge on one kind of questions or references of the training set, by cross-validation.

    n: rows, about so many questions. accuracy: share of equal verdicts. low: its lower 95 % limit, by Wilson over
    questions.
    """

    n: int
    questions: int
    accuracy: float
    low: float


class Measured(TypedDict):
    """All facts.

    model: SHA-256 of the model they are about. kind: the kind of rows that the systems answered. kinds: "question" and
    "reference" → kind → the judge on it.
    """

    model: str
    kind: str
    kinds: dict[str, dict[str, Kind]]
    trained_on: TrainedOn
    systems: list[System]
    pairs: list[Pair]


@cache
def measured() -> Measured | None:
    """Return the facts, read once; None if the model is another one than was measured.

    Raises:
        ModelError: The file is missing or damaged.
    """
    try:
        facts: Measured = json.loads(FILE.read_text(encoding="utf-8"))
        complete = bool(facts["systems"] and facts["pairs"] and facts["trained_on"]["questions"] and facts["kinds"])
        return facts if complete and facts["model"] == model_hash() else None
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise ModelError(f"{FILE} can't be read ({error}). Restore it from version control.") from error


def question_hash(question: str) -> str:
    """Return the hash by which a training question is known: without case, punctuation and articles."""
    return sha256(normalize(question)).hex()[:_HASH_LENGTH]


def share_trained_on(questions: Iterable[str]) -> float:
    """Return the share of questions that the judge was trained on; 0 without questions."""
    facts = measured()
    if facts is None:
        return 0.0
    known = frozenset(facts["trained_on"]["questions"].split())
    seen = [question_hash(question) in known for question in questions]
    return sum(seen) / len(seen) if seen else 0.0
