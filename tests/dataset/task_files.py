"""One file for each task, as people share them: questions, references and the answers of two systems."""

import csv
import json
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

INTENTS = ("card arrival", "lost card", "Überweisung", "exchange rate", "top up", "close account")
NOUNS = ("house", "river", "tower", "garden", "bridge", "market", "forest", "castle")
GERMAN = ("Haus", "Fluss", "Turm", "Garten", "Brücke", "Markt", "Wald", "Schloss")
RATES = {"first": 0.8, "second": 0.6}
"""System → the share of its answers that are right."""


def rows_of(task: str, number: int = 80, seed: int = 0) -> list[dict[str, Any]]:
    """Rows with the columns of such files."""
    chance = random.Random(seed)  # noqa: S311 (data of a test)
    return [WRITERS[task](row, chance) for row in range(number)]


def written(task: str, folder: Path, number: int = 80) -> Path:
    """Write the file."""
    rows = rows_of(task, number)
    path = folder / f"{task}.{'csv' if task in {'classification', 'translation'} else 'jsonl'}"
    if path.suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), delimiter=";" if task == "classification" else ",")
            writer.writeheader()
            writer.writerows(rows)
    else:
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def _answers(chance: random.Random, right: str, wrong: str) -> dict[str, str]:
    return {name: right if chance.random() < rate else wrong for name, rate in RATES.items()}


def _named(pattern: str, answers: Mapping[str, str]) -> dict[str, str]:
    return {pattern.format(name): text for name, text in answers.items()}


def _qa(row: int, chance: random.Random) -> dict[str, Any]:
    name = f"Mount {GERMAN[row % 8]} {row}"
    answers = _answers(chance, f"It is {name}.", "I do not know.")
    listed = [{"model": system, "text": text} for system, text in answers.items()]
    return {"question": f"Which mountain is no. {row}?", "answer": name, "outputs": listed}


def _choice(row: int, chance: random.Random) -> dict[str, Any]:
    letters = "ABCD"
    listed = "\n".join(f"{letter}) {NOUNS[(row + place) % 8]}" for place, letter in enumerate(letters))
    answers = _answers(chance, f"The answer is {letters[row % 4]}.", f"({letters[(row + 1) % 4]})")
    asked = {"question": f"What is in picture {row}?\n{listed}", "gold": letters[row % 4]}
    return asked | _named("answer_{}", answers)


def _classification(row: int, chance: random.Random) -> dict[str, Any]:
    answers = _answers(chance, INTENTS[row % 6], INTENTS[(row + 1) % 6])
    asked = {"text": f"Message {row}: what about it, please?", "label": INTENTS[row % 6]}
    return asked | _named("{}_prediction", answers)


def _number(row: int, chance: random.Random) -> dict[str, Any]:
    total = row * 7 + 12
    solution = f"First {row} * 7 = {row * 7}.\nThen {row * 7} + 12 = {total}.\n#### {total}"
    answers = _answers(chance, f"{row * 7} and 12 make {total}.\n#### {total}", f"#### {total + 1}")
    listed = [{"generator": name, "output": text} for name, text in answers.items()]
    return {"question": f"How many days are {row} weeks and 12 days?", "answer": solution, "completions": listed}


def _json(row: int, chance: random.Random) -> dict[str, Any]:
    right, wrong = (json.dumps({"name": NOUNS[row % 8], "year": century + row}) for century in (1900, 1800))
    asked = {"prompt": f"Extract name and year: the {NOUNS[row % 8]} of {1900 + row}", "expected": right}
    return asked | _named("response_{}", _answers(chance, right, wrong))


def _summary(row: int, chance: random.Random) -> dict[str, Any]:
    noun = NOUNS[row % 8]
    article = " ".join(f"On day {day} the people of village {row} worked at the {noun} again." for day in range(20))
    right = f"The people of village {row} worked at their {noun} for twenty days."
    answers = _answers(chance, right.replace("twenty", "20"), f"Nothing much happened in village no. {row} at all.")
    return {"article": article, "highlights": right} | _named("summary_{}", answers)


def _translation(row: int, chance: random.Random) -> dict[str, Any]:
    place = row % 8
    right = f"The {NOUNS[place]} number {row} is very old."
    answers = _answers(chance, right, f"That {NOUNS[place]} {row} was never new, it seems.")
    return {"src": f"{GERMAN[place]} Nummer {row} ist sehr alt.", "ref": right} | _named("hyp_{}", answers)


def _text(row: int, chance: random.Random) -> dict[str, Any]:
    right = f"You first open the {NOUNS[row % 8]} and then walk {row} steps, after which the way is easy to see."
    answers = _answers(chance, right.replace("first ", ""), "I would rather not say how this is done, as it depends.")
    return {"question": f"How do I get to place {row}?", "reference": right} | _named("{}_response", answers)


WRITERS: Mapping[str, Callable[[int, random.Random], dict[str, Any]]] = {
    "qa": _qa,
    "choice": _choice,
    "classification": _classification,
    "number": _number,
    "json": _json,
    "summary": _summary,
    "translation": _translation,
    "text": _text,
}
