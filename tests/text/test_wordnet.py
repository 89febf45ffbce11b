import os
import warnings
from itertools import pairwise
from pathlib import Path

import nltk
import numpy as np
import pytest
from nltk.corpus.reader.wordnet import WordNetCorpusReader

from benchmarks.reference import Synonyms
from goldmeter.errors import ModelError
from goldmeter.text import wordnet as module
from goldmeter.text.wordnet import PARTS_OF_SPEECH, SUFFIXES, TABLE, read, render, wordnet
from goldmeter.text.words import Words, porter_stems
from scripts.build_wordnet import build

DICT = Path(os.environ.get("WNSEARCHDIR", "/usr/share/wordnet"))  # WordNet's own variable; Debian's wordnet-base
needs_dict = pytest.mark.skipif(not (DICT / "data.noun").exists(), reason=f"no WordNet dict folder at {DICT}")


@pytest.fixture(scope="module")
def nltk_reader(tmp_path_factory):
    """NLTK's own reader over the dict folder."""
    root = tmp_path_factory.mktemp("nltk_data")
    folder = root / "corpora" / "wordnet"  # it reads index.sense a second time, as the corpus of this name
    folder.mkdir(parents=True)
    for source in filter(Path.is_file, DICT.iterdir()):
        (folder / source.name).write_bytes(source.read_bytes())
    # Debian leaves these out; no name of a lexicographer file is asked for here.
    (folder / "lexnames").write_text("".join(f"{i:02d}\tname{i}\t1\n" for i in range(45)))
    (folder / "index.sense").touch()
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.setattr(nltk.data, "path", [str(root)])  # NLTK opens files under its data path only
        warnings.simplefilter("ignore")  # "multilingual functions are not available"
        yield WordNetCorpusReader(str(folder), None)


@pytest.fixture(scope="module")
def synonyms():
    """The obvious twin of `related`."""
    return Synonyms(wordnet())


def expected(reader, word):
    return {lemma.name() for synset in reader.synsets(word) for lemma in synset.lemmas() if "_" not in lemma.name()}


def irregular_forms(table):
    return [word for part in PARTS_OF_SPEECH for word in np.array(table.words)[table.exceptions[part].lengths > 0]]


def assert_equal(table, other):
    assert table.words == other.words
    for tables, others in ((table.names, other.names), (table.exceptions, other.exceptions)):
        for part in PARTS_OF_SPEECH:
            np.testing.assert_array_equal(tables[part].ids, others[part].ids)
            np.testing.assert_array_equal(tables[part].offsets, others[part].offsets)


@pytest.mark.parametrize(
    ("word", "names"),
    [
        ("42", {"42", "forty-two", "xlii"}),
        ("autos", {"auto", "automobile", "car", "machine", "motorcar"}),
        ("paris", {"Paris"}),
        ("French_capital", {"Paris"}),
        ("mice", {"mouse", "shiner"}),
        ("xyzzy", set()),
        ("", set()),
        ("日本", set()),
    ],
)
def test_synonyms_of_a_word(synonyms, word, names):
    assert synonyms.of(word) == names


def test_related_stems_are_the_synonyms_that_are_in_the_vocabulary():
    offsets, ids = wordnet().related(Words.of(["xyzzy", "mice", "car", "mouse", "autos", "auto"]))

    assert (offsets.dtype, ids.dtype) == (np.int64, np.int32)
    assert [ids[start:end].tolist() for start, end in pairwise(offsets)] == [[], [3], [2, 5], [3], [2, 5], [2, 5]]


@pytest.mark.parametrize("stems", [[], ["xyzzy"]])
def test_a_vocabulary_without_known_stems_has_no_related_ones(stems):
    offsets, ids = wordnet().related(Words.of(stems))

    assert offsets.tolist() == [0] * (len(stems) + 1)
    assert ids.tolist() == []


@pytest.mark.parametrize("step", [50, pytest.param(5, marks=pytest.mark.exhaustive)])
def test_related_stems_equal_the_synonyms_stem_by_stem(synonyms, step):
    table = wordnet()
    lemmas = [word for word in table.words[::step] if word == word.lower() and synonyms.of(word)]
    forms = irregular_forms(table)
    endings = [old for rules in SUFFIXES.values() for old, _ in rules]
    inflected = [lemma + ending for lemma in lemmas[::20] for ending in endings]
    stems = list(dict.fromkeys([*porter_stems(lemmas), *lemmas, *forms, *inflected]))

    position = {stem: i for i, stem in enumerate(stems)}

    offsets, ids = table.related(Words.of(stems))

    assert len(stems) > 250_000 / step
    for stem, (start, end) in zip(stems, pairwise(offsets), strict=True):
        expected = sorted(position[name] for name in synonyms.of(stem) if name in position)
        assert ids[start:end].tolist() == expected, stem


def test_the_table_holds_wordnet_3_0():
    named = [int((wordnet().names[part].lengths > 0).sum()) for part in PARTS_OF_SPEECH]

    assert len(wordnet().words) == 168_897
    assert named == [84_382, 10_477, 21_293, 4_099]
    assert wordnet().words == sorted(set(wordnet().words))
    assert 1_000_000 < TABLE.stat().st_size < 2_000_000


def test_the_licence_stands_beside_the_table():
    licence = TABLE.with_suffix(".LICENSE").read_text()

    assert "WordNet 3.0 Copyright 2006 by Princeton University.  All rights reserved." in licence
    assert 'PROVIDED "AS IS"' in licence


@pytest.mark.parametrize("damage", [None, b"", b"no zip", TABLE.read_bytes()[:100_000]])
def test_without_its_table_nothing_is_guessed(tmp_path, monkeypatch, damage):
    path = tmp_path / "wordnet.npz"
    if damage is not None:
        path.write_bytes(damage)
    monkeypatch.setattr(module, "TABLE", path)
    wordnet.cache_clear()

    with pytest.raises(ModelError, match=r"wordnet\.npz can't be read .*set lexical\.meteor\.synonyms to false"):
        wordnet()


def test_a_written_table_reads_back(tmp_path):
    (tmp_path / "table.npz").write_bytes(render(wordnet()))

    assert_equal(read(tmp_path / "table.npz"), wordnet())


@needs_dict
def test_the_table_is_what_the_script_builds():
    assert_equal(build(DICT), read(TABLE))


def test_another_version_of_wordnet_is_refused(tmp_path):
    (tmp_path / "data.noun").write_text("  14 WordNet 3.1 Copyright 2011 by Princeton University.\n")

    with pytest.raises(ValueError, match=r"data\.noun is not of WordNet 3\.0"):
        build(tmp_path)


@needs_dict
@pytest.mark.exhaustive
def test_synonyms_equal_nltk_on_every_lemma(nltk_reader, synonyms):
    for lemma in nltk_reader.all_lemma_names():
        assert synonyms.of(lemma) == expected(nltk_reader, lemma), lemma


@needs_dict
def test_synonyms_equal_nltk_on_inflected_words(nltk_reader, synonyms):
    lemmas = sorted(nltk_reader.all_lemma_names())[::40]
    endings = ["s", "es", "ses", "ves", "ies", "xes", "men", "ed", "ing", "er", "est", "ly", "'s", "-"]
    exceptions = irregular_forms(wordnet())
    words = [lemma[: len(lemma) - cut] + ending for lemma in lemmas for ending in endings for cut in (0, 1)]

    assert len(words) > 50_000
    for word in [*words, *exceptions]:
        assert synonyms.of(word) == expected(nltk_reader, word), word
