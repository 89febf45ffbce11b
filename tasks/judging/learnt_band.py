"""The band of a cascade, learnt from human labels: outside of it the offline judge is seldom wrong."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tasks.console.terminal import say
from tasks.dataset.preflight import loaded_parts
from tasks.errors import DataError, ParamsError
from tasks.judging.offline_rows import estimated
from tasks.judging.settings import Judge
from tasks.judging.statuses import ANSWERED, STATUSES, statuses
from tasks.pipeline import params

if TYPE_CHECKING:  # importing scipy takes half a second
    from tasks.statistics.risk_band import Side


class _Labelled(NamedTuple):
    """The rows of a part that a cascade could let the offline judge decide, n, of which some have a label.

    p: probabilities, shape (n,). labels: 1, 0, NaN without one, shape (n,). groups: of rows that belong together.
    """

    p: NDArray[np.float64]
    labels: NDArray[np.float64]
    groups: list[str]


def show(share: float) -> None:
    """Learn the band from the labels of the user's records, and print it for params.yaml.

    Raises:
        ParamsError: The share is out of range, or the labels are no random part of the rows.
        DataError: The labels do not show that the offline judge is right often enough anywhere.
    """
    from tasks.statistics.risk_band import fewest_decided, risk_band

    if not 0.0 < share < 0.5:  # noqa: PLR2004 (a coin)
        raise ParamsError(f"--band {share:g}: expected a share above 0 and below 0.5, such as 0.02")
    options, dataset = params.for_stage("judge").judge, params.for_stage("load").dataset
    if dataset.labels in {"designed", "other"}:
        raise ParamsError(
            f"dataset.labels: {dataset.labels}: a band is learnt from labels of all rows, or of rows chosen with equal "
            "chances; python -m flows.label --by random chooses such"
        )
    parts = [_labelled(part, load, options) for part, load in loaded_parts()]
    p, labels = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    known = ~np.isnan(labels)
    if dataset.labels == "all" and not known.all():
        raise ParamsError(
            f"dataset.labels: all, but {np.count_nonzero(~known):,} of {len(p):,} answers that the offline judge could "
            "decide have no label; set it to random if the others were chosen with equal chances"
        )
    groups = [group for part in parts for group in part.groups]
    clusters = [group for group, is_known in zip(groups, known, strict=True) if is_known]
    band = risk_band(p[known], labels[known], share, clusters)
    sides = [
        _side("passes", f"above {band.high:g}", band.passes) if band.high < 1.0 else _none("passes", band.passes),
        _side("fails", f"below {band.low:g}", band.fails) if band.low > 0.0 else _none("fails", band.fails),
    ]
    if (band.low, band.high) == (0.0, 1.0):
        raise DataError(
            f"judge.band: {known.sum():,} labels do not show that the offline judge is wrong in at most {share:.3g} of "
            f"any answers. It {'; it '.join(sides)}. {fewest_decided(share):,} independent labelled answers on one "
            "side are needed, and more if it is wrong on some: label more (python -m flows.label --by random), or "
            "allow a larger share"
        )
    decided = (p < band.low) | (p > band.high)
    say(
        f"judge: with 95 % confidence at most {100 * share:.3g} % of what the offline judge decides is wrong, on "
        f"answers like the {known.sum():,} labelled ones"
    )
    for side in sides:
        say(f"  it {side}")
    say(
        f"  the language model judges {1.0 - decided.mean():.0%} of {len(p):,} answers, and those outside of the domain"
    )
    say(f"in section judge of params.yaml:\n  band: [{band.low:g}, {band.high:g}]")


def _labelled(part: pa.Table, load: pa.Table, options: Judge) -> _Labelled:
    judged = estimated(part, options)
    in_domain = np.array([reason is None for reason in judged.outside], np.bool_)
    to_judge = statuses(part, options) == STATUSES.index(ANSWERED)
    rows = in_domain & to_judge & ~np.isnan(judged.probabilities)
    some = load.filter(pa.array(rows))
    labels = some["label"].cast(pa.float64()).fill_null(np.nan).to_numpy()
    groups = pc.coalesce(some["group"], some["id"]).to_pylist()
    return _Labelled(judged.probabilities[rows], labels, groups)


def _side(verb: str, limit: str, side: "Side") -> str:
    return (
        f"{verb} {side.n:,} labelled answers, those {limit}, of which {side.wrong:,} "
        f"{'is' if side.wrong == 1 else 'are'} wrong: at most {100 * side.high:.2g} % of all such"
    )


def _none(verb: str, side: "Side") -> str:
    return f"{verb} none: of the {side.n:,} labelled answers where it is surest it is wrong on {side.wrong:,}"
