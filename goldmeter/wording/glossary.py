"""The glossary, from which the documentation's is generated; and how a page finds its terms."""

import re
from functools import cache
from pathlib import Path

from goldmeter.pipeline.yaml import load_yaml

PATH = Path(__file__).with_name("glossary.yaml")


@cache
def terms() -> list[dict[str, str]]:
    """Each term, what it means, a link of the documentation, and how a page writes it if it is a link there."""
    return list(load_yaml(PATH))


@cache
def found() -> re.Pattern[str]:
    """Finds the terms in a text, each with the sign after it, as the group of its number."""
    choices = "|".join(f"({one['found']})" if "found" in one else "(?!)()" for one in terms())
    return re.compile(rf"(?<![\w-])(?:{choices})(?![\w-])[.,:;)]*")
