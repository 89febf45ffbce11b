"""The peers of `chrf`, `number` and `json_fields` define the same scores on what the benchmark compares."""

import numpy as np
import pytest

from benchmarks import peers
from benchmarks.data import TextPairs
from tasks.metrics.catalogue import configure
from tasks.metrics.pairs import Pairs

TEXTS = TextPairs(["It is Paris.", "In 1,900 or 2", "No."] * 20, ["Paris", "1900", "Rome it is"] * 20)


@pytest.fixture(scope="module")
def data():
    return {"chrf": TEXTS, "number": peers.with_numbers(TEXTS), "json_fields": peers.as_json().sample(200)}


@pytest.mark.parametrize("peer", [pytest.param(peer, id=peer.name) for peer in peers.peers()])
def test_every_score_equals_the_peers(peer, data):
    pairs = data[peer.metric]
    metric = configure("lexical", peer.metric, peer.options)

    theirs = [peer.score(*pair) for pair in zip(*pairs, strict=True)]

    assert np.abs(metric.score(metric.stats(Pairs.of(*pairs))) - np.array(theirs)).max() <= 1e-12
    assert 0 < np.mean(theirs) < metric.bounds[1]


def test_different_scores_stop_the_benchmark(data):
    wrong = peers.Peer("number", {}, "a wrong peer", lambda _response, _reference: 0.5, 1.0)

    with pytest.raises(ValueError, match=r"number and a wrong peer: scores differ by 0\.5"):
        peers.compare(wrong, data["number"])
