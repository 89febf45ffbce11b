import gzip
import json
import re
from base64 import b64decode, b64encode
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.console.format import number, shown
from goldmeter.estimates.columns import score_columns
from goldmeter.pipeline.workers import Crew
from goldmeter.reporting import chosen_rows
from goldmeter.reporting.explorer import explorer, pack, packing_of, room
from goldmeter.reporting.notable_rows import RunColumns
from goldmeter.reporting.page import FOLDER
from goldmeter.reporting.row_texts import row_name
from goldmeter.reporting.run_summary import summary_of
from goldmeter.reporting.score_tables import FAMILIES
from goldmeter.reporting.settings import Report
from tests.reporting.made import ROWS, SECTION, load_table, parts_of, row, tables, with_score, written

PAGE = "reports/index.html"
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
MIXED = [
    row(f"q{i:02}", name, f"answer {i}", None, i / 40, i / 40) for i in range(40) for name in ("aurora", "borealis")
]


def explored(rows, folder, part_rows=100, limit=1000, max_chars=200, extra=(), whole=None, **more):
    """The payload of these rows, where semantic_similarity leads."""
    made = parts_of(tables(rows) | dict(extra), folder, part_rows)
    given = {name: made[name] for name in FAMILIES}
    facts = {name: {one.name: one.facts for one in score_columns(table)} for name, table in given.items()}
    names, first = sorted({each["candidate"] for each in rows}), "semantic_similarity"
    options = Report(**(SECTION | {"rows_to_look_at": 0, "answers": limit, "max_chars": max_chars}))
    summary = summary_of(RunColumns(given, {}, names, None, first, first), facts, {}, options, Crew())
    packing = packing_of(summary, max_chars)
    return explorer(packing._replace(whole=whole) if whole else packing, **more)


def unpacked(payload):
    return json.loads(gzip.decompress(b64decode(payload, validate=True)))


def of(document, key, candidate):
    """Where the answer of a candidate stands."""
    names = [each["name"] for each in document["candidates"]]
    pairs = zip(document["asked"], document["candidate"], strict=True)
    return [(document["ids"][asked], names[who]) for asked, who in pairs].index((key, candidate))


def metric(document, name):
    return next(each for each in document["metrics"] if each["name"] == name)


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    return unpacked(explored(ROWS, tmp_path_factory.mktemp("explorer")).payload)


def test_it_holds_every_answer_once_with_its_texts_and_label(document):
    there = of(document, "q2", "aurora")

    assert [each["name"] for each in document["candidates"]] == ["aurora", "borealis"]
    assert sorted(document["ids"]) == ["q1", "q2", "q3", "q4"]
    assert len(document["responses"]) == len(document["labels"]) == 8
    assert (document["responses"][there], document["lengths"][there], document["labels"][there]) == (
        "The capital",
        11,
        "r",
    )
    assert document["inputs"] == ["What?"] * 4
    assert document["references"] == [["Paris"]] * 4
    assert document["more"] == [0, 0, 0, 0]


def test_scores_stand_with_what_became_of_them(document):
    f1, meaning = metric(document, "f1"), metric(document, "semantic_similarity")

    assert (f1["family"], f1["rule"], f1["judge"]) == ("Words and characters", "passes from 0.5", False)
    assert [f1["scores"][of(document, "q4", name)] for name in ("aurora", "borealis")] == [0.25, 1.0]
    assert [f1["results"][of(document, "q4", name)] for name in ("aurora", "borealis")] == ["f", "p"]
    assert meaning["scores"][of(document, "q3", "borealis")] is None
    assert meaning["results"][of(document, "q3", "borealis")] == "u"


def test_a_metric_that_nobody_asked_is_left_out(document):
    assert [each["name"] for each in document["metrics"]] == ["f1", "semantic_similarity"]
    assert document["first"] == "semantic_similarity"


def test_a_score_without_a_threshold_neither_passes_nor_fails(tmp_path):
    found = unpacked(explored(ROWS, tmp_path, extra={"load": with_score(load_table(ROWS))}).payload)

    assert (metric(found, "score_toxicity")["rule"], metric(found, "score_toxicity")["results"]) == ("", "-" * 8)


def test_reasons_and_kinds_name_their_answers(document):
    (told,) = document["reasons"]
    wrong = next(
        each for each in document["kinds"] if each["title"] == "Labelled wrong, but semantic_similarity passes"
    )

    assert told == {
        "metric": "semantic_similarity",
        "answers": [of(document, "q3", "borealis")],
        "texts": [{"facts": [["unmeasured", "no vector"]], "note": ""}],
    }
    assert wrong["answers"] == [of(document, "q1", "borealis")]
    assert wrong["why"] == ["Labelled wrong, but semantic_similarity passes it."]


def test_slice_values_stand_the_commonest_first(document):
    (topic,) = document["slices"]

    assert (topic["name"], topic["values"]) == ("topic", ["words", "names", "places"])
    assert dict(zip(document["ids"], topic["codes"], strict=True)) == {"q1": 2, "q2": 0, "q3": 0, "q4": 1}


def test_weights_stand_beside_the_ids_where_there_are_any(document, tmp_path):
    rows = [one | {"weight": float(one["id"][1:]) / 4} for one in ROWS]

    found = unpacked(explored(rows, tmp_path).payload)

    assert dict(zip(found["ids"], found["weights"], strict=True)) == {"q1": 0.25, "q2": 0.5, "q3": 0.75, "q4": 1.0}
    assert document["weights"] == []


def test_missing_values_and_texts_are_said_and_are_no_values_that_read_so(tmp_path):
    topics = ["(none)", None, "(none)", "words"]
    rows = [row(f"q{i}", "aurora", "Paris", None, 0.5, 0.5, topic=topic) for i, topic in enumerate(topics)]
    rows[1] |= {"response": None, "input": None, "references": ()}

    found = unpacked(explored(rows, tmp_path).payload)
    bare = found["ids"].index("q1")

    assert found["slices"][0]["values"] == ["(none)", None, "words"]
    assert dict(zip(found["ids"], found["slices"][0]["codes"], strict=True)) == {"q0": 0, "q1": 1, "q2": 0, "q3": 2}
    assert (found["inputs"][bare], found["references"][bare]) == (None, [])
    assert (found["responses"][of(found, "q1", "aurora")], found["lengths"][of(found, "q1", "aurora")]) == (None, 0)


def test_small_scores_keep_their_significant_digits(tmp_path):
    scores = [1.23456789e-8, -1.23456789e-8, -0.0, 0.123456789, 123456.789]
    rows = [row(f"q{i}", "aurora", "Paris", None, 0.5, 0.5) for i in range(len(scores))]
    load = with_score(load_table(rows))
    metadata = load.schema.metadata
    load = load.set_column(load.num_columns - 1, "score_toxicity", pa.array(scores)).replace_schema_metadata(metadata)

    found = unpacked(explored(rows, tmp_path, extra={"load": load}).payload)
    kept = dict(zip(found["ids"], metric(found, "score_toxicity")["scores"], strict=True))

    assert [str(kept[f"q{i}"]) for i in range(5)] == ["1.23457e-08", "-1.23457e-08", "0.0", "0.123457", "123457.0"]


def test_a_score_reads_as_if_rounded_once(tmp_path):
    scores = [0.31250001, 0.31249999, 0.3125]
    rows = [row(f"q{i}", "aurora", "Paris", None, score, 0.5) for i, score in enumerate(scores)]

    found = unpacked(explored(rows, tmp_path).payload)
    kept = dict(zip(found["ids"], metric(found, "f1")["scores"], strict=True))

    assert [number(kept[f"q{i}"]) for i in range(3)] == [*map(number, scores)] == ["0.313", "0.312", "0.312"]


def test_candidates_that_begin_alike_are_told_apart(tmp_path):
    names = [f"{'n' * 90}{number}" for number in (1, 2)]
    rows = [ROWS[0] | {"candidate": name} for name in names]

    found = unpacked(explored(rows, tmp_path).payload)

    assert [each["name"] for each in found["candidates"]] == [f"{'n' * 39}…{'n' * 39}{number}" for number in (1, 2)]


def test_the_same_answers_make_the_same_payload_whatever_their_order_and_parts(tmp_path):
    made = [
        explored(rows, tmp_path / str(number), part_rows)
        for number, (rows, part_rows) in enumerate([(ROWS, 8), (ROWS[::-1], 3), (ROWS[3:] + ROWS[:3], 1)])
    ]

    assert made[0] == made[1] == made[2]
    assert b64decode(made[0].payload)[4:8] == bytes(4)  # gzip's time of modification
    assert str(tmp_path) not in json.dumps(unpacked(made[0].payload))


def test_long_texts_are_cut_with_a_note_of_their_length(tmp_path):
    rows = [ROWS[0] | {"input": "i" * 51, "response": "a" * 1000, "references": ("r" * 50,) * 12}]

    found = unpacked(explored(rows, tmp_path, max_chars=50).payload)
    assert found["fold"] == 50
    assert (found["responses"], found["inputs"], found["references"]) == (["a" * 1000], ["i" * 51], [["r" * 50] * 10])

    found = unpacked(explored(rows, tmp_path / "cut", max_chars=50, whole=50).payload)
    assert found["responses"] == [["a" * 50 + "…", "cut: the first 50 of 1,000 characters"]]
    assert found["lengths"] == [1000]
    assert found["inputs"] == [["i" * 50 + "…", "cut: the first 50 of 51 characters"]]
    assert (found["references"], found["more"]) == ([["r" * 50] * 10], [2])


def test_texts_are_cut_before_answers_are_left_out(tmp_path):
    letters = Random(7)  # noqa: S311 (what does not compress)
    rows = [ROWS[0] | {"id": f"q{i}", "response": b64encode(letters.randbytes(3000)).decode()} for i in range(9)]
    whole = explored(rows, tmp_path / "whole", max_chars=100)

    some = explored(rows, tmp_path / "some", max_chars=100, most=len(whole.payload) - 1)

    assert (whole.answers, some.answers) == (9, 9)
    assert {len(text) for text in unpacked(whole.payload)["responses"]} == {4000}
    assert {note for _, note in unpacked(some.payload)["responses"]} == {"cut: the first 100 of 4,000 characters"}


def test_each_answer_has_the_name_by_which_a_sheet_of_labels_knows_it(document):
    there = of(document, "q2", "aurora")
    texts = {"id": "q2", "candidate": "aurora", "input": "What?", "references": ["Paris"], "response": "The capital"}

    assert document["names"][there] == row_name(texts)
    assert re.fullmatch(r"page-8-of-8-[0-9a-f]{8}", document["sheet"])


def test_what_does_not_fit_is_left_out_in_whole_ids_the_worst_stay(tmp_path):
    whole = explored(MIXED, tmp_path / "whole")
    most = len(whole.payload) * 3 // 4

    some = explored(MIXED, tmp_path / "some", most=most)
    found, every = unpacked(some.payload), unpacked(whole.payload)

    assert (whole.answers, whole.total, some.total) == (80, 80, 80)
    assert len(some.payload) <= most
    assert some.answers == len(found["responses"]) == 2 * len(found["ids"])
    assert 20 < some.answers < 80
    assert found["ids"] == every["ids"][: len(found["ids"])]
    assert found["ids"][:4] == ["q00", "q01", "q02", "q03"]  # the lowest scores


def test_the_rows_whose_texts_fit_do_not_depend_on_the_parts(tmp_path, monkeypatch):
    whole = explored(MIXED, tmp_path / "whole").payload
    monkeypatch.setattr(chosen_rows, "MOST_CHARACTERS", 300)

    found = unpacked(explored(MIXED, tmp_path / "some", part_rows=7).payload)

    assert 0 < len(found["ids"]) < 20
    assert found["ids"] == [f"q{number:02}" for number in range(len(found["ids"]))] == unpacked(whole)["ids"][:10]
    assert len(found["responses"]) == 2 * len(found["ids"])


@pytest.mark.parametrize(
    ("rest", "left"),
    [("", 7_500_000), ("r" * 3_000_000, 6_950_000), ("é" * 3_000_000, 3_950_000), ("r" * 9_000_000, 2_000_000)],
)
def test_the_answers_have_what_the_rest_of_the_page_leaves(rest, left):
    assert room(rest) == left


def test_a_page_of_long_texts_is_smaller_than_ten_megabytes_and_full(tmp_path):
    letters = Random(5)  # noqa: S311 (what does not compress)

    def some():
        return b64encode(letters.randbytes(3000), b"xy").decode()

    rows = [
        row(f"q{i}", name, some(), None, i / 200, i / 200, input=some(), references=(some(),))
        for i in range(200)
        for name in "abcdefghij"
    ]
    section = {"max_chars": 4000, "rows_to_look_at": 80, "answers": 20_000}
    html = written(rows, tmp_path, part_rows=1000, section=section)[PAGE]
    payload = re.search(r'id="answers">([^<]*)<', html)[1]

    assert len(html) - len(payload) > 3_000_000
    assert 9_700_000 < len(html.encode()) < 10_000_000


@pytest.mark.parametrize("limit", [0, 1])
def test_without_room_for_one_whole_id_there_is_no_explorer(tmp_path, limit):
    assert explored(ROWS, tmp_path, limit=limit) is None


def test_the_page_says_how_many_answers_it_holds_and_where_the_others_are(tmp_path):
    html = written(ROWS, tmp_path, section={"answers": 4})[PAGE]
    said = re.sub(r"<[^>]*>", "", html)

    assert "4 of 8 answers, those worth reading first; the others are in data/load, data/lexical" in said
    assert len(unpacked(re.search(r'id="answers">([^<]*)<', html)[1])["responses"]) == 4


def test_what_hides_or_reorders_is_spelled_out_and_markup_stays_text(tmp_path):
    hostile = "</script><!--<script>\u202egnp.exe \x00\x1b[31m"
    rows = [ROWS[0] | {"id": hostile, "response": hostile, "candidate": hostile, "topic": hostile}]
    rows[0] |= {"input": hostile, "references": (hostile,)}

    made = explored(rows, tmp_path)
    found, expected = unpacked(made.payload), "</script><!--<script>⟨U+202E⟩gnp.exe ⟨U+0000⟩⟨U+001B⟩[31m"

    assert re.fullmatch(r"[A-Za-z0-9+/]*=*", made.payload)
    assert found["ids"] == found["inputs"] == found["responses"] == found["slices"][0]["values"] == [expected]
    assert (found["references"], found["candidates"][0]["name"]) == ([[expected]], expected)


def test_a_word_of_a_million_characters_costs_as_much_as_its_first(tmp_path):
    assert len(explored([ROWS[0] | {"response": "Z" * 1_000_000}], tmp_path).payload) < 3_000


@given(st.dictionaries(TEXTS, st.lists(st.one_of(TEXTS, st.none(), st.floats(allow_nan=False, allow_infinity=False)))))
def test_packing_loses_nothing_and_is_the_same_each_time(content):
    assert unpacked(pack(content)) == content
    assert pack(content) == pack(content)


@given(texts=st.lists(st.one_of(st.none(), TEXTS), min_size=1, max_size=6), part_rows=st.integers(1, 4))
def test_any_text_comes_back_as_a_page_shows_it(tmp_path_factory, texts, part_rows):
    rows = [row(f"q{i}", "aurora", text, None, 0.5, 0.5, input=text) for i, text in enumerate(texts)]

    found = unpacked(explored(rows, tmp_path_factory.mktemp("any"), part_rows, max_chars=10, whole=10).payload)

    expected = {f"q{i}": None if text is None else shown(text, 10) for i, text in enumerate(texts)}
    for key, answer in zip(found["ids"], found["responses"], strict=True):
        cut = expected[key]
        assert answer == (None if cut is None else [cut.shown, cut.note] if cut.note else cut.shown)


def test_no_cell_of_the_export_begins_like_a_formula() -> None:
    script = (FOLDER / "sections/csv_cell.js").read_text(encoding="utf-8")
    [defused] = re.findall(r"text\.replace\(/(\^.*?)/, \"'\$&\"\)", script)

    for sign in "=+-@＝＋－＠\t\r\n":
        assert re.search(defused, f"{sign}1+1")
        assert sign.isspace() or all(re.search(defused, f"{before}{sign}1+1") for before in (" ", "\u00a0 "))
    assert not re.search(defused, "a =1+1")
