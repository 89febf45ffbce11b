import json

import pytest

SYSTEMS = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")


@pytest.fixture(scope="session")
def questions(evouna):
    """Real questions with the answers of five systems."""
    return json.loads(evouna.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def real_pairs(questions):
    """More than 2,500 real responses, and the references of each as one text."""
    pairs = [(row[f"answer_{system}"], row["golden_answer"]) for row in questions[::6] for system in SYSTEMS]
    return tuple(zip(*((response, golden) for response, golden in pairs if response and golden), strict=True))


@pytest.fixture(scope="session")
def real_rows(questions):
    """Real responses, and the references of each: 2,500 rows of five systems, a few without a response."""
    rows = [row for row in questions[::7] if row["golden_answer"]]
    responses = [row[f"answer_{system}"] for row in rows for system in SYSTEMS]
    references = [row["golden_answer"].split("/") for row in rows for _ in SYSTEMS]
    return responses[:2500], [[text for text in texts if text.strip()] for texts in references[:2500]]
