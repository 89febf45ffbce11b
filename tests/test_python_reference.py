"""The examples of docs/reference/python.md print what the page says."""

import contextlib
import io
from itertools import pairwise

from tests.documents import blocks
from tests.small_project import ROOT

EXAMPLES = blocks(ROOT / "docs/reference/python.md")


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
