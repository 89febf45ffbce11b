"""The numbers of sacrebleu and rouge-score, on generated translations and summaries."""

import re
from pathlib import Path

import pytest

from benchmarks.peers import PAIRS, SEED, TOLERANCE, difference, generated, peers

PAGE = Path(__file__).parents[2] / "docs/reference/metrics.md"


@pytest.mark.parametrize("name", peers())
def test_equal_to_the_peer(name: str) -> None:
    pairs = 40 if name == "TER" else 400

    assert difference(peers()[name], generated(pairs, SEED + 1)) <= TOLERANCE


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", peers())
def test_equal_to_the_peer_on_5000_pairs(name: str) -> None:
    assert difference(peers()[name], generated(PAIRS, SEED)) <= TOLERANCE


def test_the_page_states_the_signatures_of_sacrebleu() -> None:
    import sacrebleu

    stated = re.findall(
        r"^\| `(\w+): \{profile: sacrebleu\}` \| `(.*)` \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    metrics = {"bleu": sacrebleu.BLEU(), "chrf": sacrebleu.CHRF(), "ter": sacrebleu.TER()}
    for metric in metrics.values():
        metric.corpus_score(["a b"], [["a b"]])

    assert {name: text.replace("\\|", "|") for name, text in stated} == {
        name: str(metric.get_signature()).removeprefix("nrefs:1|") for name, metric in metrics.items()
    }
