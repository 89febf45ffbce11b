"""The reference stack against our metrics, on the bundled example: what the benchmark compares are the same scores."""

import sys

import numpy as np
import pyarrow as pa
import pytest
from absl.logging import get_absl_handler

from benchmarks import data, lexical, reference
from goldmeter.metrics.catalogue import configure
from goldmeter.metrics.pairs import Pairs
from tests.small_project import PARAMS, settings


@pytest.fixture(scope="module")
def pairs():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(data, "EVOUNA", data.ROOT / "nowhere")
        patch.setattr(data, "PARAMS", PARAMS)
        return data.text_pairs(data.real_rows()[1])


@pytest.fixture(scope="module")
def reader(pairs):
    with reference.wordnet_reader(pairs.sample(10)) as (_, found):
        yield found


@pytest.mark.parametrize("tokens", ["treebank", "whitespace"])
def test_every_score_equals_the_reference(pairs, reader, tokens):
    options = lexical.reference_options(tokens)

    theirs = reference.stack(tokens, reader).scores([*options], pairs)

    assert len(pairs.responses) > 200
    for name, scores in theirs.items():
        metric = configure("lexical", name, options[name])
        ours = metric.score(metric.stats(Pairs.of(*pairs)))
        assert np.abs(ours - np.array(scores)).max() <= 1e-12, name
        assert 0 < np.mean(scores) < 1, name


def test_the_stack_has_a_reference_for_every_lexical_metric_that_is_shipped():
    shipped = settings()["lexical"]

    referenced = lexical.reference_options("treebank")
    assert len(referenced) == 9
    assert {*shipped} - {*referenced} == {"string_presence_normalized"}  # a variant of a metric that has one


def test_the_stack_holds_no_stream_that_pytest_captures():
    assert get_absl_handler().python_handler.stream is sys.__stderr__


ROWS = pa.table({})  # read where our defaults are measured


def test_our_table_behind_nltks_interface_gives_the_same_meteor(pairs, reader):
    table = reference.TableReader(reference.read(reference.TABLE))

    some = pairs.sample(50)
    scores = [reference.stack("treebank", each).scores(["meteor"], some)["meteor"] for each in (reader, table)]

    assert scores[0] == scores[1]


def test_a_comparison_of_different_scores_stops(pairs, reader, monkeypatch):
    monkeypatch.setattr(lexical, "ROUNDS", 1)
    setting = lexical.Setting("wrong", {"bleu": {"profile": "azure", "tokenizer": "char"}}, "treebank", same=True)

    with pytest.raises(ValueError, match="wrong: all 1: scores differ by"):
        lexical.compare(setting, lexical.Data(pairs.sample(20), ROWS), lexical.Data(pairs.sample(10), ROWS), reader)


def test_the_stack_has_every_metric_that_is_compared_with_it(reader) -> None:
    for setting in lexical.settings(settings()["lexical"]):
        assert setting.metrics.keys() <= reference.stack(setting.tokens, reader).scorers.keys()
