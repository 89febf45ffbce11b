"""Every line of two pages of docs/how-to that states its result has it."""

import ast
from itertools import chain

import numpy as np
import pytest

from tests.documents import blocks
from tests.small_project import ROOT

PAGES = {"numbers-and-json": 10, "classes": 3}
"""Page → results that it states at least."""


@pytest.mark.parametrize("page", PAGES)
def test_each_example_has_the_result_that_it_states(page):
    names = {}
    stated = 0
    for line in chain.from_iterable(
        block.text.splitlines() for block in blocks(ROOT / f"docs/how-to/{page}.md") if block.kind == "python"
    ):
        code, found, result = line.partition("  # ")
        if not found:
            exec(line, names)  # noqa: S102 (our own page)
            continue
        if "class_measures" in names:  # rounded
            continue
        value = eval(code, names)  # noqa: S307
        expected = ast.literal_eval(result.replace("nan", "None"))
        assert (
            [None if np.isnan(each) else each for each in value] == expected if "score(" in code else value == expected
        )
        stated += 1

    assert stated > PAGES[page]
