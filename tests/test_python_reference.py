"""The examples of docs/reference/python.md print what the page says."""

import contextlib
import inspect
import io
from itertools import pairwise

from goldmeter import scores
from tests.documents import blocks
from tests.small_project import ROOT

PAGE = ROOT / "docs/reference/python.md"
EXAMPLES = blocks(PAGE)


def test_each_example_prints_what_stands_below_it() -> None:
    names: dict[str, object] = {}
    shown = []
    for code, output in pairwise(EXAMPLES):
        if code.kind == "python":
            text = io.StringIO()
            with contextlib.redirect_stdout(text):
                exec(compile(code.text, "docs/reference/python.md", "exec"), names)  # noqa: S102 (our own page)
            shown.append((text.getvalue(), output.text))

    assert len(shown) == sum(block.kind == "python" for block in EXAMPLES) == 5
    assert [printed for printed, _ in shown] == [stated for _, stated in shown]


def test_the_signature_of_scores_is_that_of_the_code() -> None:
    given = inspect.signature(scores)
    plain = [each.replace(annotation=inspect.Parameter.empty) for each in given.parameters.values()]
    signature = given.replace(parameters=plain, return_annotation=inspect.Signature.empty)

    assert f"`scores{signature}`" in " ".join(PAGE.read_text(encoding="utf-8").split())
