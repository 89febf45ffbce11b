"""Parallel text files, and columns of translations and summaries."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goldmeter.dataset.joined import questions
from goldmeter.dataset.proposal.command import parser
from goldmeter.dataset.proposal.given import Chosen, Sample
from goldmeter.dataset.proposal.inputs import propose_for
from goldmeter.dataset.proposal.proposal import Proposal, propose
from goldmeter.dataset.settings import Dataset, Load, Params
from goldmeter.dataset.sources import Record
from goldmeter.dataset.table import tables
from goldmeter.errors import DataError

LOAD = Load(part_rows=50_000, max_chars=100_000, max_rejected=1.0, require_references=True)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def files(**texts: str) -> None:
    Path("mt").mkdir(exist_ok=True)
    for name, text in texts.items():
        Path("mt", f"{name.replace('_', '.')}.txt").write_bytes(text.encode())


def rows(proposal: Proposal) -> list[dict[str, Any]]:
    params = Params(dataset=Dataset.model_validate(dict(proposal.options)), load=LOAD)
    return [row for part in tables(questions(params), params) for row in part["load"].to_pylist()]


def test_files_named_by_their_roles_are_a_data_set() -> None:
    files(src="\ufeffDer Hund.\r\nDie Katze.\r\n", ref="The dog.\nThe cat.", log="x")
    files(hyp_a="The dog.\n\n", hyp_b="A.\nB.\n")
    options = "--input mt/src.txt --references mt/ref.txt --candidate a=mt/hyp.a.txt --candidate b=mt/hyp.b.txt"
    named = parser().parse_args(options.split())

    proposal = propose_for([], None, Chosen(named.id, named.input, named.references, named.candidates))

    assert proposal.options["path"] == "mt"
    assert proposal.options["pattern"] == ["src.txt", "ref.txt", "hyp.a.txt", "hyp.b.txt"]
    assert [(row["input"], row["references"], row["candidate"], row["response"]) for row in rows(proposal)] == [
        ("Der Hund.", ["The dog."], "a", "The dog."),
        ("Der Hund.", ["The dog."], "b", "A."),
        ("Die Katze.", ["The cat."], "a", ""),
        ("Die Katze.", ["The cat."], "b", "B."),
    ]
    assert proposal.notes == []


@pytest.mark.parametrize("names", [("src", "ref", "hyp"), ("source", "reference", "mt"), ("src", "ref", "s.output")])
def test_roles_of_files_and_of_a_folder_are_found_by_their_names(names: tuple[str, str, str]) -> None:
    files(**{name.replace(".", "_"): f"{name} 1\n{name} 2\n" for name in names})

    by_file = propose_for([f"mt/{name}.txt" for name in names], None, Chosen())
    by_folder = propose_for(["mt"], None, Chosen())

    assert [by_file.options[name] for name in ("id", "input", "references")] == ["line", *names[:2]]
    assert [one["response"] for one in by_file.options["candidates"].values()] == [names[2]]
    assert rows(by_file) == rows(by_folder)
    assert by_folder.options["pattern"] == "*"


def test_without_a_source_the_line_is_the_id() -> None:
    files(ref="The dog.\nThe dog.\n", hyp="The dog.\nA dog.\n")

    proposal = propose_for([], None, Chosen(references=["mt/ref.txt"], candidates=["mt/hyp.txt"]))

    found = [(row["id"], row["input"], row["response"]) for row in rows(proposal)]
    assert found == [("1", None, "The dog."), ("2", None, "A dog.")]


def test_repeated_segments_stay_rows() -> None:
    files(src="Ja.\nJa.\nJa.\n", ref="Yes.\nYes.\nYes.\n", hyp="Yes.\nYeah.\nYes.\n")

    assert [row["response"] for row in rows(propose_for(["mt"], None, Chosen()))] == ["Yes.", "Yeah.", "Yes."]


@pytest.mark.parametrize("short", ["src", "ref", "hyp"])
def test_a_file_with_fewer_lines_is_named_with_the_first_row_that_lacks_one(short: str) -> None:
    files(**(dict.fromkeys(["src", "ref", "hyp"], "a\nb\nc\n") | {short: "a\nb\n"}))

    with pytest.raises(DataError, match=rf"mt/{short}\.txt: 2 lines, but .* has 3: the first without .* line 3"):
        propose_for(["mt"], None, Chosen())


def test_no_data_is_told_with_both_ways() -> None:
    with pytest.raises(DataError, match="name DATA, or parallel text files: --input"):
        propose_for([], None, Chosen())


LINE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n\0"), max_size=6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.lists(st.tuples(LINE, LINE, LINE), min_size=1, max_size=4), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_every_line_with_a_reference_is_a_row(texts: list[tuple[str, str, str]], end: str, bom: bool) -> None:
    texts = [("Start", "start", "begin"), *texts]
    for name, column in zip(("src", "ref", "hyp"), zip(*texts, strict=True), strict=True):
        files(**{name: "\ufeff" * bom + end.join(column) + end})

    found = rows(propose_for(["mt/src.txt", "mt/ref.txt", "mt/hyp.txt"], None, Chosen(draw="", group="", slices=[])))

    assert [row["response"] for row in found] == [hyp for src, ref, hyp in texts if ref.strip()]


def of(*columns: str, number: int = 6) -> Proposal:
    records = [Record("x", line, {name: f"{name} {line}" for name in columns}) for line in range(number)]
    return propose("x.csv", Sample(records, "*", complete=True), Chosen())


@pytest.mark.parametrize(
    ("columns", "roles", "systems"),
    [
        ("source mt ref", "source ref", ["model"]),
        ("src ref hyp_a hyp_b", "src ref", ["a", "b"]),
        ("src reference hypothesis", "src reference", ["model"]),
        ("source target prediction", "source target", ["model"]),
        ("source human_translation machine_translation", "source human_translation", ["machine"]),
        ("article highlights summary", "article highlights", ["model"]),
        ("document summary generated_summary", "document summary", ["model"]),
        ("document summary summary_T5 summary_BART", "document summary", ["T5", "BART"]),
        ("article reference_summary pegasus_summary", "article reference_summary", ["pegasus"]),
    ],
)
def test_columns_of_translations_and_summaries(columns: str, roles: str, systems: list[str]) -> None:
    options = of(*columns.split()).options

    assert [options["input"], options["references"]] == roles.split()
    assert [*options["candidates"]] == systems


def test_one_prompt_for_all_is_not_the_input() -> None:
    row = {"prompt": "Summarise:", "highlights": "h", "output": "o"}
    records = [Record("x", line, row | {"article": f"A{line}"}) for line in range(4)]

    assert propose("x", Sample(records, "*", complete=True), Chosen()).options["input"] == "article"


def test_the_source_of_a_question_is_no_input() -> None:
    row = {"source": "wiki", "gold": "g", "output": "o"}
    records = [Record("x", line, row | {"id": str(line)}) for line in range(4)]

    assert propose("x", Sample(records, "*", complete=True), Chosen()).options["input"] is None
