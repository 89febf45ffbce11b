"""The page says what made its numbers: data, params, code, versions, signatures, and what was paid."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.estimates.column_facts import ColumnFacts
from goldmeter.ledger.entries import Usage
from goldmeter.pipeline.run import Price
from goldmeter.reporting.provenance import NOT_RECORDED, provenance, stage_checks
from goldmeter.reporting.score_tables import MetricScores
from tests.reporting.made import ROWS, inputs, section_of, validation, written
from tests.test_report import HOSTILE, Page, words_of

PAGE = "reports/index.html"
PRICES = {"gpt-5-mini": Price(input=0.25, output=2.0)}
DATASET = {"path": "data/mine.csv", "candidates": {"aurora": {"response": "a", "about": {"prompt": "v2", "n": [1, 2]}}}}
JUDGE = {"provider": "openai", "model": "gpt-5-mini"}
EMBED = {"provider": "local", "model": "all-MiniLM-L6-v2"}


def made(params, code="c" * 64, **versions):
    return {"code": code, "params": params, "versions": {"python": "3.11", "numpy": "2.4.6"} | versions}


def documents(**by_stage):
    return {f"reports/validation/{name}.json": validation() | {"made": each} for name, each in by_stage.items()}


def reply(calls=1, prompt=400, completion=50, model="gpt-5-mini-2026"):
    counted = prompt is not None and completion is not None
    tokens = (0, prompt, completion) if counted else (1, 0, 0)
    return Usage(1, calls, 1, *tokens, frozenset({model} if model else ()))


NOTHING = Usage()


def found(paid=NOTHING, metrics=(), prices=PRICES, **by_stage):
    return provenance(stage_checks(documents(**by_stage)), metrics, paid, prices)


def judged(*paid, section=JUDGE, prices=PRICES):
    return found(Usage.total(paid), prices=prices, judge=made({"judge": section})).judge


def test_verdicts_are_counted_with_their_calls_tokens_and_dollars():
    assert judged(reply(prompt=1_000_000), reply(calls=3, prompt=1_000_000, completion=499_950)) == (
        "2 verdicts of gpt-5-mini (the server says gpt-5-mini-2026) took 4 calls; "
        "2,000,000 prompt and 500,000 completion tokens: $1.50"
    )


def test_less_than_a_cent_is_no_nothing():
    assert judged(reply(model=None)) == (
        "1 verdict of gpt-5-mini took 1 call; 400 prompt and 50 completion tokens: $0.0002"
    )


def test_what_the_server_did_not_count_makes_the_bill_a_lower_bound():
    bill = judged(reply(), reply(prompt=None, completion=None))

    assert bill.endswith("and those of 1 reply that the server did not count: more than $0.0002")


@pytest.mark.parametrize(
    ("paid", "section", "prices", "end"),
    [
        ([], JUDGE, PRICES, "gpt-5-mini: no call, nothing paid"),
        ([], {"provider": "offline", "model": "gpt-5-mini"}, PRICES, "offline: no call, nothing paid"),
        ([], {"provider": "none", "model": "gpt-5-mini"}, PRICES, "off: no call, nothing paid"),
        ([reply()], JUDGE, {}, "50 completion tokens; run.judge.prices has no gpt-5-mini"),
        ([reply(prompt=None, completion=None)], JUDGE, PRICES, "took 1 call; the server counted no tokens"),
        ([Usage(1, 4)], JUDGE, PRICES, "took 4 calls; no reply came, nothing paid"),
    ],
)
def test_the_bill_says_what_is_not_known(paid, section, prices, end):
    assert judged(*paid, section=section, prices=prices).endswith(end)


def test_without_a_ledger_the_cost_is_unknown():
    assert found(None, judge=made({"judge": JUDGE})).judge == "gpt-5-mini: the ledger of its verdicts is unavailable"


COUNTS = st.integers(0)


@given(st.lists(st.builds(Usage, *[COUNTS] * 6, st.frozensets(st.text())), max_size=4))
def test_any_ledger_makes_a_sentence(paid):
    assert re.match(r"gpt-5-mini: no call|[\d,]+ verdicts? of gpt-5-mini", judged(*paid))


@pytest.mark.parametrize(
    ("section", "words"),
    [
        (EMBED, "8 vectors of all-MiniLM-L6-v2, computed locally: nothing paid"),
        ({"provider": "openai", "model": "m"}, "8 vectors of m by provider openai; their tokens are not counted"),
    ],
)
def test_vectors_are_counted_and_who_made_them_is_named(section, words):
    assert found(embed=made({"embed": section})).embedding == words


def test_a_section_that_several_stages_saw_stands_once_unless_it_changed_between_them():
    its = found(embed=made({"embed": EMBED}), semantic=made({"embed": EMBED}), judge=made({"embed": {"a": 1}}))

    assert [(each.name, each.value.shown, each.stages) for each in its.params] == [
        ("embed", "provider: local\nmodel: all-MiniLM-L6-v2\n", ["embed", "semantic"]),
        ("embed", "a: 1\n", ["judge"]),
    ]


def test_versions_that_differ_between_stages_stand_beside_each_other():
    its = found(load=made({}), normalize=made({}, numpy="2.5.0"), lexical=made({}, rapidfuzz="3.14.6"))

    assert [(each.name, each.value.shown, each.stages) for each in its.versions] == [
        ("python", "3.11", ["load", "normalize", "lexical"]),
        ("numpy", "2.4.6", ["load", "lexical"]),
        ("numpy", "2.5.0", ["normalize"]),
        ("rapidfuzz", "3.14.6", ["lexical"]),
    ]


def test_columns_that_share_a_signature_stand_together():
    metrics = [
        MetricScores(name, ColumnFacts(name, "lexical", about, None), {}, {})
        for name, about in (("p", "r|v:1"), ("b", "b|v:1"), ("r", "r|v:1"))
    ]

    assert found(metrics=metrics).signatures == {"r|v:1": ["p", "r"], "b|v:1": ["b"]}


def test_the_page_shows_data_candidates_params_code_versions_signatures_and_cost(tmp_path):
    its = documents(
        load=made({"dataset": DATASET}, code="a1" * 32),
        judge=made({"judge": JUDGE}, code="b2" * 32, numpy="2.5.0"),
        embed=made({"embed": EMBED}, code="b2" * 32),
    )

    html = written(ROWS, tmp_path, documents=its, usage=reply(prompt=1_000_000), prices=PRICES)[PAGE]

    section, data = words_of(section_of(html, "provenance")), words_of(section_of(html, "data"))
    assert "data/mine.csv, 8 answers" in section
    assert "hash of inputs and references" in section
    assert "The hash of the whole, answers and labels included, is in dvc.lock." in section
    assert "equal data" not in data
    assert "whatever the answers and labels are" in data
    assert "400" not in section
    assert "1,000,000 prompt and 50 completion tokens: $0.25" in section
    assert "8 vectors of all-MiniLM-L6-v2" in section
    assert "numpy 2.4.6 in load, embed" in section
    assert "numpy 2.5.0 in judge" in section
    assert "load a1a1a1a1a1a1" in section
    assert "path: data/mine.csv" in section
    assert "semantic_similarity|v:1" in section
    assert "aurora prompt: v2 n: [1, 2]" in data


def test_a_candidate_that_was_asked_says_its_model():
    stages = stage_checks(
        documents(load=made({"dataset": {"candidates": {"live": {"model": "m", "about": {"a": 1}}}}}))
    )

    assert provenance(stages, (), (), PRICES).about == {"live": [("model", "m"), ("a", "1")]}


def test_the_page_says_why_a_model_did_not_answer(tmp_path):
    measured = inputs(ROWS, tmp_path / "first")[1]["reports/metrics.json"]
    measured["dataset"]["failed_answers"] = {"aurora": {"timeout": 1_200, "HTTP 400: <b>": 1}}

    html = written(ROWS, tmp_path, documents={"reports/metrics.json": measured})[PAGE]

    assert "Not answeredaurora1,200 × timeout1 × HTTP 400: &lt;b&gt;" in words_of(section_of(html, "data"))


def test_the_page_counts_answers_scored_without_their_thought(tmp_path):
    measured = inputs(ROWS, tmp_path / "first")[1]["reports/metrics.json"]
    measured["dataset"]["thoughts"] = {"aurora": 1_200}

    html = written(ROWS, tmp_path, documents={"reports/metrics.json": measured})[PAGE]

    assert "(dataset.thoughts)aurora: 1,200" in words_of(section_of(html, "data"))


def test_what_is_noted_about_candidates_of_a_long_table():
    candidates = {"column": "model", "response": "a", "about": {"aurora": {"size": 7}}}
    stages = stage_checks(documents(load=made({"dataset": {"path": "x", "candidates": candidates}})))

    assert provenance(stages, (), (), PRICES).about == {"aurora": [("size", "7")]}


def test_reports_of_an_earlier_version_say_that_their_making_was_not_kept(tmp_path):
    section = words_of(section_of(written(ROWS, tmp_path)[PAGE], "provenance"))

    assert NOT_RECORDED in section
    assert "The lineage of load, lexical" in section
    assert "Params" not in section


def test_hostile_params_are_text(tmp_path):
    texts = [each[:300] for each in HOSTILE]
    section = {"path": texts[0], "candidates": {"aurora": {"about": dict(zip(texts, texts, strict=True))}}}
    its = documents(
        load=made({"dataset": section, texts[1]: texts}, **{texts[0]: texts[4]}), judge=made({"judge": JUDGE})
    )

    html = written(ROWS, tmp_path, documents=its, usage=reply(model=texts[1]))[PAGE]

    found = Page(html)
    assert found.open == []
    assert not {"img", "iframe"} & {tag for tag, _ in found.tags}
    assert not [name for _, attributes in found.tags for name in attributes if name.startswith("on")]
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", html)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in section_of(html, "provenance")


def test_a_section_without_end_is_cut(tmp_path):
    its = documents(load=made({"dataset": {"exclude": {"a": "z" * 1_000_000}}}))

    html = written(ROWS, tmp_path, documents=its)[PAGE]

    assert len(section_of(html, "provenance")) < 50_000
    assert "cut: the first 20,000 of" in section_of(html, "provenance")
