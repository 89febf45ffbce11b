import json
from pathlib import Path

import pytest

EVOUNA = Path(__file__).parents[4] / "shared" / "data" / "evouna" / "NQ.json"
SYSTEMS = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")


@pytest.fixture(scope="session")
def evouna():
    """Real responses, and the references of each: 2,500 rows of five systems, a few without a response."""
    if not EVOUNA.exists():
        pytest.skip("EVOUNA-NQ is not beside the repository")
    rows = [row for row in json.loads(EVOUNA.read_text(encoding="utf-8"))[::7] if row["golden_answer"]]
    responses = [row[f"answer_{system}"] for row in rows for system in SYSTEMS]
    references = [row["golden_answer"].split("/") for row in rows for _ in SYSTEMS]
    return responses[:2500], [[text for text in texts if text.strip()] for texts in references[:2500]]
