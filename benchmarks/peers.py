"""Metrics of translations and summaries against sacrebleu and rouge-score: the same numbers, and how much sooner.

Data: {PAIRS:,} generated pairs of a text and its reference, one to four lines of 4 to 20 words each (seed {SEED}); in
a third of the places of a text a word is replaced, dropped or added, or a phrase moved.

Both sides in forks of one process on one core, in turns, medians of {ROUNDS} rounds; everything is imported and
compiled before, no token has been seen. Ours starts from Python lists, and gives the scores of all rows and that of the
corpus. sacrebleu gives the score of the corpus only (`corpus_score`), the cheapest that it has; rouge-score the rows.

All together: ours in one call, which shares tokens; the peers' metrics one after another, ROUGE's by one scorer.

The scores of all rows, and of the corpus where the peer has one, agree within {TOLERANCE:g}, or the run stops.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks.measure import Cost, in_forks, stay_on_one_core, timed, typical
from benchmarks.report import Floor, Result, Table
from goldmeter.metrics.base import Floats, Metric
from goldmeter.metrics.catalogue import configure
from goldmeter.metrics.pairs import Pairs

PAIRS = 5_000
SEED = 0
ROUNDS = 3
TOLERANCE = 1e-12
TOGETHER, ALONE = 20.0, 1.0
"""How many times the peers' rate each must reach."""
MARKS = ["", "", "", "", ",", ".", "!", "'s"]
Texts = Sequence[str]


class Peer(NamedTuple):
    """A metric of ours and the same elsewhere.

    name: of ours. options: ours. work: what is timed. rows: the peer's score of every row. corpus: its score of all of
    them; None: it has none.
    """

    name: str
    options: Mapping[str, Any]
    work: Callable[[Texts, Texts], object]
    rows: Callable[[Texts, Texts], list[float]]
    corpus: Callable[[Texts, Texts], float] | None

    @property
    def metric(self) -> Metric:
        """Ours, configured."""
        return configure("lexical", self.name, self.options)


def generated(pairs: int, seed: int) -> tuple[list[str], list[str]]:
    """Texts, and the reference of each; every one has a word."""
    chance = random.Random(seed)  # noqa: S311 (no secret)
    words = ["".join(chance.choices("etaoinshrdlu", k=chance.randint(1, 9))) for _ in range(4_000)]
    words += ["3.5", "1,000", "été", "Zürich", "東京", "U.S.", "a-b", "(c)", "&amp;"]
    references = ["\n".join(_line(words, chance) for _ in range(chance.randint(1, 4))) for _ in range(pairs)]
    return [_changed(reference, words, chance) for reference in references], references


def peers() -> dict[str, Peer]:
    """What is compared, by the name in the report."""
    import sacrebleu
    from rouge_score.rouge_scorer import RougeScorer

    def of_sacrebleu(name: str, options: Mapping[str, Any], whole: Any, each: Any) -> Peer:
        return Peer(
            name,
            options,
            lambda texts, references: whole.corpus_score(texts, [references]),
            lambda texts, references: [
                each.sentence_score(text, [reference]).score for text, reference in zip(texts, references, strict=True)
            ],
            lambda texts, references: float(whole.corpus_score(texts, [references]).score),
        )

    def of_rouge(n: str) -> Peer:
        scorer = RougeScorer([f"rouge{n}"])

        def rows(texts: Texts, references: Texts) -> list[float]:
            pairs = zip(texts, references, strict=True)
            return [scorer.score(reference, text)[f"rouge{n}"].fmeasure for text, reference in pairs]

        options = {"profile": "rouge_score", "n": int(n) if n.isdigit() else n}
        return Peer("rouge", options, rows, rows, None)

    bleu, chrf, plus, ter = sacrebleu.BLEU(), sacrebleu.CHRF(), sacrebleu.CHRF(word_order=2), sacrebleu.TER()
    return {
        "BLEU": of_sacrebleu("bleu", {"profile": "sacrebleu"}, bleu, sacrebleu.BLEU(effective_order=True)),
        "chrF": of_sacrebleu("chrf", {"profile": "sacrebleu"}, chrf, chrf),
        "chrF++": of_sacrebleu("chrf", {"profile": "sacrebleu++"}, plus, plus),
        "TER": of_sacrebleu("ter", {"profile": "sacrebleu"}, ter, ter),
        **{f"ROUGE-{n}": of_rouge(n) for n in ("1", "2", "5", "L", "Lsum")},
    }


def run() -> Result:
    """The section `peers`."""
    texts, compared = generated(PAIRS, SEED), peers()
    costs = {name: _compared(name, peer, texts) for name, peer in compared.items()}
    together = {"all together": [*compared], "all but TER": [name for name in compared if name != "TER"]}
    rows = [
        *(_row(label, *_together(names, compared, texts, costs)) for label, names in together.items()),
        *(_row(name, ours, theirs, apart) for name, (ours, theirs, apart) in costs.items()),
    ]
    alone = rows[len(together) :]
    slowest = min(alone, key=lambda row: row["ratio"])
    largest = max(row["largest difference"] for row in alone)
    floors = [
        *(Floor(row["metric"], "at least", TOGETHER, "x", row["ratio"]) for row in rows[: len(together)]),
        Floor(f"each alone (slowest: {slowest['metric']})", "at least", ALONE, "x", slowest["ratio"]),
        Floor("largest difference of a score", "at most", TOLERANCE, "", largest),
    ]
    return Result([Table("One core, vocabulary cold", rows)], floors)


def difference(peer: Peer, texts: tuple[Texts, Texts]) -> float:
    """The largest difference of the scores of rows, and of the corpus."""
    metric = peer.metric
    stats = metric.stats(Pairs.of(*texts))
    apart = np.abs(metric.score(stats) - np.array(peer.rows(*texts))).max(initial=0.0)
    if peer.corpus is None:
        return float(apart)
    return float(max(apart, abs(metric.score(stats.sum(axis=0)) - peer.corpus(*texts))))


def _compared(name: str, peer: Peer, texts: tuple[Texts, Texts]) -> tuple[Cost, Cost, float]:
    """What ours and the peer's take, and how far their scores are apart."""
    [apart] = in_forks(partial(difference, peer, texts))
    if not apart <= TOLERANCE:
        raise ValueError(f"{name}: scores differ by {apart}")
    return *_costs([peer], lambda: peer.work(*texts), texts), apart


def _together(
    names: Texts,
    compared: Mapping[str, Peer],
    texts: tuple[Texts, Texts],
    costs: Mapping[str, tuple[Cost, Cost, float]],
) -> tuple[Cost, Cost]:
    """What several metrics take together; the peers' cost is that of sacrebleu's each, and of one scorer of ROUGE."""
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer([f"rouge{name.removeprefix('ROUGE-')}" for name in names if name.startswith("ROUGE-")])

    def rouge() -> None:
        for text, reference in zip(*texts, strict=True):
            scorer.score(reference, text)

    ours, theirs = _costs([compared[name] for name in names], rouge, texts)
    others = [costs[name][1] for name in names if not name.startswith("ROUGE-")]
    return ours, Cost(theirs.wall + sum(one.wall for one in others), theirs.cpu + sum(one.cpu for one in others))


def _row(name: str, ours: Cost, theirs: Cost, apart: float | None = None) -> dict[str, Any]:
    return {
        "metric": name,
        "ours, pairs/s": PAIRS / ours.wall,
        "peer, pairs/s": PAIRS / theirs.wall,
        "ratio": theirs.wall / ours.wall,
        "ratio of cpu": theirs.cpu / ours.cpu,
        "largest difference": apart,
    }


def _costs(chosen: Sequence[Peer], work: Callable[[], object], texts: tuple[Texts, Texts]) -> tuple[Cost, Cost]:
    metrics = [peer.metric for peer in chosen]
    _ours(metrics, generated(20, SEED + 1))
    rounds = [in_forks(partial(_turn, metrics, work, texts))[0] for _ in range(ROUNDS)]
    ours, theirs = (typical(costs) for costs in zip(*rounds, strict=True))
    return ours, theirs


def _turn(metrics: Sequence[Metric], work: Callable[[], object], texts: tuple[Texts, Texts]) -> tuple[Cost, Cost]:
    stay_on_one_core()
    _, ours = timed(lambda: _ours(metrics, texts))
    _, theirs = timed(work)
    return ours, theirs


def _ours(metrics: Sequence[Metric], texts: tuple[Texts, Texts]) -> list[tuple[Floats, Floats]]:
    pairs = Pairs.of(*texts)
    every = [(metric, metric.stats(pairs)) for metric in metrics]
    return [(metric.score(stats), metric.score(stats.sum(axis=0))) for metric, stats in every]


def _line(words: Texts, chance: random.Random) -> str:
    """Words of which the first of the list are the most frequent, some with a mark."""
    drawn = [words[int(len(words) * chance.random() ** 3)] for _ in range(chance.randint(4, 20))]
    return " ".join(word + chance.choice(MARKS) for word in drawn)


def _changed(reference: str, words: Texts, chance: random.Random) -> str:
    lines = []
    for line in reference.split("\n"):
        text = line.split(" ")
        for _ in range(len(text) // 3):
            place, kind = chance.randrange(len(text)), chance.random()
            if kind < 0.4:  # noqa: PLR2004 (shares of the four changes)
                text[place] = chance.choice(words)
            elif kind < 0.6 and len(text) > 1:  # noqa: PLR2004 (the same)
                del text[place]
            elif kind < 0.8:  # noqa: PLR2004 (the same)
                text.insert(place, chance.choice(words))
            else:
                phrase = text[place : place + chance.randint(1, 4)]
                del text[place : place + len(phrase)]
                target = chance.randint(0, len(text))
                text[target:target] = phrase
        lines.append(" ".join(text))
    return "\n".join(lines)
