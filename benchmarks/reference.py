"""The reference stack: what everybody uses, called pair by pair.

NLTK's sentence_bleu, sentence_gleu and METEOR; rouge-score's ROUGE-L; SQuAD's F1 and benchwise's accuracy in plain
Python; RapidFuzz's Levenshtein; Python's `in` and `==`. METEOR reads WordNet through NLTK's reader where a WordNet
dict folder is installed, else through our own table, which is faster: the comparison is then the harder one.
"""

import os
import re
import shutil
import string
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nltk
from nltk.corpus.reader.wordnet import WordNetCorpusReader
from nltk.tokenize import NLTKWordTokenizer
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
from nltk.translate.gleu_score import sentence_gleu
from nltk.translate.meteor_score import single_meteor_score
from rapidfuzz.distance import Levenshtein
from rouge_score.rouge_scorer import RougeScorer

from benchmarks.data import TextPairs
from goldmeter.text.tokens import Ragged
from goldmeter.text.wordnet import PARTS_OF_SPEECH, SUFFIXES, TABLE, WordNet, read

WORDNET = Path(os.environ.get("WNSEARCHDIR", "/usr/share/wordnet"))
"""WordNet's own variable; else the folder of Debian's wordnet-base."""
LEXICOGRAPHER_FILES = 45
TOKENISED = frozenset({"bleu", "gleu", "meteor"})
"""What is called with tokens; the others take texts."""
Split = Callable[[str], list[str]]


@dataclass(frozen=True)
class Stack:
    """The reference metrics.

    split: the tokenizer of BLEU, GLEU and METEOR. scorers: our name of a metric → its score of a response and a
    reference.
    """

    split: Split
    scorers: Mapping[str, Callable[[Any, Any], float]]

    def scores(self, metrics: Sequence[str], pairs: TextPairs) -> dict[str, list[float]]:
        """Each metric's score of each pair; those that want tokens share them."""
        texts = list(zip(*pairs, strict=True))
        shared = TOKENISED.intersection(metrics)
        tokens = [(self.split(response), self.split(reference)) for response, reference in texts] if shared else []
        called = [(name, self.scorers[name], tokens if name in TOKENISED else texts) for name in metrics]
        return {name: [scorer(*pair) for pair in both] for name, scorer, both in called}


def stack(tokens: str, reader: Any) -> Stack:
    """The stack with `treebank` tokens (and rouge-score's own) or with `whitespace` ones, the cheapest there are."""
    if tokens == "treebank":
        return Stack(NLTKWordTokenizer().tokenize, _scorers(RougeScorer(["rougeL"]), reader))
    lowered = SimpleNamespace(tokenize=lambda text: text.lower().split())
    return Stack(str.split, _scorers(RougeScorer(["rougeL"], tokenizer=lowered), reader))


@contextmanager
def wordnet_reader(seen: TextPairs) -> Iterator[tuple[str, Any]]:
    """Name of a WordNet reader for NLTK's METEOR, and the reader, which has kept what it read for the pairs seen."""
    with _wordnet_reader() as (name, reader):
        stack("whitespace", reader).scores(["meteor"], seen)
        yield name, reader


@contextmanager
def _wordnet_reader() -> Iterator[tuple[str, Any]]:
    if not (WORDNET / "data.noun").exists():
        yield "our table behind NLTK's interface, cached", TableReader(read(TABLE))
        return
    with tempfile.TemporaryDirectory() as root, warnings.catch_warnings():
        folder = Path(root, "corpora", "wordnet")
        shutil.copytree(WORDNET, folder)
        # Debian leaves these two out; METEOR asks for nothing in them.
        numbered = (f"{number:02d}\tname{number}\t1\n" for number in range(LEXICOGRAPHER_FILES))
        (folder / "lexnames").write_text("".join(numbered), encoding="utf-8")
        (folder / "index.sense").touch()
        warnings.simplefilter("ignore")  # "multilingual functions are not available"
        nltk.data.path.insert(0, root)  # NLTK opens files under its data path only
        try:
            yield "NLTK's WordNetCorpusReader", WordNetCorpusReader(str(folder), None)
        finally:
            nltk.data.path.remove(root)


class Synonyms:
    """Synonyms word by word: the obvious twin of `WordNet.related`, for NLTK's METEOR and for tests."""

    def __init__(self, table: WordNet) -> None:
        self._table = table
        self._numbers = {word: number for number, word in enumerate(table.words)}

    def of(self, word: str) -> frozenset[str]:
        """The lemma names without "_" of every synset of the word, after morphology; empty when unknown."""
        return frozenset(
            name
            for part in PARTS_OF_SPEECH
            for lemma in self._lemmas(word.lower(), part)
            for name in self._row(self._table.names[part], lemma)
        )

    def _lemmas(self, word: str, part: str) -> list[str]:
        endings = (word.removesuffix(old) + new for old, new in SUFFIXES[part] if word.endswith(old))
        return [word, *(self._row(self._table.exceptions[part], word) or endings)]

    def _row(self, rows: Ragged, word: str) -> list[str]:
        if word not in self._numbers:
            return []
        start, stop = rows.offsets[self._numbers[word] :][:2]
        return [self._table.words[each] for each in rows.ids[start:stop]]


class TableReader:
    """What NLTK's METEOR asks of a WordNet reader, answered by a table of ours."""

    def __init__(self, table: WordNet) -> None:
        synonyms = Synonyms(table)
        self.synsets = cache(lambda word: [SimpleNamespace(lemmas=_lemmas(synonyms.of(word)))])


def _lemmas(names: Iterable[str]) -> Callable[[], list[Any]]:
    lemmas = [SimpleNamespace(name=lambda name=name: name) for name in names]
    return lambda: lemmas


_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def _scorers(rouge: RougeScorer, reader: Any) -> dict[str, Callable[[Any, Any], float]]:
    method_4 = SmoothingFunction().method4
    return {
        "exact_match": lambda response, reference: float(response == reference),
        "accuracy": lambda response, reference: float(_benchwise(response) == _benchwise(reference)),
        "string_presence": lambda response, reference: float(reference in response),
        "f1": _squad_f1,
        "bleu": lambda response, reference: sentence_bleu([reference], response, smoothing_function=method_4),
        "gleu": lambda response, reference: sentence_gleu([reference], response),
        "rouge": lambda response, reference: rouge.score(reference, response)["rougeL"].fmeasure,
        "meteor": lambda response, reference: single_meteor_score(reference, response, wordnet=reader),
        "non_llm_string_similarity": Levenshtein.normalized_similarity,
    }


def _squad_f1(response: str, reference: str) -> float:
    """SQuAD's evaluate-v1.1.py."""
    prediction, truth = _squad_tokens(response), _squad_tokens(reference)
    same = sum((Counter(prediction) & Counter(truth)).values())
    if same == 0:
        return 0.0
    precision, recall = same / len(prediction), same / len(truth)
    return 2 * precision * recall / (precision + recall)


def _squad_tokens(text: str) -> list[str]:
    return _ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split()


def _benchwise(text: str) -> str:
    return " ".join(text.lower().split()).translate(_PUNCTUATION).strip()
