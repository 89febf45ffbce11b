"""OpenAI's text graders beside the metrics here, on pairs of the bundled example: `python -m benchmarks.graders`.

Prints the rows of the table in docs/how-to/other-tools-logs.md. OpenAI's documentation names rapidfuzz for
`fuzzy_match`, and for the others the metric alone: no tokens, smoothing or stemming. "Theirs" is what the
usual library computes with its default options. `cosine` needs OpenAI's embeddings.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import sacrebleu
from nltk.translate.bleu_score import sentence_bleu
from rapidfuzz import fuzz
from rouge_score.rouge_scorer import RougeScorer

from benchmarks.data import ROOT, TextPairs
from benchmarks.reference import stack, wordnet_reader
from goldmeter.dataset.sources import records
from goldmeter.metrics import score

PAIRS = 500
EXAMPLE = ROOT / "data/examples/qa.jsonl"
SYSTEMS = ("aurora", "borealis")
# Differences that are no rounding.
TOLERANCE = 1e-9


class Grader(NamedTuple):
    """A grader of OpenAI's.

    theirs: the library's score of a response and a reference. name: of the metric here. options: with them it has the
    library's definition. default: what names it as it is shipped.
    """

    library: str
    theirs: Callable[[str, str], float]
    name: str
    options: Mapping[str, Any]
    default: Mapping[str, Any]


class Difference(NamedTuple):
    """What a metric gives on the same pairs as a grader.

    theirs, ours: means, of our metric as shipped. differing: share of the pairs where it differs, 0 to 1. same: the
    largest difference with the options.
    """

    grader: str
    library: str
    options: str
    theirs: float
    ours: float
    differing: float
    same: float


def pairs(count: int = PAIRS) -> TextPairs:
    """The first answers of the bundled example, each with its first reference."""
    rows = [record.values for record in records(EXAMPLE)]
    answers = ((row[name], row["references"]) for row in rows for name in SYSTEMS)
    texts = [(answer, accepted[0]) for answer, accepted in answers if answer and isinstance(accepted, list)][:count]
    return TextPairs([str(answer) for answer, _ in texts], [str(reference) for _, reference in texts])


def graders(reader: Any) -> dict[str, Grader]:
    """Every text grader but `cosine`, by OpenAI's name of it."""
    nltk = stack("treebank", reader)

    def of_nltk(name: str) -> Callable[[str, str], float]:
        return lambda response, reference: nltk.scorers[name](nltk.split(response), nltk.split(reference))

    def rouge(name: str) -> Callable[[str, str], float]:
        scorer = RougeScorer([name])
        return lambda response, reference: float(scorer.score(reference, response)[name].fmeasure)

    return {
        "fuzzy_match": Grader(
            "rapidfuzz `fuzz.ratio`",
            lambda response, reference: fuzz.ratio(response, reference) / 100.0,
            "non_llm_string_similarity",
            {"distance": "indel"},
            {},
        ),
        "bleu": Grader(
            "sacrebleu",
            lambda response, reference: sacrebleu.sentence_bleu(response, [reference]).score / 100.0,
            "bleu",
            {"profile": "sacrebleu", "scale": 1},
            {},
        ),
        "bleu ": Grader(
            "NLTK",
            lambda response, reference: float(sentence_bleu([nltk.split(reference)], nltk.split(response))),
            "bleu",
            {"profile": "nltk"},
            {},
        ),
        "gleu": Grader("NLTK", of_nltk("gleu"), "gleu", {"profile": "nltk"}, {}),
        "meteor": Grader("NLTK", of_nltk("meteor"), "meteor", {"profile": "nltk"}, {}),
        **{
            f"rouge_{n}".lower(): Grader(
                "rouge-score", rouge(f"rouge{n}"), "rouge", {"n": n, "profile": "rouge_score"}, {"n": n}
            )
            for n in (1, 2, 3, 4, 5, "L")
        },
    }


def differences(texts: TextPairs) -> Iterator[Difference]:
    """Yield the difference of every grader."""
    with wordnet_reader(texts) as (_, reader), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NLTK: the BLEU score is 0
        for name, one in graders(reader).items():
            theirs = np.array([one.theirs(*pair) for pair in zip(*texts, strict=True)])
            ours, same = (score(one.name, *texts, **options) for options in (one.default, one.options))
            apart = np.abs(ours - theirs)
            yield Difference(
                name.strip(),
                one.library,
                f"{one.name}: {{{', '.join(f'{key}: {value}' for key, value in one.options.items())}}}",
                float(theirs.mean()),
                float(ours.mean()),
                float((apart > TOLERANCE).mean()),
                float(np.abs(same - theirs).max()),
            )


def lines() -> Iterator[str]:
    """Yield the rows of the table in docs/how-to/other-tools-logs.md."""
    for one in differences(pairs()):
        numbers = f"{one.ours:.3f} | {one.theirs:.3f} | {one.differing:.1%}".replace("%", " %")
        yield f"| `{one.grader}` | {one.library} | `{one.options}` | {numbers} |"


if __name__ == "__main__":
    print("\n".join(lines()))
