"""Porter's stemmer, as NLTK's PorterStemmer() extends it."""

from functools import cache
from typing import Any


def porter_stem(word: str) -> str:
    """The stem of a word, lower-case.

    Source: Porter 1980, "An algorithm for suffix stripping"; NLTK `stem.porter`, mode NLTK_EXTENSIONS.

    >>> porter_stem("relational")
    'relat'
    """
    return str(_porter().stem(word))


@cache
def _porter() -> Any:
    from nltk.stem.porter import PorterStemmer  # importing nltk takes seconds

    return PorterStemmer()
