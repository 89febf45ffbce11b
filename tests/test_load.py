"""The load stage: the mapping from records to rows, what is rejected and why, and that nothing is lost."""

import datetime as dt
import json
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from goldmeter.comparison.of_versions import compare_versions
from goldmeter.dataset.settings import Dataset, Load, Params
from goldmeter.dataset.sources import Record
from goldmeter.dataset.table import REJECTED, schema
from goldmeter.errors import DataError, ParamsError
from goldmeter.pipeline import validation
from goldmeter.pipeline.tables import about, write_part
from goldmeter.pipeline.yaml import parse_yaml
from goldmeter.versions.version import Version
from tasks.load import counts, expect, load, source
from tests.comparison.sample import gate_on
from tests.dataset.mappings import LIMITS
from tests.dataset.mappings import MAPPING as ANY

MAPPING = ANY | {"path": "answers.jsonl", "pattern": None}
PARIS = {"id": "1", "q": "Capital of France?", "ref": "Paris", "a": "Paris."}
TWO = {"m": {"response": "a"}, "n": {"response": "b"}}


def params(*, limits=None, **mapping):
    return Params(dataset=MAPPING | mapping, load=LIMITS | (limits or {}))


def records(*values):
    return [Record("answers.jsonl", line, each) for line, each in enumerate(values, 1)]


def loaded(values, **options):
    """The rows and the rejected rows of all parts."""
    parts = list(load(records(*values), params(**options)))
    return [[row for part in parts for row in part[name].to_pylist()] for name in ("load", "load_rejected")]


def column(name, values, **options):
    return [row[name] for row in loaded(values, **options)[0]]


def test_printed_lists_lose_their_nulls_and_are_rejected_if_cut():
    values = [PARIS | {"id": str(i), "ref": ref} for i, ref in enumerate(["['a', None]", '["a", null]', "[...]"])]
    assert column("references", values) == [["a"], ["a"], ["[...]"]]
    assert reasons([PARIS | {"ref": "['a' 'b' ... 'c']"}]) == [
        "\"['a' 'b' ... 'c']\": a list of which a part was cut out when it was printed"
    ]


def reasons(values, **options):
    return [row["reason"] for row in loaded(values, **options)[1]]


def refusal(values, **options):
    with pytest.raises(DataError) as caught:
        loaded(values, **options)
    return str(caught.value)


# rows


def test_a_row_for_each_candidate():
    values = PARIS | {
        "b": None,
        "ok": "true",
        "who": "u1",
        "lang": "fr",
        "level": None,
        "must": ["Par", " "],
        "s": "0.5",
    }
    mapping = {
        "candidates": {"m": {"response": "a", "label": "ok"}, "n": {"response": "b"}},
        "group": "who",
        "slices": ["lang", "level"],
        "phrases": "must",
        "scores": {"tone": "s"},
    }

    (part,) = load(records(values), params(**mapping))

    content = sha256(b'["Capital of France?",["Paris"]]').hexdigest()
    row = {
        "id": "1",
        "candidate": "m",
        "input": "Capital of France?",
        "response": "Paris.",
        "references": ["Paris"],
        "label": True,
        "label_status": None,
        "group": "u1",
        "slices": {"lang": "fr", "level": None},
        "phrases": ["Par"],
        "score_tone": 0.5,
        "content": content,
    }
    other = {"candidate": "n", "response": None, "label": None}
    assert part["load"].to_pylist() == [row, row | other]
    assert list(part["load"].schema.names) == list(row)
    assert part["load"].schema.remove_metadata() == schema(params(**mapping))
    assert part["load_rejected"].num_rows == 0
    assert part["load_rejected"].schema == REJECTED


def test_the_schema_without_slices_and_scores():
    assert schema(params()).names == [
        "id", "candidate", "input", "response", "references", "label", "label_status", "group", "phrases", "content",
    ]  # fmt: skip


def test_a_column_that_some_records_lack_is_null_there():
    assert column("response", [PARIS, {"id": "2", "q": "?", "ref": "x"}]) == ["Paris.", None]


@pytest.mark.parametrize(
    ("given", "separator", "expected"),
    [
        ("Paris", None, ["Paris"]),
        (" a/b ", None, [" a/b "]),
        (" a / b/a// ", "/", ["a", "b", "a"]),
        (["a/b", " ", None, "c "], "/", ["a/b", "c "]),
        ("7", "/", ["7"]),
        ("a \r\n b\n\n", "\n", ["a", "b"]),
        ("['a', \"it's\"]", None, ["a", "it's"]),
        ("['a / b', 'c',]", "/", ["a / b", "c"]),
        (r"['\\', '\'', 'é\n']", None, ["\\", "'", "é\n"]),
        ("['a' 'b'\n 'c']", None, ["a", "b", "c"]),
        ('["a", "b"]', None, ["a", "b"]),
        ("['a']x", None, ["['a']x"]),
        ("['a', 1]", None, ["['a', 1]"]),
        ("['a'", None, ["['a'"]),
        ("[sic]", None, ["[sic]"]),
        (r"['\x']", None, [r"['\x']"]),
        ("['a'.b]", None, ["['a'.b]"]),
        ('{"total": 1.50, "lines": [{"n": 1}]}', None, ['{"total": 1.50, "lines": [{"n": 1}]}']),
    ],
)
def test_references(given, separator, expected):
    assert column("references", [PARIS | {"ref": given}], reference_separator=separator) == [expected]


def test_references_in_several_columns() -> None:
    values = [PARIS | {"ref": "a/b", "ref2": None, "ref3": ["c", " "]}]

    assert column("references", values, references=["ref3", "ref", "ref2"], reference_separator="/") == [
        ["c", "a", "b"]
    ]


def test_a_text_that_begins_like_a_list_is_read_in_no_time() -> None:
    hostile = ["[" * 40_000, "['a'" + " " * 40_000 + "x", "['" * 20_000, "['" + "\\" * 40_000, "['a'," * 9_999]

    values = [PARIS | {"id": str(n), "ref": text} for n, text in enumerate(hostile)]

    assert column("references", values, limits={"max_chars": 100_000}) == [[text] for text in hostile]


@given(st.lists(st.text(max_size=9)), st.sampled_from([repr, json.dumps]))
def test_a_printed_list_is_read_again(texts, printed):
    text = printed(texts)
    [found] = column("references", [PARIS | {"ref": text}], limits={"max_chars": 999, "require_references": False})

    assert found == [each for each in texts if each.strip()]


def test_every_mapped_column_may_be_nested() -> None:
    values = {
        "id": {"n": "1"},
        "doc": {"q": "?", "refs": ["a"], "skip": "no", "must": ["b"], "thread": "t", "topic": "art"},
        "out": [{"text": "x", "ok": "yes"}],
        "scores": {"match": {"value": "0.5"}},
    }

    rows, rejected = loaded(
        [values, {**values, "doc": {**values["doc"], "skip": "yes"}}],
        id="id.n", input="doc.q", references="doc.refs", exclude={"doc.skip": True}, phrases="doc.must",
        group="doc.thread", slices=["doc.topic"], scores={"s": "scores.match.value"},
        candidates={"m": {"response": "out[0].text", "label": "out.0.ok"}},
    )  # fmt: skip

    assert rejected == []
    [row] = rows
    assert (row["id"], row["input"], row["references"], row["response"]) == ("1", "?", ["a"], "x")
    assert (row["slices"], row["group"], row["phrases"]) == ({"doc.topic": "art"}, "t", ["b"])
    assert (row["label"], row["score_s"]) == (True, 0.5)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["a", "", None, "b"], ["a", "b"]),
        ('["a", 1.50, true]', ["a", "1.50", "true"]),
        ("one", ["one"]),
        ("[sic]", ["[sic]"]),
        ("[" * 40, ["[" * 40]),
        (" ", []),
        ([], []),
        ("[]", []),
        (None, []),
    ],
)
def test_phrases(given, expected):
    assert column("phrases", [PARIS | {"must": given}], phrases="must") == [expected]


def test_labels():
    texts = {True: ["true", "TRUE", " Yes ", "1", "1.0"], False: ["false", "No", "0", "0.0"], None: [None, "", " "]}
    for label, given_labels in texts.items():
        values = [PARIS | {"id": str(n), "ok": each} for n, each in enumerate(given_labels)]
        assert {*column("label", values, candidates={"m": {"response": "a", "label": "ok"}})} == {label}


@pytest.mark.parametrize(
    ("given", "shown"), [("maybe", "'maybe'"), ("2", "'2'"), (["1"], "['1']"), ("x" * 99, f"'{'x' * 59}…")]
)
def test_a_label_that_is_none_names_row_and_value(given, shown):
    values = [PARIS, PARIS | {"id": "2", "ok": given}]

    assert refusal(values, candidates={"m": {"response": "a", "label": "ok"}}).splitlines()[0] == (
        f"answers.jsonl, line 2: ok is {shown}, which is not a label (dataset.candidates.m.label); "
        "allowed: true and false, 1 and 0, yes and no, or nothing"
    )


def test_a_missing_response_may_count_as_wrong():
    values = [PARIS | {"a": None}, PARIS | {"id": "2", "a": ""}]

    assert column("response", values) == [None, ""]
    assert column("response", values, missing_response="wrong") == ["", ""]


THOUGHTS = [
    ("<think>\nLyon? No.\n</think>\n\nParis", "Paris"),
    ("Lyon? No.\n</think>\n\nParis", "Paris"),
    ("<think></think>", ""),
    ("<think>It is Paris. But wait", None),
    ("Paris is between `<think>` marks.", "Paris is between `<think>` marks."),
    (None, ""),
]


def test_answers_are_scored_without_thoughts_and_one_that_ends_within_its_thought_is_missing():
    values = [PARIS | {"id": str(i), "a": text} for i, (text, _) in enumerate(THOUGHTS)]

    (part,) = load(records(*values), params(missing_response="wrong"))

    assert part["load"]["response"].to_pylist() == [answer for _, answer in THOUGHTS]
    facts = about(part["load"].schema)
    assert facts["thoughts"] == {"m": 3}
    assert facts["failed_answers"] == {"m": {"the reply was cut off within a thought": 1}}


def test_thoughts_may_be_kept_or_a_reason_to_reject():
    values = [PARIS | {"id": str(i), "a": text} for i, (text, _) in enumerate(THOUGHTS)]

    assert column("response", values, thoughts="keep") == [text for text, _ in THOUGHTS]
    assert reasons(values, thoughts="reject") == ["a: the answer holds a thought (dataset.thoughts: reject)"] * 4


def test_scores_may_have_a_column_for_each_candidate():
    values = PARIS | {"b": "?", "s_m": "1", "s_n": None}

    assert column("score_s", [values], candidates=TWO, scores={"s": "s_{candidate}"}) == [1.0, None]


GRADES = {"columns": ["ann", "ben"], "bounds": [1, 5], "human": True}


def test_a_grade_is_the_mean_of_those_who_gave_one():
    values = [
        PARIS | {"id": "1", "ann": "4", "ben": "5"},
        PARIS | {"id": "2", "ann": None, "ben": "2"},
        PARIS | {"id": "3", "ann": " ", "ben": None},
    ]

    assert column("score_s", values, scores={"s": GRADES}) == [4.5, 2.0, None]
    (part,) = load(records(*values), params(scores={"s": GRADES}))
    facts = about(part["load"].schema)["columns"]["score_s"]
    assert (facts["by_people"], facts["signature"]) == (True, "score|name:s|bounds:1..5|better:higher|by:people|v:2")


def test_a_grade_outside_the_scale_is_rejected():
    _, [rejected] = loaded([PARIS | {"ann": "4", "ben": "6"}], limits={"max_rejected": 1.0}, scores={"s": GRADES})

    assert rejected["reason"] == "ben: 6 is outside the bounds 1 to 5"


def test_limit_counts_what_exclude_leaves():
    values = [PARIS | {"id": str(i), "bad": bad} for i, bad in enumerate(["true", "false", "True", None, "false"])]

    assert column("id", values, exclude={"bad": True}) == ["1", "3", "4"]
    assert column("id", values, exclude={"bad": True}, limit=2) == ["1", "3"]
    assert column("id", values, exclude={"bad": None, "id": 1}) == ["0", "2", "4"]
    assert column("id", values, exclude={"bad": "true"}) == ["1", "2", "3", "4"]
    assert column("id", [PARIS | {"bad": "Yes"}, PARIS | {"id": "2", "bad": "no"}], exclude={"bad": True}) == ["2"]


def test_nul_and_emoji_are_kept():
    assert column("response", [PARIS | {"a": "x\0😀"}]) == ["x\0😀"]


# ids


def test_without_ids_the_input_is_hashed():
    assert column("id", [PARIS], id=None) == [sha256(b"Capital of France?").hexdigest()]


def test_equal_inputs_are_numbered_by_the_hash_of_their_references():
    values = [PARIS | {"ref": ref} for ref in ["a", "b", "c"]]
    digests = sorted((sha256(json.dumps([ref]).encode()).hexdigest(), ref) for ref in "abc")
    suffix = {ref: end for (_, ref), end in zip(digests, ["", "-2", "-3"], strict=True)}

    text = sha256(b"Capital of France?").hexdigest()
    assert column("id", values, id=None) == [text + suffix[ref] for ref in "abc"]
    assert column("id", values[::-1], id=None) == [text + suffix[ref] for ref in "cba"]


def test_a_later_record_of_the_same_input_and_references_is_rejected():
    values = [PARIS, PARIS | {"q": "?"}, PARIS | {"ref": "other"}, PARIS | {"id": "9", "a": "x"}]

    rows, [rejected] = loaded(values, id=None)

    assert [row["response"] for row in rows] == ["Paris."] * 3
    assert (rejected["line"], rejected["id"]) == (4, rows[0]["id"])
    assert rejected["reason"] == (
        "'Capital of France?': the same input and references as in answers.jsonl, line 1; "
        "dataset.id can name a column of unique ids"
    )


def test_a_later_record_of_the_same_id_is_rejected_for_every_candidate():
    values = [PARIS | {"id": id_, "b": "B"} for id_ in ("7", "1", "7", "7")]

    rows, rejected = loaded(values, candidates=TWO)

    assert [(row["id"], row["candidate"]) for row in rows] == [("7", "m"), ("7", "n"), ("1", "m"), ("1", "n")]
    assert [(row["line"], row["id"], row["candidate"]) for row in rejected] == [
        (3, "7", "m"), (3, "7", "n"), (4, "7", "m"), (4, "7", "n")
    ]  # fmt: skip
    assert {row["reason"] for row in rejected} == {"the id '7' (dataset.id: id) is also in answers.jsonl, line 1"}


def test_no_without_quotes_in_params_is_the_text_no() -> None:
    values = [PARIS | {"id": name, "language": name} for name in ("no", "No", "0", "false", "en")]

    assert column("id", values, exclude=parse_yaml("language: no")) == ["No", "0", "false", "en"]
    assert column("id", values, exclude=parse_yaml("language: false")) == ["en"]


def test_records_that_are_rejected_or_excluded_take_no_number():
    values = [PARIS | {"ref": None}, PARIS | {"ref": ""}, PARIS | {"bad": "true"}, PARIS]

    rows, rejected = loaded(values, id=None, exclude={"bad": True})
    assert [row["id"] for row in rows] == [sha256(b"Capital of France?").hexdigest()]
    assert [(row["line"], row["id"]) for row in rejected] == [(1, None), (2, None)]


# labels of other answers


@pytest.mark.parametrize(
    ("labelled", "status", "label"),
    [
        ("Paris.", "confirmed", True),
        (sha256(b"Paris.").hexdigest(), "confirmed", True),
        (sha256(b"Paris.").hexdigest().upper(), "confirmed", True),
        ("Rome.", "stale", None),
        ("PARIS.", "stale", None),
        (" paris.", "stale", None),
        (sha256(b"Rome.").hexdigest(), "stale", None),
        (None, "stale", None),
        (["Paris."], "stale", None),
    ],
)
def test_a_label_of_another_answer_is_stale(labelled, status, label):
    mapped = {"m": {"response": "a", "label": "ok", "labelled": "of"}}

    [row], _ = loaded([PARIS | {"ok": "true", "of": labelled}], candidates=mapped)

    assert (row["label"], row["label_status"]) == (label, status)


def test_a_labelled_answer_is_the_answer_whatever_its_case():
    mapped = {"m": {"response": "a", "label": "ok", "labelled": "of"}}
    answers = [("paris", "PARIS"), ("paris", "paris"), ("", None), ("", "paris"), (None, "paris"), (None, None)]

    values = [PARIS | {"id": str(n), "a": answer, "of": of, "ok": "1"} for n, (answer, of) in enumerate(answers)]

    assert column("label_status", values, candidates=mapped) == [
        "stale",
        "confirmed",
        "confirmed",
        *["stale"] * 2,
        "confirmed",
    ]


def test_a_row_without_a_label_or_a_file_without_labelled_answers_has_no_status():
    mapped = {"m": {"response": "a", "label": "ok", "labelled": "of"}}

    assert column("label_status", [PARIS | {"ok": None, "of": "x"}], candidates=mapped) == [None]
    assert column("label_status", [PARIS | {"ok": "1"}], candidates={"m": {"response": "a", "label": "ok"}}) == [None]


# rejected


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"ref": None}, "ref: no reference that is not blank"),
        ({"ref": [" ", ""]}, "ref: no reference that is not blank"),
        ({"ref": [["a"]]}, "ref: a list where text is expected"),
        ({"ref": {"a": "b"}}, "ref: an object where text is expected; write JSON as text, in a string"),
        ({"ref": ["ok", "x" * 51]}, "ref: 51 characters; load.max_chars is 50"),
        ({"q": ["?"]}, "q: a list where text is expected"),
        ({"q": "x" * 1234567}, "q: 1,234,567 characters; load.max_chars is 50"),
        ({"a": {"text": "Paris"}}, "a: an object where text is expected; write JSON as text, in a string"),
        ({"a": "x" * 51}, "a: 51 characters; load.max_chars is 50"),
        ({"a": "ab\ud800"}, "a: character 3 is half of a surrogate pair"),
        ({"who": ["u"]}, "who: a list where text is expected"),
        ({"lang": ["u"]}, "lang: a list where text is expected"),
        ({"must": ["a", ["b"]]}, "must: a list where text is expected"),
        ({"s": "high"}, "s: 'high' is no number"),
        ({"s": "nan"}, "s: 'nan' is no number"),
        ({"s": "1_0"}, "s: '1_0' is no number"),
        ({"s": ["1"]}, "s: ['1'] is no number"),
        ({"s": "1.01"}, "s: 1.01 is outside the bounds 0 to 1"),
    ],
)
def test_what_is_rejected_and_why(change, reason):
    full = PARIS | {"who": None, "lang": None, "must": None, "s": "1"}
    options = {
        "group": "who",
        "slices": ["lang"],
        "phrases": "must",
        "scores": {"s": {"column": "s", "bounds": [0, 1]}},
    }

    rows, rejected = loaded([full, full | {"id": "2"} | change], **options)

    assert [row["id"] for row in rows] == ["1"]
    assert rejected == [{"file": "answers.jsonl", "line": 2, "id": "2", "candidate": "m", "reason": reason}]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (None, "id: no id"),
        (" ", "id: no id"),
        (["1"], "id: a list where text is expected"),
        (chr(0xDFFF), "id: character 1 is half of a surrogate pair"),
    ],
)
def test_a_record_without_an_id_is_rejected(given, reason):
    rows, rejected = loaded([PARIS | {"id": given}, PARIS])

    assert [row["id"] for row in rows] == ["1"]
    assert [(row["id"], row["reason"]) for row in rejected] == [(None, reason)]


def test_a_record_without_input_has_no_id_to_be_made_of():
    assert reasons([PARIS | {"q": None}, PARIS], id=None) == ["q: no input to make an id of"]
    assert column("input", [PARIS | {"q": None}, PARIS | {"id": "2"}]) == [None, "Capital of France?"]


def test_a_record_without_reference_is_rejected_for_every_candidate():
    rows, rejected = loaded([PARIS | {"ref": "", "b": "?"}, PARIS | {"id": "2"}], candidates=TWO)

    assert [(row["id"], row["candidate"]) for row in rows] == [("2", "m"), ("2", "n")]
    assert [(row["id"], row["candidate"]) for row in rejected] == [("1", "m"), ("1", "n")]


def test_one_candidates_answer_is_rejected_alone():
    rows, rejected = loaded([PARIS | {"b": ["?"]}], candidates=TWO)

    assert [row["candidate"] for row in rows] == ["m"]
    assert [row["candidate"] for row in rejected] == ["n"]


def test_references_may_be_dispensed_with():
    values = [PARIS | {"ref": None}, PARIS | {"id": "2"}]

    assert column("references", values, limits={"require_references": False}) == [[], ["Paris"]]
    assert column("references", values, limits={"require_references": False}, references=None) == [[], []]


# the mapping


def test_a_column_that_no_record_has_is_an_error():
    mapping = {
        "references": "reference",
        "slices": ["lang"],
        "exclude": {"improper": True},
        "candidates": {"m": {"response": "answer", "label": "ok"}},
        "scores": {"s": "s_{candidate}"},
    }
    values = [{"id": "1", "q": "?", "references": "Paris", "answers": "x"}, {"id": "2", "odd\ud800": "1"}]

    assert refusal(values, **mapping).split("\n") == [
        "dataset.references: no record has a column 'reference'; did you mean 'references'?",
        "dataset.slices: no record has a column 'lang'",
        "dataset.exclude: no record has a column 'improper'",
        "dataset.candidates.m.response: no record has a column 'answer'; did you mean 'answers'?",
        "dataset.candidates.m.label: no record has a column 'ok'",
        "dataset.scores.s: no record has a column 's_m'",
        r"existing columns: 'id', 'q', 'references', 'answers', 'odd\ud800'",
    ]


def test_nothing_left_is_an_error():
    message = "dataset: no record is left; dataset.exclude leaves out all: {'id': '1'}"

    assert refusal([PARIS], exclude={"id": "1"}) == message
    assert refusal([]) == "dataset: there is no record"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"id": None, "input": None}, "id: null takes the hash of the input, but input is null too"),
        ({"candidates": {}}, "at least 1 item"),
        ({"reference_separator": ""}, "at least 1 character"),
        ({"slices": ["a", "a"]}, "a column appears twice"),
        ({"scores": {"a b": "x"}}, "should match pattern"),
        (
            {"scores": {"s": {"column": "x", "bounds": [0, 1], "threshold": 2}}},
            "threshold 2 is outside the bounds 0 to 1",
        ),
        ({"scores": {"s": {"column": "x", "bounds": [1, 1]}}}, "bounds 1 to 1 contain no number"),
        ({"limit": 0}, "greater than or equal to 1"),
    ],
)
def test_a_mapping_that_makes_no_sense(change, problem):
    with pytest.raises(ValidationError, match=problem):
        Dataset.model_validate(MAPPING | change)


def test_every_option_is_required():
    for model, options in [(Dataset, MAPPING), (Load, LIMITS)]:
        for name in options:
            with pytest.raises(ValidationError, match=f"1 validation error for {model.__name__}\n{name}"):
                model.model_validate({key: value for key, value in options.items() if key != name})


def test_sections_that_do_not_fit_together():
    with pytest.raises(ParamsError, match=r"^load.part_rows: 1, but one id alone has 2 candidates$"):
        loaded([PARIS], candidates=TWO, limits={"part_rows": 1})
    with pytest.raises(ParamsError, match=r"^dataset.references: null, but load.require_references is true"):
        loaded([PARIS], references=None)


# parts, facts and the contract


def test_parts_hold_all_candidates_of_an_id():
    values = [PARIS | {"id": str(i), "b": "?", "ref": ref} for i, ref in enumerate(["x", None, "x", "x"])]

    parts = list(load(records(*values), params(candidates=TWO, limits={"part_rows": 5})))

    assert [part["load"]["id"].to_pylist() for part in parts] == [["0", "0"], ["2", "2", "3", "3"]]
    assert [part["load_rejected"]["id"].to_pylist() for part in parts] == [["1", "1"], []]
    assert [part["load"].num_rows + part["load_rejected"].num_rows <= 5 for part in parts] == [True, True]


TONE = "score|name:tone|bounds:0..5|better:lower|v:2"


def test_what_the_table_says_of_itself():
    candidates = {
        "m": {"response": "a", "label": "ok", "about": {"model": "x-1", "released": dt.date(2024, 5, 1)}},
        "n": {"response": "a"},
    }
    tone = {"column": "s", "bounds": [0, 5], "threshold": 2, "higher_is_better": False}
    options = {"candidates": candidates, "labels": "random", "scores": {"tone": tone, "plain": "s"}}

    (part,) = load(records(PARIS | {"ok": "1", "s": "2"}), params(**options))

    facts = about(part["load"].schema)
    assert facts["candidates"] == {"m": {"model": "x-1", "released": "2024-05-01"}, "n": {}}
    assert facts["labels"] == "random"
    shared = {"family": "dataset", "corpus_is_mean": True}
    assert facts["columns"] == {
        "label": shared
        | {"metric": "label", "options": {}, "signature": "label|v:1", "rate_signature": "label|v:1|pass:1"}
        | {"bounds": [0.0, 1.0], "threshold": None, "higher_is_better": True},
        "score_tone": shared
        | {"metric": "tone", "options": {"column": "s"}, "signature": TONE}
        | {"rate_signature": f"{TONE}|thr:<=2", "bounds": [0.0, 5.0], "threshold": 2.0}
        | {"higher_is_better": False},
        "score_plain": shared
        | {"metric": "plain", "options": {"column": "s"}, "signature": "score|name:plain|bounds:none|better:higher|v:2"}
        | {"bounds": None, "higher_is_better": True},
    }


def test_without_labels_there_is_no_label_to_aggregate():
    (part,) = load(records(PARIS), params())

    assert about(part["load"].schema)["columns"] == {}


def failed_totals(parts, wanted):
    totals = {"rows": 0, "rows_load_rejected": 0}
    for part in parts:
        found = counts(part) | {f"rows{end}": part["load" + end].num_rows for end in ("", "_rejected")}
        found["rows_load_rejected"] = found.pop("rows_rejected")
        totals = {name: totals.get(name, 0) + value for name, value in found.items()}
    return [each.expectation for each in validation.check_counts(expect(wanted).counts, totals) if each.failed]


@pytest.mark.parametrize(("rejected", "part_rows"), [(1, 10), (1, 100), (2, 10), (2, 100), (100, 100)])
def test_the_share_of_rejected_rows_has_a_limit(rejected, part_rows):
    wanted = params(limits={"part_rows": part_rows})
    values = [PARIS | {"id": str(i), "ref": None if i < rejected else "Paris"} for i in range(100)]

    broken = failed_totals(list(load(records(*values), wanted)), wanted)

    too_many = "expect_column_pair_values_a_to_be_greater_than_b"
    none_left = "expect_column_values_to_be_between"
    assert broken == {1: [], 2: [too_many], 100: [none_left, too_many]}[rejected]


def test_a_lost_row_breaks_the_contract():
    wanted = params()
    (part,) = load(records(PARIS, PARIS | {"id": "2"}), wanted)
    part["load"] = part["load"].slice(1)

    assert failed_totals([part], wanted) == ["expect_column_pair_values_to_be_equal"]


def test_rows_keep_the_contract():
    wanted = params(scores={"s": {"column": "s", "bounds": [0, 1]}}, slices=["lang"], input=None)
    (part,) = load(records(PARIS | {"s": "1", "lang": None}, PARIS | {"id": "2", "a": None}), wanted)
    frame = part["load"].to_pandas()

    assert [each for each in validation.check(frame, expect(wanted).rows) if each.failed] == []
    broken = frame.assign(candidate="x", content="?", score_s=2.0, response="y" * 51)
    failed = {
        each.columns.split(",")[0]: each.failed for each in validation.check(broken, expect(wanted).rows) if each.failed
    }
    assert failed == {"candidate": 2, "response": 2, "content": 2, "score_s": 2}


# properties

messy = st.none() | st.text(max_size=8) | st.sampled_from([["a"], [], {"x": "y"}, "\ud800", "x" * 60, " ", "a/b"])


@given(st.lists(st.fixed_dictionaries({}, optional=dict.fromkeys("qabr", messy)), max_size=12), st.integers(2, 9))
def test_every_answer_is_in_exactly_one_table(values, part_rows):
    numbered = [each | {"id": f"#{line}"} for line, each in enumerate(values, 1)]
    whole = [*numbered, {"id": "last", "q": "?", "r": "x", "a": "y", "b": "z"}]
    wanted = params(candidates=TWO, references="r", reference_separator="/", limits={"part_rows": part_rows})

    parts = list(load(records(*whole), wanted))

    rows = [(row["id"], row["candidate"]) for part in parts for row in part["load"].to_pylist()]
    rejected = [(row["id"], row["candidate"]) for part in parts for row in part["load_rejected"].to_pylist()]
    read = [(each["id"], name) for each in whole for name in TWO]
    assert sorted(rows + rejected) == sorted(read)
    assert rows == [key for key in read if key in rows]
    assert sum(counts(part)["rows_read"] for part in parts) == len(read)
    assert all(part["load"].num_rows + part["load_rejected"].num_rows <= part_rows for part in parts)


@given(
    st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from("abcdef")), min_size=1, unique=True),
    st.randoms(),
)
def test_ids_do_not_depend_on_the_order_of_records(pairs, random):
    values = [{"q": q, "ref": ref, "a": q + ref} for q, ref in pairs]
    shuffled = random.sample(values, len(values))

    straight, other = ({r["response"]: r["id"] for r in loaded(v, id=None)[0]} for v in (values, shuffled))

    assert straight == other
    assert len(set(straight.values())) == len(values)


# real data

EVOUNA = Path(__file__).parents[2] / "shared" / "data" / "evouna" / "NQ.json"
SYSTEMS = ["fid", "gpt35", "chatgpt", "gpt4", "newbing"]


@pytest.mark.skipif(not EVOUNA.exists(), reason="the EVOUNA-NQ data is not here")
def test_real_answers():
    mapping = {
        "path": str(EVOUNA),
        "id": None,
        "input": "question",
        "references": "golden_answer",
        "reference_separator": "/",
        "candidates": {name: {"response": f"answer_{name}", "label": f"judge_{name}"} for name in SYSTEMS},
    }
    wanted = params(**mapping, limits={"part_rows": 50_000, "max_chars": 100_000})

    (part,) = load(source(wanted), wanted)

    assert (part["load"].num_rows, part["load_rejected"].num_rows) == (18_045, 5)
    assert set(part["load_rejected"]["line"].to_pylist()) == {14_567}


# versions with numbers from elsewhere


def scored(folder, **score):
    """A version of the project with numbers from elsewhere."""
    values = [PARIS | {"id": str(n), "s": str(n % 2 / 2)} for n in range(40)]
    (folder / "data/load").mkdir(parents=True)
    (part,) = load(records(*values), params(scores={"tone": {"column": "s", **score}}))
    write_part(part["load"], folder / "data/load", 0)
    return Version(folder.name, folder, None)


@pytest.mark.parametrize(
    ("older", "newer", "reason"),
    [
        ({"bounds": [0, 1]}, {}, "bounds was 0..1, is none"),
        ({}, {"higher_is_better": False}, "better was higher, is lower"),
        ({"bounds": [0, 1234567]}, {"bounds": [0, 1234568]}, "bounds was 0..1234567, is 0..1234568"),
    ],
)
def test_numbers_from_elsewhere_with_other_bounds_or_another_direction_are_not_compared(tmp_path, older, newer, reason):
    versions = scored(tmp_path / "a", **older), scored(tmp_path / "b", **newer)

    found = compare_versions(*versions, gate_on("score_tone"))

    (pair,) = found["pairs"]
    assert pair["measures"] == {}
    [refused] = pair["refused"]
    assert (refused["measure"], refused["reason"]) == ("score_tone", f"measured differently: {reason}")
    assert found["blocked"]


def test_a_threshold_that_differs_in_a_late_digit_is_another_pass_rate(tmp_path):
    versions = [scored(tmp_path / name, bounds=[0, 1], threshold=0.5 + more) for name, more in (("a", 0), ("b", 1e-9))]

    found = compare_versions(*versions, gate_on("score_tone", "score_tone.value"))

    (pair,) = found["pairs"]
    assert [each["measure"] for each in pair["refused"]] == ["score_tone"]
    assert pair["measures"]["score_tone.value"]["verdict"] == "unchanged"
