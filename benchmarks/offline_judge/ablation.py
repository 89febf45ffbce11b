"""What each family of features and the pairs are worth: the judge trained without them, or with some of them alone.

A row: agreement with people on EVOUNA-NQ by folds of questions and on NQ301 without its questions, and the share of the
adversarial pairs that are judged as written (by the models alone, without the values that the judge reads).

Use: python -m benchmarks.offline_judge.ablation --data NQ.json --nq301 NQ301/ [--features words numbers …]
[--pairs no]. Without --features: all families, a plain judge of three of them, and each family left out in turn.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from benchmarks.judge_accuracy import adversarial
from benchmarks.nq301 import letters, nq301
from benchmarks.offline_judge.training import Booleans, Examples, examples, fitted, held_out, training_rows
from benchmarks.pages import grid
from goldmeter.console.arguments import Parser
from goldmeter.console.terminal import exit_status, say
from goldmeter.models.offline import RIGHT
from goldmeter.models.offline.feature_names import FEATURES
from goldmeter.models.offline.traps import MARKS

_FAMILIES = {
    "words": "exact equal recall soft_recall new_recall precision",
    "place": "position",
    "size": "extra_words reference_words new_words response_words",
    "typing errors": "misspelt other_word",
    "numbers": "reference_numbers number_recall number_conflict number_gap other_numbers",
    "initials": "initials",
    "names": "name_words missing_names",
    "trigrams": "trigram_recall",
    "references": "references references_found",
}
MARKED = "marks of traps"
FAMILIES: Mapping[str, frozenset[str]] = {
    **{name: frozenset(columns.split()) for name, columns in _FAMILIES.items()},
    MARKED: frozenset(MARKS),
}
PLAIN = ("words", "size", "typing errors")


class Sets(NamedTuple):
    """The training rows, NQ301, the adversarial pairs, and which training rows are about no question of NQ301."""

    training: Examples
    nq301: Examples
    adversarial: Examples
    unseen: Booleans


def read(data: Path, folder: Path) -> Sets:
    """Describe all rows once."""
    rows, others = training_rows(data), [*nq301(folder)]
    asked = {letters(row.question) for row in others}
    unseen = np.array([letters(row.group) not in asked for row in rows])
    return Sets(examples(rows), examples(others), examples([*adversarial()]), unseen)


def measured(sets: Sets, families: Sequence[str], *, pairs: bool) -> tuple[float, float, float]:
    """Return the agreement on EVOUNA-NQ, NQ301 and the adversarial pairs of a judge of some families."""
    wanted = frozenset[str]().union(*(FAMILIES[family] for family in families))
    gone = [name not in wanted for name in (*FEATURES, *MARKS)]
    training, others, written = (_without(one, gone) for one in sets[:3])
    if not pairs:
        training = training._replace(weights=np.where(training.labelled, training.weights, 0.0))
    across = (held_out(training) >= RIGHT) == training.verdicts
    elsewhere = fitted(training.take(sets.unseen)).probabilities(others.features)
    of_pairs = fitted(training).probabilities(written.features)
    return (
        float(across[training.labelled].mean()),
        float(((elsewhere >= RIGHT) == others.verdicts).mean()),
        float(((of_pairs >= RIGHT) == written.verdicts).mean()),
    )


def _without(rows: Examples, gone: Sequence[bool]) -> Examples:
    features = rows.features.copy()
    features[:, np.array(gone)] = 0.0
    return rows._replace(features=features)


def variants() -> Iterator[tuple[str, Sequence[str], bool]]:
    """Yield name, families and whether there are pairs, of each row of the table."""
    every = [*FAMILIES]
    yield "all", every, True
    yield "no pairs", every, False
    yield "plain: " + ", ".join(PLAIN), PLAIN, False
    for family in every:
        yield f"without {family}", [one for one in every if one != family], True


def _command(data: Path, folder: Path, families: Sequence[str] | None, *, pairs: bool) -> None:
    sets = read(data, folder)
    rows = [(", ".join(families), families, pairs)] if families else [*variants()]
    lines = []
    with threadpool_limits(limits=1):
        for name, chosen, has_pairs in rows:
            lines.append((name, *(f"{share:.4f}" for share in measured(sets, chosen, pairs=has_pairs))))
            say(" ".join(lines[-1]))
    say(grid(("features", "EVOUNA-NQ", "NQ301", "adversarial pairs"), lines))


def parser() -> Parser:
    """The parser of the command line."""
    command_line = Parser(prog="python -m benchmarks.offline_judge.ablation", description=__doc__)
    command_line.add_argument("--data", type=Path, required=True, help="NQ.json of EVOUNA")
    command_line.add_argument("--nq301", type=Path, required=True, help="the folder of NQ301")
    command_line.add_argument("--features", nargs="+", choices=[*FAMILIES], help="families to train with")
    command_line.add_argument("--pairs", choices=["yes", "no"], default="yes", help="train on written and made pairs")
    return command_line


def main(arguments: Sequence[str]) -> int:
    """Measure and print the table; returns the exit status."""
    chosen = parser().parse_args(arguments)
    return exit_status(lambda: _command(chosen.data, chosen.nq301, chosen.features, pairs=chosen.pairs == "yes"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
