"""METEOR: words aligned by form, by stem and by synonym; F-mean of precision and recall, less fragmentation.

Source: Lavie & Agarwal 2007, "METEOR: An Automatic Metric for MT Evaluation with High Levels of
Correlation with Human Judgments"; NLTK 3.10 `translate.meteor_score`, whose alignment it repeats.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tasks.metrics.base import Floats, MeanMetric
from tasks.metrics.fallback import token_fallback
from tasks.metrics.pairs import Pairs, Tokens
from tasks.metrics.stemmer import porter_stem
from tasks.metrics.tokenizers import TokenizerName
from tasks.metrics.wordnet import VERSION, wordnet

Share = Annotated[float, Field(ge=0, le=1)]
Integers = NDArray[np.int64]
_AS_NLTK = {"tokenizer": "treebank", "perfect_match": False, "fallback": False}


class Meteor(MeanMetric):
    """METEOR of the best reference.

    alpha: weight of recall in the F-mean. beta, gamma: exponent and largest value of the penalty.
    perfect_match: no penalty when every token of both texts is matched in one chunk (METEOR 1.5).
    fallback: texts without tokens are compared as they are; else they score 0.
    """

    profiles: ClassVar[Mapping[str, Mapping[str, Any]]] = {"nltk": _AS_NLTK, "azure": _AS_NLTK}

    alpha: Share = 0.9
    beta: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 3.0
    gamma: Share = 0.5
    synonyms: bool = True
    perfect_match: bool = True
    tokenizer: TokenizerName = "13a+cjk"
    fallback: bool = True

    def pair_scores(self, pairs: Pairs) -> Floats:
        tokens = pairs.tokens(self.tokenizer)
        matches, chunks = alignments(tokens, pairs.rows, _forms(tokens.vocabulary, synonyms=self.synonyms)).T
        scores = self._f_mean_less_penalty(
            matches, chunks, tokens.responses.lengths[pairs.rows], tokens.references.lengths
        )
        if self.fallback:
            without_tokens = token_fallback(tokens, pairs)
            scores = np.where(np.isnan(without_tokens), scores, without_tokens)
        return scores[:, None]

    def signature_fields(self) -> dict[str, object]:
        return {
            "alpha": self.alpha,
            "beta": self.beta,
            "gamma": self.gamma,
            "stem": "porter",
            "syn": f"wordnet{VERSION}" if self.synonyms else "no",
            "perfect": self.perfect_match,
            "tok": self.tokenizer,
            "case": "lc",
            "refs": "best",
            **({} if self.fallback else {"fallback": "no"}),
        }

    def _f_mean_less_penalty(
        self, matches: Integers, chunks: Integers, responses: Integers, references: Integers
    ) -> Floats:
        """Scores of alignments between texts of so many tokens; all of shape (m,)."""
        some = matches > 0
        precision, recall = matches[some] / responses[some], matches[some] / references[some]
        f_mean = precision * recall / (self.alpha * precision + (1 - self.alpha) * recall)
        penalty = self.gamma * (chunks[some] / matches[some]) ** self.beta
        if self.perfect_match:
            penalty[(chunks[some] == 1) & (precision == 1) & (recall == 1)] = 0.0
        scores = np.zeros(len(matches))
        scores[some] = (1 - penalty) * f_mean
        return scores


class Forms(NamedTuple):
    """What the stages compare, looked up once for each entry of the vocabulary.

    lowered, stems: the lower-cased entry and its stem, as ids; shape (vocabulary,).
    synonyms: for each stem, the stems that are synonyms of it.
    """

    lowered: Integers
    stems: Integers
    synonyms: Sequence[frozenset[int]]


def alignments(tokens: Tokens, rows: NDArray[np.int64], forms: Forms) -> Integers:
    """Matches and chunks of each reference with its row's response; shape (m, 2)."""
    responses, references = tokens.responses, tokens.references
    lowered = forms.lowered[responses.ids].tolist(), forms.lowered[references.ids].tolist()
    stems = forms.stems[responses.ids].tolist(), forms.stems[references.ids].tolist()
    counts = np.zeros((len(rows), 2), np.int64)
    for j, row in enumerate(rows):
        response = slice(responses.offsets[row], responses.offsets[row + 1])
        reference = slice(references.offsets[j], references.offsets[j + 1])
        matched = _align(
            (lowered[0][response], lowered[1][reference]),
            (stems[0][response], stems[1][reference]),
            forms.synonyms,
        )
        counts[j] = len(matched), _chunks(matched)
    return counts


Sides = tuple[list[int], list[int]]
"""A form of every word of the response, and of every word of the reference."""


def _align(lowered: Sides, stems: Sides, synonyms: Sequence[frozenset[int]]) -> dict[int, int]:
    """Positions in the response → positions in the reference.

    Each stage goes through the response from its end, and gives each word the last free word that fits.
    """
    matched: dict[int, int] = {}
    free = set(range(len(lowered[1])))
    for hypothesis, reference in (lowered, stems):
        positions = _positions(reference, free)
        for i in _unmatched(len(hypothesis), matched):
            if positions.get(hypothesis[i]):
                matched[i] = positions[hypothesis[i]].pop()
        free.difference_update(matched.values())
    positions = _positions(stems[1], free)
    for i in _unmatched(len(stems[0]), matched):
        places = [positions[stem] for stem in synonyms[stems[0][i]] if positions.get(stem)]
        if places:
            matched[i] = max(places, key=lambda place: place[-1]).pop()
    return matched


def _positions(reference: list[int], free: set[int]) -> dict[int, list[int]]:
    """Where each word still free stands, in ascending order."""
    positions: dict[int, list[int]] = defaultdict(list)
    for j in sorted(free):
        positions[reference[j]].append(j)
    return positions


def _unmatched(length: int, matched: Mapping[int, int]) -> list[int]:
    """The positions without a match, from the last to the first."""
    return [i for i in range(length - 1, -1, -1) if i not in matched]


def _chunks(matched: Mapping[int, int]) -> int:
    """How many runs of matches are adjacent and in order on both sides."""
    return sum(matched.get(i - 1, -2) != j - 1 for i, j in matched.items())


def _forms(vocabulary: Sequence[str], *, synonyms: bool) -> Forms:
    lowered: dict[str, int] = {}
    lowered_ids = [lowered.setdefault(token.lower(), len(lowered)) for token in vocabulary]
    stems: dict[str, int] = {}
    stem_ids = [stems.setdefault(porter_stem(token), len(stems)) for token in lowered]
    related = [_known(wordnet().synonyms(stem), stems) if synonyms else frozenset[int]() for stem in stems]
    return Forms(np.array(lowered_ids, np.int64), np.array(stem_ids, np.int64)[lowered_ids], related)


def _known(words: frozenset[str], ids: Mapping[str, int]) -> frozenset[int]:
    return frozenset(ids[word] for word in words if word in ids)
