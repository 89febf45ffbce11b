"""Every line of docs/how-to/numbers-and-json.md that states its result has it."""

import ast
from itertools import chain

import numpy as np

from tests.documents import blocks
from tests.small_project import ROOT

PAGE = ROOT / "docs/how-to/numbers-and-json.md"


def test_each_example_has_the_result_that_it_states():
    names = {}
    stated = 0
    for line in chain.from_iterable(block.text.splitlines() for block in blocks(PAGE) if block.kind == "python"):
        code, found, result = line.partition("  # ")
        if not found:
            exec(line, names)  # noqa: S102 (our own page)
            continue
        value = eval(code, names)  # noqa: S307
        expected = ast.literal_eval(result.replace("nan", "None"))
        assert (
            [None if np.isnan(each) else each for each in value] == expected if "score(" in code else value == expected
        )
        stated += 1

    assert stated > 10
