import runpy
from itertools import islice

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks import data
from goldmeter.dataset.settings import Params
from goldmeter.dataset.sources import records
from tasks.load import load
from tests.small_project import PARAMS


def test_the_folder_of_the_real_data_is_that_of_the_variable(monkeypatch):
    monkeypatch.setenv("GOLDMETER_EVOUNA", "/some/folder")

    assert runpy.run_path(data.__file__)["EVOUNA"].as_posix() == "/some/folder/NQ.json"


@pytest.fixture(scope="module")
def real():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(data, "EVOUNA", data.ROOT / "nowhere")
        patch.setattr(data, "PARAMS", PARAMS)
        return data.real_rows()[1]


@pytest.fixture(scope="module")
def generated(real):
    return pa.concat_tables(islice(data.generate(real, seed=1), 2))


def responses(table):
    return [text for name in data.CANDIDATES for text in table[name].to_pylist()]


def words(texts):
    return {word for text in texts for word in text.split()}


def test_the_same_seed_generates_the_same_records(real, generated):
    assert pa.concat_tables(islice(data.generate(real, seed=1), 2)).equals(generated)
    assert not next(data.generate(real, seed=2)).equals(generated.slice(0, data.CHUNK))


def test_fewer_rows_are_the_first_of_more(real, generated, tmp_path):
    data.write_generated(real, 50, tmp_path / "few.parquet", seed=1)

    assert pq.read_table(tmp_path / "few.parquet").equals(generated.slice(0, 10))


def test_generated_sentences_are_distinct_and_not_the_real_ones(real, generated):
    sentences = generated["c2"].to_pylist()  # the example's other candidate answers in a word

    assert len(set(sentences)) > 0.95 * len(sentences)
    assert len(set(sentences) & set(real["response"].to_pylist())) < 0.02 * len(sentences)


def test_the_vocabulary_grows_with_the_text(generated):
    texts = responses(generated)

    assert len(words(texts)) > 1.3 * len(words(texts[::2]))


def test_references_are_real_ones_of_the_question(real, generated):
    known = set(zip(real["input"].to_pylist(), map(tuple, real["references"].to_pylist()), strict=True))

    assert (
        set(zip(generated["question"].to_pylist(), map(tuple, generated["references"].to_pylist()), strict=True))
        <= known
    )


def test_load_takes_every_generated_record(real, tmp_path):
    data.write_generated(real, 100, tmp_path / "some.parquet")
    sections = data.generated_sections(str(tmp_path / "some.parquet"))
    params = Params(dataset=sections["dataset"], load=sections["load"])

    (part,) = load(records(params.dataset.path), params)

    assert part["load"].num_rows == 100
    assert part["load_rejected"].num_rows == 0


def test_samples_are_the_same_each_time_and_have_no_pair_in_common():
    pairs = data.TextPairs([str(i) for i in range(1000)], [f"to {i}" for i in range(1000)])

    sample, other = pairs.sample(100), pairs.sample(100, start=100)

    assert len(set(sample.responses)) == len(set(other.responses)) == 100
    assert sample == pairs.sample(100)
    assert sample.references == [f"to {text}" for text in sample.responses]
    assert not set(sample.responses) & set(other.responses)
    assert pairs.sample(2000) == pairs


def test_a_sample_takes_every_candidate_about_as_often():
    pairs = data.TextPairs([str(i) for i in range(10_000)], ["x"] * 10_000)

    sample = pairs.sample(1000)

    counts = [sum(int(text) % 5 == k for text in sample.responses) for k in range(5)]
    assert min(counts) > 150
