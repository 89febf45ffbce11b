"""`chrf`, `number` and `json_fields` against sacrebleu and plain Python, which score pair by pair; one core."""

import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import sacrebleu

from benchmarks.data import TextPairs, real_rows, text_pairs
from benchmarks.measure import Cost, in_forks, stay_on_one_core, timed, typical
from benchmarks.report import Floor, Result, Table, paragraphs
from tasks.metrics.catalogue import configure
from tasks.metrics.pairs import Pairs

ROUNDS = 3
ROWS = 20_000
LINES = 4
# Pairs that sacrebleu scores, which takes a millisecond each.
SAMPLE = 2_000
TOLERANCE = 1e-12
Score = Callable[[str, str], float]


class Peer(NamedTuple):
    """A metric of ours with its options, what it is compared with, and the least ratio of their rates."""

    metric: str
    options: Mapping[str, Any]
    name: str
    score: Score
    floor: float


def peers() -> list[Peer]:
    """Each of the metrics with its peer; chrF beside sacrebleu, the others beside the shortest Python that is right."""
    chrf, chrf_plus = (sacrebleu.CHRF(word_order=order) for order in (0, 2))
    return [
        Peer("chrf", {"profile": "sacrebleu"}, "sacrebleu's chrF", partial(_sacrebleu, chrf), 10.0),
        Peer("chrf", {"profile": "sacrebleu++"}, "sacrebleu's chrF++", partial(_sacrebleu, chrf_plus), 10.0),
        Peer("number", {}, "the last match of a regular expression as Decimal", plain_number, 0.1),
        Peer("json_fields", {}, "json.loads, and a dictionary of paths", plain_json_f1, 0.3),
    ]


def run() -> Result:
    """The section `peers`."""
    name, rows = real_rows()
    real = text_pairs(rows)
    data = {"chrf": real, "number": with_numbers(real), "json_fields": as_json()}
    compared = [(peer, compare(peer, data[peer.metric])) for peer in peers()]
    about = paragraphs(f"""
        chrf: {name}, {len(real.responses):,} pairs of a response and one of its references; sacrebleu scores
        {SAMPLE:,} of them. number: the same responses, each with a number at its end. json_fields: {ROWS:,} generated
        pairs of an object with {LINES} lines.

        Both sides in one process on one core, medians of {ROUNDS} rounds, each in a fork that has cached nothing. Their
        scores agree within {TOLERANCE:g} on every pair compared, or the run stops. number reads fractions, percent,
        exponents, tuples and thousands of several languages, and is exact; json_fields compares by path and reports
        precision and recall: the plain peers do none of this.
    """)
    table = Table("One core, cold", tuple(_row(peer, *costs, data[peer.metric]) for peer, costs in compared))
    return Result("peers", about, (table,), tuple(_floor(peer, *costs) for peer, costs in compared))


def compare(peer: Peer, pairs: TextPairs) -> tuple[Cost, Cost, float]:
    """Ours and the peer's cost of all pairs, and the largest difference.

    Raises ValueError when the scores differ.
    """
    sample = pairs.sample(SAMPLE) if peer.metric == "chrf" else pairs
    rounds = [in_forks(partial(_turn, peer, pairs, sample))[0] for _ in range(ROUNDS)]
    ours, theirs = typical([each[0] for each in rounds]), typical([each[1] for each in rounds])
    share = len(pairs.responses) / len(sample.responses)
    difference = max(each[2] for each in rounds)
    if not difference <= TOLERANCE:
        raise ValueError(f"{peer.metric} and {peer.name}: scores differ by {difference}")
    return ours, Cost(theirs.wall * share, theirs.cpu * share), difference


def with_numbers(pairs: TextPairs) -> TextPairs:
    """The pairs, each text with a number at its end; half of them are equal, some have thousands separated."""
    draw = random.Random(0)  # noqa: S311 (no secret)
    responses, references = [], []
    for response, reference in zip(*pairs, strict=True):
        number = draw.choice([draw.randrange(100), draw.randrange(10**6), draw.randrange(10**6) / 100])
        other = number if draw.random() < 0.5 else number + 1  # noqa: PLR2004 (half)
        written = f"{number:,}" if draw.random() < 0.5 else str(number)  # noqa: PLR2004 (half)
        responses.append(f"{response} So it is {written}.")
        references.append(f"{reference} #### {other}")
    return TextPairs(responses, references)


def as_json() -> TextPairs:
    """Objects with lines, as they are extracted from invoices; a tenth of the fields of each response is wrong."""
    draw = random.Random(0)  # noqa: S311 (no secret)
    references = [_invoice(draw) for _ in range(ROWS)]
    responses = [_changed(reference, draw) for reference in references]
    return TextPairs(*([json.dumps(each) for each in side] for side in (responses, references)))


def plain_number(response: str, reference: str) -> float:
    """1 if the last numbers of both texts are equal."""
    found = [_NUMBER.findall(text) for text in (response, reference)]
    if not all(found):
        return 0.0
    one, other = (Decimal(each[-1].replace(",", "")) for each in found)
    return float(one == other)


def plain_json_f1(response: str, reference: str) -> float:
    """F1 of equal values at equal paths."""
    given, expected = (dict(_leaves(json.loads(text), "")) for text in (response, reference))
    right = sum(path in given and given[path] == value for path, value in expected.items())
    return float(2 * right / (len(given) + len(expected)))


def _turn(peer: Peer, pairs: TextPairs, sample: TextPairs) -> tuple[Cost, Cost, float]:
    stay_on_one_core()
    metric = configure("lexical", peer.metric, peer.options)
    metric.stats(Pairs.of(["a 1", "{}"], ["a 1", "{}"]))
    columns = Pairs.of(*pairs)
    _, ours = timed(lambda: metric.score(metric.stats(columns)))
    theirs, referring = timed(lambda: [peer.score(*pair) for pair in zip(*sample, strict=True)])
    scores = metric.score(metric.stats(Pairs.of(*sample)))
    return ours, referring, float(np.abs(scores - np.array(theirs)).max())


def _sacrebleu(metric: sacrebleu.CHRF, response: str, reference: str) -> float:
    return float(metric.sentence_score(response, [reference]).score)


def _floor(peer: Peer, ours: Cost, theirs: Cost, _: float) -> Floor:
    return Floor(f"{peer.metric} beside {peer.name}", "at least", peer.floor, "x", theirs.wall / ours.wall)


def _row(peer: Peer, ours: Cost, theirs: Cost, difference: float, pairs: TextPairs) -> dict[str, Any]:
    return {
        "metric": peer.metric,
        "peer": peer.name,
        "ours, pairs/s": len(pairs.responses) / ours.wall,
        "peer, pairs/s": len(pairs.responses) / theirs.wall,
        "ratio": theirs.wall / ours.wall,
        "largest difference": difference,
    }


def _invoice(draw: random.Random) -> dict[str, Any]:
    lines = [
        {"item": f"item {draw.randrange(1000)}", "count": draw.randrange(1, 9), "price": draw.randrange(10_000) / 100}
        for _ in range(LINES)
    ]
    return {"id": f"R-{draw.randrange(10**6)}", "paid": draw.random() < 0.9, "lines": lines, "note": None}  # noqa: PLR2004 (a share)


def _changed(value: Any, draw: random.Random) -> Any:
    if isinstance(value, dict):
        return {name: _changed(inner, draw) for name, inner in value.items()}
    if isinstance(value, list):
        return [_changed(inner, draw) for inner in value]
    return value if draw.random() < 0.9 else "wrong"  # noqa: PLR2004 (a tenth)


def _leaves(value: Any, path: str) -> Sequence[tuple[str, Any]]:
    if isinstance(value, dict):
        return [leaf for name, inner in value.items() for leaf in _leaves(inner, f"{path}.{name}")]
    if isinstance(value, list):
        return [leaf for i, inner in enumerate(value) for leaf in _leaves(inner, f"{path}[{i}]")]
    return [(path, value)]


_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
