"""Laws of all lexical metrics: a metric that is added to the folder is tested the same day."""

import json
import re
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from goldmeter.estimates.columns import score_columns
from goldmeter.estimates.tables import score_table
from goldmeter.metrics.base import NOT_ASKED, MeanMetric
from goldmeter.metrics.catalogue import configure, metric_class, names
from goldmeter.metrics.pairs import Pairs
from goldmeter.pipeline.tables import Parts, write_part

FAMILY = "lexical"
METRICS = {
    name: [
        configure(FAMILY, name, {}),
        *(configure(FAMILY, name, {"profile": profile}) for profile in metric_class(FAMILY, name).profiles),
    ]
    for name in names(FAMILY)
}
IDENTICAL = [
    "Paris", "New York", "The", "a", "an a the", "It is Paris. It is big.", "U.S.A.", "forty-two", "x\ny\t z ",
    "Привет, мир", "مرحبا بالعالم", "नमस्ते दुनिया", "สวัสดี", "東京タワー", "ひらがな カタカナ", "안녕하세요 세계",
    "ΐ ŉ ǰ İ ß ﬁ", "42", "-5", "3.5", "½", "1,000", "12:30", "$5", "!!!", "...", "?", "-\n-", "<skipped>", "&quot;",
    "&amp;lt;", "``''", "😀", "😀👍🏽", "a a b a",
    "❤️", "👩🏽‍🚀 🇫🇷", "1️⃣", "\u200b", "\u0301", "´", "\x00", "_", "the. a! AN?",
]  # fmt: skip
# Every metric applies to it: number needs a number, json_fields JSON.
ANY = "42"
WORDS = st.lists(
    st.sampled_from(["the", "The", "cat", "cats", "sat", "Paris", "New", "York", ".", "!!", "東京", "мир", "42", "😀"]),
    min_size=1, max_size=6,
).map(" ".join)  # fmt: skip
TEXTS = WORDS | st.text(max_size=10)
ROWS = st.lists(st.tuples(TEXTS | st.none(), st.lists(TEXTS.filter(str.strip), min_size=1, max_size=3)), max_size=8)
law = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])


def pairs_of(rows):
    return Pairs.of([response for response, _ in rows], [references for _, references in rows])


def stats(metric, rows):
    return metric.row_stats(pairs_of(rows))


def columns(metric, rows):
    """Scores of all columns; shape (n, columns)."""
    scores = metric.column_scores(stats(metric, rows))
    return np.stack([scores[column] for column in metric.columns], axis=-1)


def details(metric, rows):
    told = metric.row_details(pairs_of(rows))
    return [None if text is None else json.loads(text) for text in told]


def is_of_responses(metric):
    """Metrics of retrieval, and those of sources, read no references: test_retrieval.py, test_extractive.py."""
    return not metric.name.startswith(("context_", "extractive"))


def best(metric):
    """The score of a response that is a reference."""
    return 1.0 if metric.name == "length_ratio" else metric.bounds[int(metric.higher_is_better)]


def of_blank(metric):
    """The score of an empty response: the worst bound, or for errors without a limit all of the reference."""
    return metric.bounds[0] if metric.higher_is_better else metric.scale


@law
@given(texts=st.lists((st.text() | WORDS).filter(str.strip), max_size=8))
@example(texts=IDENTICAL)
@pytest.mark.parametrize("name", METRICS)
def test_a_response_that_is_a_reference_gets_the_upper_bound(name, texts):
    metric, rows = METRICS[name][0], [(text, [text]) for text in texts]

    assert (columns(metric, rows)[metric.applies(pairs_of(rows))] == best(metric)).all()


@law
@given(rows=ROWS, responses=st.lists(TEXTS | st.none(), min_size=8, max_size=8), reference=TEXTS.filter(str.strip))
@pytest.mark.parametrize("name", METRICS)
def test_laws_of_any_rows(name, rows, responses, reference):
    for metric in METRICS[name]:
        scores_are_within_bounds_or_missing_with_the_response(metric, rows)
        the_corpus_score_ignores_what_was_not_measured(metric, rows)
        the_response_does_not_decide_whether_a_metric_applies(metric, rows, responses)
        if "|refs:pooled|" not in metric.signature() and metric.name != "length_ratio":
            adding_a_reference_never_lowers_a_best_of_references_score(metric, rows, reference)


def scores_are_within_bounds_or_missing_with_the_response(metric, rows):
    scores = columns(metric, rows)

    low, high = metric.bounds
    missing = np.array([response is None for response, _ in rows], np.bool_) | ~metric.applies(pairs_of(rows))
    assert (np.isnan(scores) == missing[:, None]).all()
    assert ((scores[~missing] >= low) & (scores[~missing] <= high)).all()


def the_corpus_score_ignores_what_was_not_measured(metric, rows):
    applies = metric.applies(pairs_of(rows)).tolist()
    measured = [row for row, asked in zip(rows, applies, strict=True) if asked and row[0] is not None]

    corpus = metric.score(stats(metric, rows).sum(axis=0))

    assert np.array_equal(corpus, metric.score(stats(metric, measured).sum(axis=0)), equal_nan=True)
    if measured and metric.corpus_is_mean and "aggregate" not in type(metric).model_fields:
        assert corpus == pytest.approx(metric.score(stats(metric, measured)).mean())


def the_response_does_not_decide_whether_a_metric_applies(metric, rows, responses):
    others = [(response, references) for response, (_, references) in zip(responses, rows, strict=False)]

    assert metric.applies(pairs_of(rows)).tolist() == metric.applies(pairs_of(others)).tolist()


def adding_a_reference_never_lowers_a_best_of_references_score(metric, rows, reference):
    before = metric.score(stats(metric, rows))
    after = metric.score(stats(metric, [(response, [*references, reference]) for response, references in rows]))

    assert ((after >= before) | np.isnan(before)).all()


@pytest.mark.parametrize("name", METRICS)
def test_laws_of_chosen_rows(name):
    for metric in METRICS[name]:
        configurations_are_immutable_and_signed(metric)
        no_rows_and_statistics_of_zeros_are_unmeasured(metric)
        it_passes_from_a_threshold_within_the_bounds_on(metric)
        if is_of_responses(metric):
            no_response_is_unmeasured_and_a_blank_one_gets_the_lower_bound(metric)
            no_reference_is_unmeasured_whatever_the_response(metric)
    assert len({metric.signature() for metric in METRICS[name]}) > 1 or len(METRICS[name]) == 1


def no_response_is_unmeasured_and_a_blank_one_gets_the_lower_bound(metric):
    rows = [(None, [ANY]), ("", [ANY]), (" \n\u00a0", [ANY, " \n\u00a0"])]

    scores = columns(metric, rows)

    assert np.isnan(scores[0]).all()
    assert (scores[1:] == of_blank(metric)).all()
    without_expected = [
        {key: said for key, said in told.items() if key != "expected"} for told in details(metric, rows)
    ]
    assert without_expected == [{"unmeasured": "no response"}, *[{"note": "empty response"}] * 2]


def no_reference_is_unmeasured_whatever_the_response(metric):
    rows = [("Paris", []), (" ", []), ("", []), (None, []), ("Paris", [ANY])]

    scores = columns(metric, rows)

    assert np.isnan(scores[:4]).all()
    assert not np.isnan(scores[4]).any()
    assert details(metric, rows)[:4] == [*[{"unmeasured": "no reference"}] * 3, {"unmeasured": "no response"}]


def no_rows_and_statistics_of_zeros_are_unmeasured(metric):
    assert columns(metric, []).shape == (0, len(metric.columns))
    width = stats(metric, [("a", [ANY])]).shape[1]

    for scores in metric.column_scores(np.zeros((2, width))).values():
        assert np.isnan(scores).all()
    if metric.has_pass_rate:
        assert metric.result(metric.score(np.zeros((2, width)))).tolist() == ["unmeasured"] * 2


def it_passes_from_a_threshold_within_the_bounds_on(metric):
    if not metric.higher_is_better:
        return  # test_ter.py
    low, high = metric.bounds[0], min(metric.bounds[1], 100.0)
    metric = metric if metric.has_pass_rate else type(metric)(profile=metric.profile, threshold=(low + high) / 2)
    limit = high if metric.threshold is None else metric.threshold

    scores = np.array([low, np.nextafter(limit, low), limit, high, np.nan])

    assert low < limit <= high
    assert metric.result(scores).tolist() == ["fail", "fail", "pass", "pass", "unmeasured"]
    message = "binary" if metric.threshold is None else f"bounds of {metric.name}, {low:g} to {metric.bounds[1]:g}"
    with pytest.raises(ValueError, match=message):
        type(metric)(profile=metric.profile, threshold=low - 0.5)


def configurations_are_immutable_and_signed(metric):
    assert metric.signature().startswith(f"{metric.name}|")
    assert metric.signature().endswith(f"|v:{metric.version}")
    assert metric.column in metric.columns
    with pytest.raises(ValueError, match="frozen"):
        metric.threshold = 0.1


class NumberMatch(MeanMetric):
    """Whether the numbers are those of the reference; rows whose references hold no number are none of its business."""

    default_threshold: ClassVar[float | None] = None

    def applies(self, pairs):
        return np.array([any(c.isdigit() for text in texts for c in text) for texts in pairs.reference_lists], np.bool_)

    def pair_scores(self, pairs):
        found = [re.findall(r"\d+", response) == re.findall(r"\d+", text) for response, text in pairs.paired]
        return np.array(found, np.float64).reshape(-1, 1)


@law
@given(rows=ROWS)
def test_rows_without_a_case_are_not_asked_and_change_no_number(rows):
    metric = NumberMatch()
    cases = [row for row in rows if any(c.isdigit() for text in row[1] for c in text)]

    every, only = stats(metric, rows), stats(metric, cases)

    assert np.array_equal(every.sum(axis=0), only.sum(axis=0))
    for row, values, told in zip(rows, every, details(metric, rows), strict=True):
        assert (told == {"unmeasured": "not applicable"}) == (row not in cases)
        assert row in cases or not values.any()
    assert "not applicable" in NOT_ASKED


def test_a_row_without_a_case_is_not_asked_in_a_score_table(tmp_path):
    load = pa.table({"id": ["1", "2", "3"], "candidate": ["a"] * 3})
    rows = [("It is 42", ["42"]), (None, ["Paris"]), ("no", ["7"])]
    write_part(score_table(load, pairs_of(rows), {"number_match": NumberMatch()}), tmp_path, 0)

    [column] = score_columns(Parts(tmp_path))

    assert column.values.tolist() == pytest.approx([1.0, np.nan, 0.0], nan_ok=True)
    assert column.not_asked.tolist() == [False, True, False]
