"""Sheets of answers to label, which flows.label and the page write and `python -m flows.label --take` reads."""

from collections.abc import Mapping
from typing import Any

from tasks.pipeline.files import to_json
from tasks.pipeline.hashing import sha256

COLUMNS = (
    *("label", "comment", "input", "references", "response"),
    *("id", "candidate", "label_probability", "earlier_share", "rater", "row", "sheet"),
)
# What the name of a row depends on.
NAMED_BY = ("id", "candidate", "input", "references", "response")
# How the page's rows come to be labelled, in the name of its sheet.
PAGE = "page"
# Hex digits of each half of a row's name.
DIGITS = 16


def row_name(texts: Mapping[str, Any]) -> str:
    """Return the name of a row in a sheet: hashes of its key and of the texts that are shown.

    The letter in front keeps spreadsheets from reading it as a number.
    """
    return f"r{hashed([texts['id'], texts['candidate']])}-{hashed([texts[name] for name in NAMED_BY[2:]])}"


def hashed(value: object) -> str:
    """Return the first digits of the sha256 of a value as JSON."""
    return sha256(to_json(value)).hex()[:DIGITS]
