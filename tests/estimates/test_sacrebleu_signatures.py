"""Signatures of sacrebleu: those that it prints itself, of columns whose values it gives too."""

import pytest
import sacrebleu

from goldmeter.estimates.column_facts import stated
from goldmeter.estimates.signature import VERSION, sacrebleu_signatures
from goldmeter.estimates.tables import score_table
from goldmeter.metrics.catalogue import configure
from goldmeter.metrics.pairs import Pairs
from goldmeter.pipeline.tables import Parts, about, write_part
from tests.reporting.made import inputs, load_table, row, written

ANSWERS = ["The cat (sat) on the mat.", "A dog ran over the wide field today.", "Rain, again."]
REFERENCES = [
    ["The cat sat on the mat.", "A cat sat."],
    ["The dog ran over a field today.", "A dog ran."],
    ["It rains.", "Rain."],
]
AS_SACREBLEU = {"profile": "sacrebleu"}
FLAGS = {"normalized": True, "no_punct": True, "asian_support": True, "case_sensitive": True}
PLUS_PLUS = {"word_order": 2, "whitespace": True, "lowercase": True}
THEIRS = [
    ("bleu", AS_SACREBLEU, sacrebleu.BLEU()),
    ("bleu", AS_SACREBLEU | {"smoothing": "floor", "lowercase": True},
     sacrebleu.BLEU(True, smooth_method="floor")),
    ("bleu", AS_SACREBLEU | {"smoothing": "add-k"}, sacrebleu.BLEU(smooth_method="add-k")),
    ("bleu", AS_SACREBLEU | {"smoothing": "none", "tokenizer": "char"},
     sacrebleu.BLEU(tokenize="char", smooth_method="none")),
    ("bleu", AS_SACREBLEU | {"tokenizer": "whitespace"}, sacrebleu.BLEU(tokenize="none")),
    ("chrf", {"scale": 100}, sacrebleu.CHRF()),
    ("chrf", PLUS_PLUS | {"scale": 100}, sacrebleu.CHRF(6, 2, 2, True, True)),
    ("chrf", {"scale": 100, "char_order": 3, "eps_smoothing": True}, sacrebleu.CHRF(3, eps_smoothing=True)),
    ("ter", {"scale": 100}, sacrebleu.TER()),
    ("ter", FLAGS | {"scale": 100}, sacrebleu.TER(True, True, True, True)),
]  # fmt: skip
OTHERS = [
    ("bleu", {}), ("bleu", {"profile": "nltk"}), ("bleu", AS_SACREBLEU | {"aggregate": "mean"}),
    ("bleu", AS_SACREBLEU | {"max_order": 2}), ("chrf", {"beta": 1.0}), ("chrf", {"aggregate": "mean"}),
    ("ter", {"aggregate": "mean"}), ("f1", {}), ("rouge", {}),
]  # fmt: skip


def rows(references):
    return [
        row(f"q{i}", "aurora", answer, None, 0.5, None, references=tuple(references[i]))
        for i, answer in enumerate(ANSWERS)
    ]


def table(metrics, references=REFERENCES):
    return score_table(load_table(rows(references)), Pairs.of(ANSWERS, references), metrics)


def signatures(metrics, folder, references=REFERENCES):
    write_part(load_table(rows(references)), folder, 0)
    return sacrebleu_signatures(stated(about(table(metrics, references).schema)), Parts(folder))


@pytest.mark.parametrize(("name", "options", "theirs"), THEIRS)
def test_signature_and_value_are_those_of_sacrebleu(name, options, theirs, tmp_path):
    metric = configure("lexical", name, options)
    score = theirs.corpus_score(ANSWERS, [list(one) for one in zip(*REFERENCES, strict=True)])

    assert signatures({name: metric}, tmp_path) == {name: str(theirs.get_signature())}
    assert metric.score(metric.stats(Pairs.of(ANSWERS, REFERENCES)).sum(axis=0)) == pytest.approx(
        score.score, rel=1e-12
    )
    assert sacrebleu.__version__ == VERSION


@pytest.mark.parametrize(("name", "options"), OTHERS)
def test_values_that_sacrebleu_does_not_give_have_no_signature(name, options, tmp_path):
    assert signatures({name: configure("lexical", name, options)}, tmp_path) == {}


def test_other_numbers_of_references_and_a_name_of_the_users(tmp_path):
    own = configure("lexical", "with_words", {"metric": "chrf", "profile": "sacrebleu++"})

    found = signatures({"with_words": own}, tmp_path, [["a"], ["a", "b"], []])

    assert found == {"with_words": f"nrefs:var|case:mixed|eff:yes|nc:6|nw:2|space:no|version:{VERSION}"}


def test_it_stands_in_the_document_and_on_the_page(tmp_path):
    metrics = {
        "chrf": configure("lexical", "chrf", {}),
        "ter": configure("lexical", "ter", {"scale": 100}),
        "f1": configure("lexical", "f1", {}),
    }
    extra = {"lexical": table(metrics)}

    document = inputs(rows(REFERENCES), tmp_path / "document", extra=extra)[1]["reports/metrics.json"]
    html = written(rows(REFERENCES), tmp_path / "page", extra=extra)["reports/index.html"]

    assert list(document["sacrebleu"]) == ["chrf", "ter"]
    assert f"sacrebleu, times 100: <code>{document['sacrebleu']['chrf']}</code>" in html
    assert f"sacrebleu: <code>{document['sacrebleu']['ter']}</code>" in html
