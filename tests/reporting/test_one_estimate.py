"""One page, one estimate: headlines, cards, columns and differences that name the same thing are the same number."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from goldmeter.console.format import points, rate
from goldmeter.estimates.headline import deciding
from goldmeter.pipeline.tables import about, describe
from goldmeter.reporting.assembly import report_files
from goldmeter.reporting.metrics_document import Aggregate, aggregate
from goldmeter.reporting.metrics_document import Params as AggregateParams
from goldmeter.reporting.settings import Report
from goldmeter.wording.conclusion import conclude
from tests.reporting import made

N, NAMES = 120, ("a", "b", "c", "d")
VERDICT = "meaning_match"


def page(folder: Path, labelled: dict[str, range], labels: str = "all") -> tuple[str, Any]:
    """A page of four systems and its document; labelled: system → its questions with a label."""
    rng = np.random.default_rng(7)
    rows, verdicts, chances = [], [], []
    for n in range(N):
        for place, name in enumerate(NAMES):
            right = bool(rng.random() < 0.5 + 0.1 * place)
            label = right if n in labelled.get(name, range(0)) else None
            rows.append(made.row(f"q{n}", name, f"x{rng.random()}", label, float(rng.random() < 0.5), 0.5))
            verdicts.append(float(right != (rng.random() < 0.1)))
            chances.append(0.9 if verdicts[-1] else 0.1)
    tables = made.tables(rows)
    known = about(tables["load"].schema)
    tables["load"] = describe(tables["load"], known | {"labels": labels})
    judge = made.score_table(rows, VERDICT, "judge", None, verdicts, [None] * len(rows))
    signature = {"signature": f"{VERDICT}|provider:offline|v:1", "rate_signature": f"{VERDICT}|provider:offline|v:1|p"}
    stated = {VERDICT: about(judge.schema)["columns"][VERDICT] | signature}
    judge = judge.append_column("judge_status", [["answered"] * len(rows)]).append_column("offline_match", [chances])
    tables["judge"] = describe(judge, {"columns": stated})
    stored = made.parts_of(tables, folder, len(rows))
    gate = made.GATE.model_copy(update={"primary": None})
    options = Aggregate(confidence=0.95, guarantee=False, max_unmeasured=0.5, pass_at=())
    [written] = aggregate(stored, AggregateParams(aggregate=options, gate=gate))
    (folder / "aggregate").mkdir()
    made.write_part(written["aggregate"], folder / "aggregate", 0)
    documents = {"reports/metrics.json": made.json.loads(written["reports/metrics.json"])}
    documents |= {f"reports/validation/{name}.json": made.validation() for name in ("load", "lexical")}
    files = report_files(
        stored | {"aggregate": made.Parts(folder / "aggregate")}, Report(**made.SECTION), documents=documents
    )
    return files["reports/index.html"], documents["reports/metrics.json"]


def section(html: str, name: str) -> str:
    """One section of a page."""
    return html.partition(f'<section id="{name}"')[2].partition("</section>")[0]


EVERY = range(N)
CASES = {
    "labels": (dict.fromkeys(NAMES, EVERY), "all"),
    "random labels": ({name: range(40) for name in NAMES}, "random"),
    "no labels": ({}, "all"),
    "labels of two": ({"a": EVERY, "b": EVERY}, "all"),
}


@pytest.mark.parametrize("case", CASES)
def test_every_difference_is_that_of_the_headlines(tmp_path: Path, case: str) -> None:
    html, document = page(tmp_path, *CASES[case])

    shown, primary = document["headlines"], document["primary"]["measure"]
    assert {one["status"] for one in shown.values()} <= {"measured", "estimated"}
    decided = [(pair, *deciding(pair, primary)) for pair in document["comparisons"]]
    assert len(decided) == 6
    for pair, measure, entry in decided:
        sides = shown[pair["base"]], shown[pair["head"]]
        own = [side for side in sides if side["measure"] == measure]
        for side, value in zip(sides, (entry["base"], entry["head"]), strict=True):
            assert side not in own or value == pytest.approx(side["value"], abs=2e-6)
        assert entry["head"] - entry["base"] == pytest.approx(entry["difference"]["value"], abs=2e-6)
        assert points(entry["difference"]["value"]) in html
    conclusion = conclude(document)
    assert conclusion is not None
    scores = section(html, "scores")
    for one in conclusion.rates:
        assert one.value == rate(shown[one.candidate]["value"])
        assert f'{one.value}</data></b> <span class="span">' in scores
        assert html.count(one.limits) >= 2


def test_two_with_labels_are_compared_by_them_though_others_have_none(tmp_path: Path) -> None:
    _, document = page(tmp_path, *CASES["labels of two"])

    primary = document["primary"]["measure"]
    by = {(pair["base"], pair["head"]): deciding(pair, primary)[0] for pair in document["comparisons"]}
    assert primary == VERDICT
    assert [pair for pair, name in by.items() if name == "label"] == [("a", "b")]
    assert document["headlines"]["a"]["measure"] == document["headlines"]["b"]["measure"] == "label"


def test_a_judges_rate_beside_labels_has_no_interval_of_its_own(tmp_path: Path) -> None:
    html, document = page(tmp_path, *CASES["labels of two"])

    for name, headline in document["headlines"].items():
        verdicts = document["candidates"][name][VERDICT]["pass_rate"]
        sampling = f"{rate(verdicts['low'])} to {rate(verdicts['high'])}"
        assert sampling not in section(html, "scores").partition("Given in the data")[0]
        if headline["measure"] == "label":
            assert "by human labels: <data" in html


def test_who_lacks_labels_is_said_first_and_who_rated_whom(tmp_path: Path) -> None:
    _, document = page(tmp_path, *CASES["labels of two"])

    conclusion = conclude(document)
    assert conclusion is not None
    assert conclusion.sentence == ("d, c (the offline judge) and b, a (human labels) cannot be told apart.")
    assert conclusion.more == (
        "Without human labels: d and c. Label them first: python -m flows.label. The judge is checked on b and a only."
    )


def test_failures_have_limits_only_where_the_headline_is_a_share_of_the_answers(tmp_path: Path) -> None:
    html, document = page(tmp_path, {name: range(40) for name in NAMES}, "random")

    failures = html.partition('<table class="failures">')[2].partition("</table>")[0]
    conclusion = conclude(document)
    assert conclusion is not None
    assert conclusion.failures_title == "Wrong answers among the labelled ones, by kind"
    assert " %" in failures
    assert "[" not in failures


def test_the_score_table_has_the_interval_of_the_headline_where_that_includes_the_judges_error(tmp_path: Path) -> None:
    html, document = page(tmp_path, {})

    for name, shown in document["headlines"].items():
        sampling = document["candidates"][name][VERDICT]["pass_rate"]
        assert shown["status"] == "estimated"
        assert html.count(f"{rate(shown['low'])} to {rate(shown['high'])}") >= 2
        assert f"{rate(sampling['low'])} to {rate(sampling['high'])}" not in html.partition('id="slices"')[0]
