"""What a flow tells a stage that asks models."""

import os
from pathlib import Path

# Environment variable: if set, requests whose reply in the ledger is not usable are asked again.
RETRY_FAILED = "GOLDMETER_RETRY_FAILED"
# Environment variable: file in which the attempts of a run keep what they have used of the budget.
SPENT = "GOLDMETER_SPENT"


def retries_failed() -> bool:
    """Return whether requests whose reply is not usable are asked again."""
    return RETRY_FAILED in os.environ


def spent_file() -> Path | None:
    """Return the file of what earlier attempts of this run have used of the budget; None: there was none."""
    return Path(spent) if (spent := os.environ.get(SPENT)) else None
