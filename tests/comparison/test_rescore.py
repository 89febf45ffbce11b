"""BASE's answers scored again by HEAD's settings."""

from pathlib import Path

import pytest

from tasks.comparison.compare import CompareOptions, compare_versions, rescored, scores_of
from tasks.errors import ComparisonError, DataError, VersionError
from tasks.pipeline.tables import Parts, write_part
from tasks.wording import comparison_lines
from tests.comparison.sample import GATE, NORMALIZE, answers, gate, gate_on, version

OTHER = {"exact_match": {}, "f1": {"threshold": 0.75}, "bleu": {"max_order": 2}}


def test_a_changed_option_and_threshold_can_be_compared_after_all(tmp_path: Path) -> None:
    older = version(tmp_path / "a", answers("+++..-"), part_rows=2)
    newer = version(tmp_path / "b", answers("+++++."), metrics=OTHER)
    loose = gate(max_unmeasured=1.0)
    assert compare_versions(older, newer, loose)["blocked"]

    found = compare_versions(older, newer, loose, CompareOptions(rescore=True))

    [pair] = found["pairs"]
    assert pair["refused"] == []
    assert not found["blocked"]
    assert pair["measures"]["bleu"]["signature"].startswith("bleu|order:2|")
    assert comparison_lines.outcome(found).status == 0


def test_rescoring_what_is_the_same_changes_nothing(tmp_path: Path) -> None:
    older, newer = version(tmp_path / "a", answers("+.-+")), version(tmp_path / "b", answers("++.."))

    assert compare_versions(older, newer, GATE, CompareOptions(rescore=True)) == compare_versions(older, newer, GATE)


def test_a_metric_that_base_did_not_have_is_scored_too(tmp_path: Path) -> None:
    older = version(tmp_path / "a", answers("++"), metrics={"f1": {}})
    newer = version(tmp_path / "b", answers("++"))

    [pair] = compare_versions(older, newer, GATE, CompareOptions(rescore=True))["pairs"]

    assert sorted(pair["measures"]) == ["bleu", "exact_match", "f1"]


def test_texts_are_normalised_as_in_head(tmp_path: Path) -> None:
    shouted = [each | {"response": "RIGHT"} for each in answers("++")]
    metrics = {"accuracy": {}}
    older = version(tmp_path / "a", shouted, metrics=metrics)
    newer = version(tmp_path / "b", shouted, metrics=metrics, normalized=NORMALIZE | {"case": False})

    [pair] = compare_versions(older, newer, gate_on("accuracy"), CompareOptions(rescore=True))["pairs"]

    assert (pair["measures"]["accuracy"]["base"], pair["measures"]["accuracy"]["verdict"]) == (0.0, "unchanged")


def test_the_older_version_itself_is_not_touched(tmp_path: Path) -> None:
    older, newer = version(tmp_path / "a", answers("++")), version(tmp_path / "b", answers("++"), metrics=OTHER)
    before = {path: path.read_bytes() for path in (tmp_path / "a").rglob("*.parquet")}

    compare_versions(older, newer, GATE, CompareOptions(rescore=True))

    assert {path: path.read_bytes() for path in (tmp_path / "a").rglob("*.parquet")} == before


def test_without_the_normalised_texts_of_head_it_is_an_error(tmp_path: Path) -> None:
    older, newer = version(tmp_path / "a", answers("+")), version(tmp_path / "b", answers("+"))
    texts = Parts(newer.folder / "data/normalize")
    write_part(texts.part(0).replace_schema_metadata(), texts.folder, 0)

    with pytest.raises(ComparisonError, match="b: its data/normalize does not say how texts were normalised"):
        rescored(scores_of(older), newer, tmp_path / "c")


def test_without_a_table_of_words_it_is_an_error(tmp_path: Path) -> None:
    older, newer = version(tmp_path / "a", answers("+")), version(tmp_path / "b", answers("+"))
    (newer.folder / "data/lexical").rename(newer.folder / "data/other")

    with pytest.raises((VersionError, DataError), match="data/lexical"):
        compare_versions(older, newer, GATE, CompareOptions(rescore=True))
