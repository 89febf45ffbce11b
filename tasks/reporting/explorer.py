"""The row explorer: answers with their texts, scores and reasons, packed into the page."""

from typing import NamedTuple


class Explorer(NamedTuple):
    """What the page holds of the answers.

    payload: base64 of gzip of JSON. answers: how many it holds; total: how many the run has.
    """

    payload: str
    answers: int
    total: int
