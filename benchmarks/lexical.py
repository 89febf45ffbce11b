"""The nine lexical metrics against the reference stack: each alone and all together, pair by pair, on one core.

Data: {name}, {rows:,} rows (a response each), {pairs:,} pairs of a non-blank response
and one of its references; {responses:,} distinct responses, {references:,} distinct references.

Both sides in one process on one core, in turns, medians of {ROUNDS} rounds: ours on all pairs, the stack on
all too, or on {drawn:,} drawn at random where it calls NLTK. Tokenisation is
timed on both sides; the stack's BLEU, GLEU and METEOR share their tokens.

Both sides start from the same Arrow columns, as they come from a Parquet file; the stack makes Python strings
of them first, as it must. `ratio from lists`: both start from Python strings, and ours makes columns of them.

Generated: {GENERATED:,} rows made from the real ones, mostly distinct (see section `stage`); the stack scores
{SAMPLE:,} of their pairs.

Cold vocabulary: each turn is a fork of a process that has imported, compiled and loaded everything and scored
made-up words only: no token, stem or synonym of the data is cached. The stack's WordNet reader,
{reader}, has seen {SAMPLE:,} other pairs before, as in a long run.

Same definitions: the scores of both sides agree within {TOLERANCE:g} on every pair compared, or the run stops.
There each pair is a row. Our defaults define other scores (13a+cjk tokens, effective order, NFKC in accuracy
…): there ours has the rows of data/normalize, a response with all its references, as the stage has, the stack
has the cheapest tokens and rules, and no score is compared.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa

from benchmarks.data import TextPairs, generated_rows, normalized, real_rows, text_pairs
from benchmarks.measure import Cost, in_forks, stay_on_one_core, timed, typical
from benchmarks.reference import TOKENISED, Stack, stack, wordnet_reader
from benchmarks.report import Floor, Result, Table
from goldmeter.estimates.tables import pairs_of
from goldmeter.metrics.base import Floats, Metric
from goldmeter.metrics.catalogue import configure
from goldmeter.metrics.pairs import Pairs

ROUNDS = 3
SAMPLE = 2_000
GENERATED = 100_000
"""Rows made from the real ones, so that the vocabulary is that of a longer run."""
TOLERANCE = 1e-12
TOGETHER, ALONE = 100.0, 1.0
"""How many times the stack's rate each must reach."""
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Setting:
    """What is compared with what.

    options: ours, metric by metric. tokens: of the reference stack. same: whether both sides define the same scores.
    """

    name: str
    options: Mapping[str, Mapping[str, Any]]
    tokens: str
    same: bool

    @property
    def metrics(self) -> dict[str, Metric]:
        """Ours, configured."""
        return {name: configure("lexical", name, options) for name, options in self.options.items()}


def settings(shipped: Mapping[str, Mapping[str, Any]]) -> list[Setting]:
    """Identical definitions on two tokenizers, and the options of params.yaml against the cheapest tokenizer."""
    treebank, whitespace = map(reference_options, ("treebank", "whitespace"))
    compared = {name: options for name, options in shipped.items() if name in whitespace}
    return [
        Setting("same definitions, treebank tokens", treebank, "treebank", same=True),
        Setting("same definitions, whitespace tokens", whitespace, "whitespace", same=True),
        Setting("our defaults, the stack on whitespace tokens", compared, "whitespace", same=False),
    ]


def reference_options(tokens: str) -> dict[str, dict[str, Any]]:
    """Our options that define what the reference stack computes on `treebank` or `whitespace` tokens."""
    azure = {"profile": "azure", "tokenizer": tokens}
    return {
        "exact_match": {},
        "accuracy": {"profile": "benchwise"},
        "string_presence": {},
        "f1": {"profile": "azure"},
        "bleu": azure,
        "gleu": azure,
        "rouge": {"profile": "azure", "tokenizer": "rouge_score" if tokens == "treebank" else tokens},
        "meteor": azure,
        "non_llm_string_similarity": {},
    }


def our_scores(metrics: Mapping[str, Metric], columns: Pairs) -> dict[str, Floats]:
    """Each metric's score of each row; tokens and whatever else they need included."""
    return {name: metric.score(metric.stats(columns)) for name, metric in metrics.items()}


def largest_difference(ours: Mapping[str, Floats], theirs: Mapping[str, Sequence[float]]) -> float:
    """Of the scores of the same pairs, over all metrics."""
    return max(float(np.abs(ours[name] - np.array(scores)).max()) for name, scores in theirs.items())


def run(shipped: Mapping[str, Mapping[str, Any]]) -> Result:
    """The section `lexical`; shipped: the section `lexical` of params.yaml."""
    name, rows = real_rows()
    pairs = text_pairs(rows)
    with wordnet_reader(pairs.sample(SAMPLE, start=SAMPLE)) as (reader_name, reader):
        data, more = Data.of(rows), Data.of(generated_rows(rows, GENERATED))
        compared = [(setting, compare(setting, data, more, reader)) for setting in settings(shipped)]
    responses, references = (len(set(texts)) for texts in pairs)
    facts = {
        "name": name, "rows": rows.num_rows, "pairs": len(pairs.responses), "responses": responses,
        "references": references, "drawn": min(SAMPLE, len(pairs.responses)), "reader": reader_name,
    }  # fmt: skip
    tables = [Table(f"One core, vocabulary cold: {setting.name}", rows) for setting, rows in compared]
    return Result(tables, [*_floors(compared)], facts)


class Data(NamedTuple):
    """Pairs, and the rows of data/normalize that hold them: a response with all its references."""

    pairs: TextPairs
    rows: pa.Table

    @classmethod
    def of(cls, rows: pa.Table) -> Self:
        """The data of rows of data/load."""
        return cls(text_pairs(rows), normalized(rows))


def compare(setting: Setting, data: Data, more: Data, reader: Any) -> list[Row]:
    """All metrics together, also on more data, then each alone: ours on all pairs; the stack too, or on a sample.

    Rows of the table: pairs a second on both sides, and how many times the stack's rate ours is, also when both start
    from Python lists, and by processor time. The difference is None where the two sides define other scores.

    Raises ValueError when both sides define the same scores and differ.
    """
    reference = stack(setting.tokens, reader)
    metrics = setting.metrics
    together = _compare(setting, f"all {len(metrics)}", metrics, reference, data)
    longer = _compare(setting, f"all {len(metrics)}, generated", metrics, reference, more)
    alone = (_compare(setting, name, {name: metrics[name]}, reference, data) for name in metrics)
    return [together, longer, *alone]


def _compare(setting: Setting, label: str, metrics: Mapping[str, Metric], reference: Stack, data: Data) -> Row:
    pairs = data.pairs
    sample = pairs.sample(SAMPLE) if TOKENISED.intersection(metrics) else pairs
    turns = [
        partial(_turn, metrics, reference, data, sample, by_row=not setting.same, ours_first=i % 2 == 0)
        for i in range(ROUNDS)
    ]
    rounds = [in_forks(turn)[0] for turn in turns]
    difference = max(apart for _, apart in rounds) if setting.same else None
    if difference is not None and not difference <= TOLERANCE:
        raise ValueError(f"{setting.name}: {label}: scores differ by {difference}")
    columns, lists, ours, theirs = map(typical, zip(*(costs for costs, _ in rounds), strict=True))
    share = len(pairs.responses) / len(sample.responses)
    return {
        "metric": label,
        "ours, pairs/s": len(pairs.responses) / ours.wall,
        "stack, pairs/s": len(pairs.responses) / (share * theirs.wall + lists.wall),
        "ratio": (share * theirs.wall + lists.wall) / ours.wall,
        "ratio from lists": share * theirs.wall / (columns.wall + ours.wall),
        "ratio of cpu": (share * theirs.cpu + lists.cpu) / ours.cpu,
        "largest difference": difference,
    }


def _turn(
    metrics: Mapping[str, Metric], reference: Stack, data: Data, sample: TextPairs, *, by_row: bool, ours_first: bool
) -> tuple[tuple[Cost, ...], float]:
    """What both sides took once, and how far their scores are apart.

    Costs: from Python lists to Arrow's columns; the way back, of all pairs; ours; the stack's.
    """
    stay_on_one_core()
    pairs, sample = (TextPairs(*map(list, each)) for each in (data.pairs, sample))  # the fork's own pages
    our_scores(metrics, Pairs.of(*WARM_UP))
    reference.scores([*metrics], WARM_UP)
    columns, converting = timed(lambda: Pairs.of(*pairs))
    ours_of = pairs_of(data.rows) if by_row else columns
    _, listing = timed(lambda: (columns.responses.to_pylist(), columns.references.flatten().to_pylist()))
    if ours_first:
        _, ours = timed(lambda: our_scores(metrics, ours_of))
    theirs, referring = timed(lambda: reference.scores([*metrics], sample))
    if not ours_first:
        _, ours = timed(lambda: our_scores(metrics, ours_of))
    apart = largest_difference(our_scores(metrics, Pairs.of(*sample)), theirs)
    return (converting, listing, ours, referring), apart


def _made_up() -> TextPairs:
    letters = random.Random(0)  # noqa: S311 (no secret)
    words = ["".join(letters.choices("qxzvjkw", k=5)) for _ in range(200)]
    texts = [" ".join(letters.choices(words, k=letters.randint(1, 30))) for _ in range(200)]
    texts += ["Qxé zvj!", "東京 xq", "🙂", "-", "<skipped>", "42 xqz"]
    return TextPairs(texts, texts[::-1])


WARM_UP = _made_up()
"""Made-up words: what is imported, compiled or loaded once is there then, and no real word has been seen."""


def _floors(compared: Sequence[tuple[Setting, Sequence[Row]]]) -> Iterator[Floor]:
    for setting, (together, longer, *alone) in compared:
        for each in (together, longer):
            yield Floor(f"{each['metric']}: {setting.name}", "at least", TOGETHER, "x", each["ratio"])
        if setting.same:
            slowest = min(alone, key=lambda each: each["ratio"])
            what = f"each alone (slowest: {slowest['metric']}): {setting.name}"
            yield Floor(what, "at least", ALONE, "x", slowest["ratio"])
    differences = [row["largest difference"] for setting, rows in compared if setting.same for row in rows]
    yield Floor("largest difference of a score", "at most", TOLERANCE, "", max(differences))
