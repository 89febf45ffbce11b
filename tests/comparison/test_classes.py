"""Measures of classification of two versions: the numbers of one run, shared rows only, and where they are shown."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from goldmeter.comparison.of_versions import compare_versions
from goldmeter.comparison.render import to_markdown, to_terminal
from goldmeter.statistics import FewClusters
from goldmeter.statistics.confusion import NO_CLASS, class_differences, class_measures
from goldmeter.wording.comparison_document import ComparisonDocument, PairEntry
from tests.comparison.sample import GATE, Row, row, version
from tests.reporting.made import ROWS, written

CLASSES = ["billing", "login", "other"]
TRUE = [0, 0, 0, 1, 1, 2, 2, 2, 1, 0]
BASE = [0, 1, 1, 1, NO_CLASS, 0, 2, 2, 1, 1]
HEAD = [0, 0, 1, 1, 1, 2, NO_CLASS, 2, 1, 1]
METRICS: dict[str, dict[str, Any]] = {"f1": {"threshold": 0.5}, "class_match": {"classes": CLASSES}}


def named(codes: list[int], **others: Any) -> list[Row]:
    every = zip(TRUE, codes, strict=True)
    said = [*CLASSES, "I can't say"]
    return [row(i, said[code], references=[CLASSES[true]], **others) for i, (true, code) in enumerate(every)]


def compared(
    folder: Path, base: list[Row], head: list[Row], metrics: Any = METRICS, part_rows: int = 1000
) -> ComparisonDocument:
    older = version(folder / "base", base, metrics=METRICS)
    return compare_versions(
        older,
        version(folder / "head", head, metrics=metrics, part_rows=part_rows),
        GATE.model_copy(update={"metrics": {}}),
    )


def pair_of(found: ComparisonDocument) -> PairEntry:
    [pair] = found["pairs"]
    return pair


def test_values_and_differences_are_those_of_the_statistics(tmp_path: Path) -> None:
    found = pair_of(compared(tmp_path, named(BASE), named(HEAD)))["classes"]["class_match"]

    assert found["n"] == 10
    for side, codes in (("base", BASE), ("head", HEAD)):
        for name, one in class_measures(TRUE, codes, 3).measures.items():
            assert found[side][name] == pytest.approx(one.value, abs=1e-6)  # type: ignore[literal-required]
    for name, one in class_differences(TRUE, BASE, HEAD, 3).items():
        shown = found["measures"][name]
        assert (shown["value"], shown["low"], shown["high"]) == pytest.approx(one[:3], abs=1e-6)


def test_rows_of_one_version_with_other_data_or_without_response_are_left_out(tmp_path: Path) -> None:
    base, head = named(BASE), named(HEAD)[1:]
    head[0]["references"] = ["other"]
    head[1]["response"] = None

    found = pair_of(compared(tmp_path, base, head[::-1]))["classes"]["class_match"]

    assert found["n"] == 7
    expected = class_differences(TRUE[3:], BASE[3:], HEAD[3:], 3)["kappa"].value
    assert found["measures"]["kappa"]["value"] == pytest.approx(expected, abs=1e-6)


def test_groups_and_parts(tmp_path: Path) -> None:
    clusters = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    rows = [[one | {"group": f"g{g}"} for one, g in zip(named(codes), clusters, strict=True)] for codes in (BASE, HEAD)]

    found = pair_of(compared(tmp_path / "parts", *rows, part_rows=3))
    whole = pair_of(compared(tmp_path / "whole", *rows))

    with pytest.warns(FewClusters):
        expected = class_differences(TRUE, BASE, HEAD, 3, clusters)["macro_f1"]
    assert found["classes"] == whole["classes"]
    assert found["classes"]["class_match"]["measures"]["macro_f1"]["low"] == pytest.approx(expected.low, abs=1e-6)


def test_other_classes_are_not_compared(tmp_path: Path) -> None:
    other = METRICS | {"class_match": {"classes": [*CLASSES, "spam"]}}

    assert "classes" not in pair_of(compared(tmp_path, named(BASE), named(HEAD), other))


def test_data_without_classes_have_none(tmp_path: Path) -> None:
    metrics = {"f1": {"threshold": 0.5}}
    base, head = (version(tmp_path / name, named(BASE), metrics=metrics) for name in ("base", "head"))

    found = compare_versions(base, head, GATE.model_copy(update={"metrics": {}}))

    assert "classes" not in pair_of(found)


def test_they_stand_on_the_terminal_and_in_the_comment_with_what_weights_do(tmp_path: Path) -> None:
    found = compared(tmp_path, named(BASE, weight=1.0), named(HEAD, weight=2.0))
    console = Console(width=100, record=True, file=StringIO())

    to_terminal(found, console)
    shown, comment = console.export_text(), to_markdown(found)
    html = written(ROWS, tmp_path / "page", comparison=found)["reports/index.html"]

    assert "classes, by class_match: 10 rows" in shown
    assert "Balanced accuracy" in shown
    assert "<summary>classes, by class_match: 10 rows</summary>" in comment
    assert "| Cohen's kappa | 0.30 | 0.58 | +0.28 \\[" in comment
    assert "<caption>Classes, by class_match: 10 rows</caption>" in html
    assert all("dataset.weight does not weight measures of classes" in text for text in (shown, comment, html))
