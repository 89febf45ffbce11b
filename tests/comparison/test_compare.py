"""What a version holds, which candidates and rows are paired, and BASE's answers scored again by HEAD's settings."""

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from goldmeter.comparison.of_versions import (
    CompareOptions,
    Matched,
    compare_versions,
    match,
    pairings,
    rescored,
    scores_of,
    with_thresholds,
)
from goldmeter.errors import ComparisonError, DataError, VersionError
from goldmeter.estimates import columns
from goldmeter.pipeline.tables import Parts, write_part
from goldmeter.versions.version import Version
from goldmeter.wording import comparison_lines
from goldmeter.wording.comparison_document import ComparisonDocument
from tests.comparison.sample import GATE, NORMALIZE, answers, change_facts, drawn, gate, gate_on, row, version


def changed_ids(base: Version, head: Version) -> tuple[list[int], list[int]]:
    """Of one candidate: positions in HEAD's table of the rows that are shared, and of those whose data changed."""
    [blocks] = pairings(scores_of(base), scores_of(head), [("aurora", "aurora")], base.folder / "blocks")
    shared = [place for one in blocks for place in one.head.positions[one.head_rows].tolist()]
    return sorted(shared), sorted(place for one in blocks for place in one.head.positions[one.changed].tolist())


@pytest.mark.parametrize(
    ("base", "head", "renamed", "expected"),
    [
        (["a", "b"], ["a", "b"], {}, Matched([("a", "a"), ("b", "b")], [], [])),
        (["a", "b"], ["b", "c"], {}, Matched([("b", "b")], ["a"], ["c"])),
        (["a", "b"], ["b", "c"], {"a": "c"}, Matched([("a", "c"), ("b", "b")], [], [])),
        (["a", "b"], ["a", "b"], {"a": "b"}, Matched([("a", "b")], ["b"], ["a"])),
        (["a", "b"], ["a", "b"], {"a": "b", "b": "a"}, Matched([("a", "b"), ("b", "a")], [], [])),
        (["a"], ["a", "b"], {"a": "b"}, Matched([("a", "b")], [], ["a"])),
        (["old = 1"], ["new=[red]"], {"old = 1": "new=[red]"}, Matched([("old = 1", "new=[red]")], [], [])),
    ],
)
def test_candidates_pair_by_name_or_as_they_are_told_to(
    base: list[str], head: list[str], renamed: dict[str, str], expected: Matched
) -> None:
    assert match(base, head, renamed) == expected


@pytest.mark.parametrize(
    ("base", "head", "renamed", "message"),
    [
        (["a"], ["b"], {"x": "b"}, "--map x: BASE has no such candidate; it has a"),
        (["a"], ["b"], {"a": "x"}, "--map x: HEAD has no such candidate; it has b"),
        (["a", "b"], ["c"], {"a": "c", "b": "c"}, "two candidates of BASE can't become one of HEAD"),
        (["a"], ["b", "c"], {}, r"no candidate in common: BASE has a; HEAD has b, c\. --map OLD=NEW"),
        ([], ["b"], {}, "no candidate in common"),
        ([], [], {}, "no candidate in common"),
    ],
)
def test_names_that_do_not_pair_are_refused(
    base: list[str], head: list[str], renamed: dict[str, str], message: str
) -> None:
    with pytest.raises(ComparisonError, match=message):
        match(base, head, renamed)


def test_a_changed_question_or_reference_keeps_a_row_out(tmp_path: Path) -> None:
    newer = answers("++++")
    newer[1]["references"] = ["right", "also right"]
    newer[2]["input"] = "Another question?"

    found = changed_ids(version(tmp_path / "a", answers("++++")), version(tmp_path / "b", newer))

    assert found == ([0, 3], [1, 2])


def test_another_label_of_the_same_answer_keeps_a_row_out_and_of_a_new_answer_does_not(tmp_path: Path) -> None:
    older = answers("+++++", label=True)
    newer = answers("++..+", label=True)
    for number in (1, 2):
        newer[number]["label"] = False
    newer[4]["label"] = None  # taken back: nobody says something else

    found = changed_ids(version(tmp_path / "a", older), version(tmp_path / "b", newer))

    assert found == ([0, 2, 3, 4], [1])


def test_no_answer_twice_is_the_same_answer(tmp_path: Path) -> None:
    found = changed_ids(
        version(tmp_path / "a", answers("-+", label=True)), version(tmp_path / "b", answers("-.", label=False))
    )

    assert found == ([1], [0])


def test_versions_without_a_common_row_are_refused(tmp_path: Path) -> None:
    base = scores_of(version(tmp_path / "a", [row(1, "x")]))
    head = scores_of(version(tmp_path / "b", [row(2, "x")]))

    with pytest.raises(ComparisonError, match="a and b have no row in common"):
        pairings(base, head, [("aurora", "aurora")], tmp_path / "blocks")


def test_rows_that_all_changed_are_no_error_of_pairing(tmp_path: Path) -> None:
    newer = [each | {"input": "Another?"} for each in answers("++")]

    assert changed_ids(version(tmp_path / "a", answers("++")), version(tmp_path / "b", newer)) == ([], [0, 1])


def test_a_folder_without_tables_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "data/load").mkdir(parents=True)

    with pytest.raises(DataError, match="no table there"):
        scores_of(Version("x", tmp_path, None)).candidates({})


def test_a_table_of_another_tool_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "data/load").mkdir(parents=True)
    write_part(pa.table({"question": ["a"], "answer": ["b"]}), tmp_path / "data/load", 0)

    with pytest.raises(DataError, match=r"part-00000\.parquet"):
        scores_of(Version("x", tmp_path, None)).candidates({})


def test_scores_of_other_rows_are_an_error(tmp_path: Path) -> None:
    made = version(tmp_path / "a", answers("+++"))
    other = version(tmp_path / "b", answers("++"))
    (tmp_path / "a/data/lexical/part-00000.parquet").write_bytes(
        (tmp_path / "b/data/lexical/part-00000.parquet").read_bytes()
    )

    with pytest.raises(DataError, match="its rows are not those of data/load"):
        scores_of(made).candidates({})
    assert scores_of(other).candidates({})


def test_a_threshold_that_changed_is_put_on_the_older_scores_where_only_it_differs(tmp_path: Path) -> None:
    half = [row(number, "right and more") for number in range(3)]  # f1 = 0.5
    base = version(tmp_path / "a", half)
    head = version(tmp_path / "b", half, metrics={"f1": {"threshold": 0.6}, "bleu": {"threshold": 0.5, "max_order": 2}})
    [[found]] = pairings(scores_of(base), scores_of(head), [("aurora", "aurora")], tmp_path / "blocks")

    same = with_thresholds(found)

    older = {column.name: column for column in same.base.columns}
    before = {column.name: column for column in found.base.columns}
    newer = {column.name: column for column in same.head.columns}
    assert older["f1"].facts.rate_signature == newer["f1"].facts.rate_signature
    assert older["f1"].passed is not None
    assert older["f1"].passed.tolist() == [False, False, False]
    assert older["bleu"] is before["bleu"]
    assert older["exact_match"] is before["exact_match"]


def test_an_unmeasured_row_passes_no_threshold(tmp_path: Path) -> None:
    base, head = version(tmp_path / "a", answers("+-")), version(tmp_path / "b", answers("++"))
    change_facts(head.folder, "lexical", "f1", threshold=0.7, rate_signature="f1|other")
    [[found]] = pairings(scores_of(base), scores_of(head), [("aurora", "aurora")], tmp_path / "blocks")

    same = with_thresholds(found)

    older = next(column for column in same.base.columns if column.name == "f1")
    assert older.passed is not None
    assert (older.passed & np.isnan(older.values)).sum() == 0


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (
            ["exact_mach"],
            r"^gate\.primary: unknown measure 'exact_mach'; did you mean exact_match or exact_match\.value\? allowed: ",
        ),
        (["f1", "f1.vale"], r"^gate\.metrics: unknown measure 'f1\.vale'; did you mean f1\.value"),
        (["rouge"], r"^gate\.primary: unknown measure 'rouge'; allowed: bleu, bleu\.value, exact_match"),
    ],
)
def test_a_measure_that_neither_side_knows_is_an_error_before_anything_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: list[str], message: str
) -> None:
    one = version(tmp_path / "one", answers("++"))
    monkeypatch.setattr("goldmeter.comparison.of_versions.candidate_pairs", None)

    with pytest.raises(ComparisonError, match=message):
        compare_versions(one, one, gate_on(*names))


@pytest.fixture
def failed(tmp_path: Path) -> tuple[Version, Version]:
    """A whole version, and one whose stage `lexical` failed: DVC removed its table, dvc.yaml still names it."""
    whole, half = (version(tmp_path / name, answers("++", label=True)) for name in ("whole", "half"))
    shutil.rmtree(half.folder / "data/lexical")
    stages = {"lexical": {"cmd": "echo", "outs": ["data/lexical"]}}
    (half.folder / "dvc.yaml").write_text(json.dumps({"stages": stages}), encoding="utf-8")
    return whole, half


def test_a_table_that_a_failed_stage_left_out_is_told_whichever_version_lacks_it(
    failed: tuple[Version, Version],
) -> None:
    for pair in (failed, failed[::-1]):
        with pytest.raises(VersionError, match=r"^half: no data/lexical there\. `dvc repro` makes it"):
            compare_versions(*pair, GATE)


def test_a_table_that_a_gate_does_not_ask_for_may_be_left_out(failed: tuple[Version, Version]) -> None:
    [pair] = compare_versions(*failed, gate_on("label"))["pairs"]

    assert list(pair["measures"]) == ["label"]


def test_a_version_from_before_a_stage_lacks_its_table_without_an_error(failed: tuple[Version, Version]) -> None:
    whole, half = failed
    (half.folder / "dvc.yaml").unlink()

    [pair] = compare_versions(half, whole, GATE)["pairs"]

    assert {each["reason"] for each in pair["refused"]} == {"only there after"}


@pytest.mark.parametrize("draws", [False, True])
def test_ids_that_share_a_hash_are_compared_as_any_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, draws: bool
) -> None:
    older, newer = ("++.+", "+..-", "....", "++++"), (".+++", "++..", "...+", "+.++")
    made = (drawn(*older), drawn(*newer)[2:]) if draws else (answers("".join(older)), answers("".join(newer))[2:])
    versions = [version(tmp_path / name, rows) for name, rows in zip("ab", made, strict=True)]

    def compared() -> ComparisonDocument:
        document = compare_versions(versions[0], versions[1], GATE)
        for pair in document["pairs"]:
            pair["flips"]["worst"].sort(key=lambda each: each["id"])  # equal ones: by hash
        return document

    def weak(texts: pa.ChunkedArray) -> tuple[columns.Hashes, columns.Hashes]:
        first, second = hashed_twice(texts)
        return first & np.uint64(1), second

    expected, hashed_twice = compared(), columns.hashed_twice
    monkeypatch.setattr(columns, "hashed_twice", weak)
    assert compared() == expected
    assert expected["pairs"][0]["rows"]["shared"] == 14


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
