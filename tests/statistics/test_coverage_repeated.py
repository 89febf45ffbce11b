"""How often intervals of pass@k and pass^k contain the truth: one cell of each kind. `make coverage` has them all."""

import json

import numpy as np
import pytest

from benchmarks.coverage import repeated
from tests.small_project import ROOT

DRAWS = 300


@pytest.mark.parametrize("shape", repeated.SHAPES)
def test_shapes_have_the_values_they_say(shape: str) -> None:
    p = repeated.rates(shape, np.random.default_rng(0), 100_000)

    assert (1.0 - (1.0 - p) ** 5).mean() == pytest.approx(repeated.Design("at", shape, 5, 10, 20).truth, abs=0.006)
    assert (p**5).mean() == pytest.approx(repeated.Design("all", shape, 5, 10, 20).truth, abs=0.006)


@pytest.mark.parametrize("kind", ["at", "all"])
def test_repeated_answers_are_covered(kind) -> None:
    assert repeated.coverage(repeated.Design(kind, "U-shaped", 5, 10, 20), DRAWS).reached
    assert repeated.coverage(repeated.Design(kind, "all pass", 10, 10, 100), DRAWS).measured == 1.0


def test_shares_put_into_the_formula_are_not_covered() -> None:
    cells = {cell.name.partition(":")[0]: cell.measured for cell in repeated.peers(50) if "uniform" in cell.name}

    assert min(cells.values()) < 0.9


def test_the_page_says_what_was_measured() -> None:
    page = (ROOT / "docs/explanation/repeated-answers.md").read_text(encoding="utf-8")
    cells = json.loads((ROOT / "reports/coverage.json").read_text(encoding="utf-8"))["sections"]["repeated"]["cells"]
    own = [cell for cell in cells if cell["sense"] == "at least"]
    single = [cell["measured"] for cell in own if cell["topic"] != repeated.PAIRED]
    paired = [cell["measured"] for cell in own if cell["topic"] == repeated.PAIRED]
    normal = [cell["measured"] for cell in cells if cell["name"].startswith("±")]

    said = " ".join(page.split())
    assert f"{len(single)} designs ({len(repeated.SHAPES)} shapes" in said
    assert (
        f"lowest coverage of a 95 % interval is {min(single):.1%}".replace("%", " %").replace("95  %", "95 %") in said
    )
    assert f"goes down to {min(normal):.0%}".replace("%", " %") in said
    assert f"covered in {min(paired):.1%}".replace("%", " %") in said
    assert min(single) >= 0.94
