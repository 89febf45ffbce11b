"""`tasks.metrics.scores` from Python lists: nine lexical metrics in one call, in nine calls, the reference stack."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from benchmarks.data import TextPairs, generated_rows, real_rows, text_pairs
from benchmarks.lexical import GENERATED, ROUNDS, SAMPLE, WARM_UP, Setting, settings
from benchmarks.measure import Cost, in_forks, stay_on_one_core, timed, typical
from benchmarks.reference import Stack, stack, wordnet_reader
from benchmarks.report import Floor, Result, Table, paragraphs
from tasks.metrics import score, scores

TOGETHER = 100.0
"""How many times the stack's rate one call must reach with our defaults."""


class Turn(NamedTuple):
    """What each took once: one call, a call for each metric, the stack on a sample."""

    together: Cost
    separate: Cost
    reference: Cost


class Rates(NamedTuple):
    """Pairs a second of each; ratio_of_cpu: of one call and the stack, by processor time."""

    setting: Setting
    together: float
    separate: float
    reference: float
    ratio_of_cpu: float

    @property
    def ratio(self) -> float:
        """How many times the stack's rate one call has."""
        return self.together / self.reference


def run(shipped: Mapping[str, Mapping[str, Any]]) -> Result:
    """The section `scores`; shipped: the section `lexical` of params.yaml."""
    name, rows = real_rows()
    every = text_pairs(generated_rows(rows, GENERATED))
    pairs = TextPairs(*(texts[:GENERATED] for texts in every))
    with wordnet_reader(every.sample(SAMPLE, start=SAMPLE)) as (_, reader):
        compared = [_rates(setting, pairs, stack(setting.tokens, reader)) for setting in settings(shipped)]
    return Result("scores", _about(name, len(pairs.responses)), (_table(compared),), tuple(_floors(compared)))


def _rates(setting: Setting, pairs: TextPairs, reference: Stack) -> Rates:
    """Medians of turns, each in a fork of its own."""
    options = {name: setting.options[name] for name in reference.scorers if name in setting.options}
    sample = pairs.sample(SAMPLE)
    turns = [in_forks(partial(_turn, options, pairs, sample, reference))[0] for _ in range(ROUNDS)]
    together, separate, theirs = (typical(costs) for costs in zip(*turns, strict=True))
    n, share = len(pairs.responses), len(pairs.responses) / len(sample.responses)
    return Rates(
        setting, n / together.wall, n / separate.wall, n / share / theirs.wall, share * theirs.cpu / together.cpu
    )


def _turn(options: Mapping[str, Mapping[str, Any]], pairs: TextPairs, sample: TextPairs, reference: Stack) -> Turn:
    stay_on_one_core()
    responses, references = map(list, pairs)  # the fork's own pages
    scores(options, *WARM_UP)
    reference.scores([*options], WARM_UP)
    _, together = timed(lambda: scores(options, responses, references))
    _, theirs = timed(lambda: reference.scores([*options], sample))
    _, separate = timed(lambda: [score(name, responses, references, **each) for name, each in options.items()])
    return Turn(together, separate, theirs)


def _about(name: str, pairs: int) -> tuple[str, ...]:
    return paragraphs(f"""
        Data: {pairs:,} pairs of Python strings made from {name}, as in section `lexical`. One call of
        tasks.metrics.scores with nine lexical metrics, from the lists to the pandas table; the stack on {SAMPLE:,} of
        the pairs; nine calls of tasks.metrics.score. One core, vocabulary cold in the one call, medians of {ROUNDS}
        rounds. The nine calls come last, and find the caches of the one.
    """)


def _table(compared: Sequence[Rates]) -> Table:
    rows: list[dict[str, Any]] = [
        {
            "setting": rates.setting.name,
            "one call, pairs/s": rates.together,
            "nine calls, pairs/s": rates.separate,
            "stack, pairs/s": rates.reference,
            "ratio": rates.ratio,
            "ratio of cpu": rates.ratio_of_cpu,
        }
        for rates in compared
    ]
    return Table("Nine lexical metrics from Python lists, one core", tuple(rows))


def _floors(compared: Sequence[Rates]) -> Iterator[Floor]:
    for rates in compared:
        if not rates.setting.same:
            yield Floor(f"scores, nine metrics: {rates.setting.name}", "at least", TOGETHER, "x", rates.ratio)
