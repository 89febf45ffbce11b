"""What a comparison tells beside its verdicts: what its intervals rest on, what was kept out, what it would find."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from goldmeter.comparison.compared import Compared, critical_value
from goldmeter.comparison.of_versions import CompareOptions
from goldmeter.comparison.pairing import pair
from goldmeter.comparison.render import to_markdown
from goldmeter.estimates.column_facts import ColumnFacts
from goldmeter.estimates.columns import Candidate, ScoreColumn
from goldmeter.estimates.estimates import ONE_CLUSTER
from goldmeter.statistics import Method, sidak
from goldmeter.wording import notes
from tests.comparison.sample import Row, answers, gate_on
from tests.comparison.test_document import compared, measures
from tests.comparison.test_render import terminal
from tests.wording.test_release import measure
from tests.wording.test_release import pair as made_pair


def by_method(**methods: Method) -> Any:
    """A pair of candidates with one measure for each method."""
    difference = {"value": -0.05, "low": -0.11, "high": 0.02, "p_value": 0.2}
    own = {name: {"method": str(method), "notes": [*method.notes]} for name, method in methods.items()}
    return made_pair({name: measure(difference=difference | entry) for name, entry in own.items()})


def noted(pair: Any, *texts: str) -> list[str]:
    """The notes that hold all of these texts."""
    return [note for note in notes.notes(pair) if all(text in note for text in texts)]


# intervals


def test_a_caution_is_told_once_for_all_the_measures_it_is_about() -> None:
    few, rare = "4 clusters: below 10", "9 rows: below 30"
    found = by_method(f1=Method("clustered", (few,)), bleu=Method("jackknife", (few, rare)), gleu=Method("clustered"))

    [clusters], [rows] = noted(found, few), noted(found, rare)

    assert {name for name in ("f1", "bleu", "gleu") if re.search(rf"\b{name}\b", clusters)} == {"f1", "bleu"}
    assert {name for name in ("f1", "bleu", "gleu") if re.search(rf"\b{name}\b", rows)} == {"bleu"}


def test_a_difference_without_an_interval_is_told_so() -> None:
    [note] = noted(by_method(f1=Method(ONE_CLUSTER), bleu=Method("clustered")), ONE_CLUSTER)

    assert "f1" in note
    assert "bleu" not in note


def test_a_method_without_a_caution_is_not_noted() -> None:
    cautious, sure = by_method(f1=Method("tango", ("4 clusters: below 10",))), by_method(f1=Method("tango"))

    assert len(list(notes.notes(cautious))) == 1
    assert list(notes.notes(sure)) == []


@pytest.mark.parametrize("write", [terminal, to_markdown])
@pytest.mark.parametrize(
    ("groups", "caution"), [(4, "4 clusters: below 10 an interval may cover less"), (1, "one cluster: no interval")]
)
def test_few_clusters_are_told_wherever_a_comparison_is_read(
    write: Callable[[Any], str], groups: int, caution: str
) -> None:
    older, newer = (
        [each | {"group": f"g{n % groups}"} for n, each in enumerate(answers(text))] for text in ("+" * 40, "+." * 20)
    )

    shown = " ".join(write(compared(older, newer)).split())

    assert shown.count(caution) == 1
    [after] = re.findall(rf"{caution}(.{{0,80}})", shown)
    assert all(name in after for name in ("f1", "exact_match", "bleu"))


# rows that were kept out


def changed_in(asked: int, of: int) -> tuple[list[Row], list[Row]]:
    """Both sides of `of` rows, of which the last `asked` were asked something else."""
    older = answers("+" * of)
    return older, [
        each | {"input": "Another?"} if n >= of - asked else each for n, each in enumerate(answers("+" * of))
    ]


@pytest.mark.parametrize("write", [terminal, to_markdown])
@pytest.mark.parametrize("flips", [3, 20])
def test_rows_whose_data_changed_are_told_by_their_ids(write: Callable[[Any], str], flips: int) -> None:
    found = compared(*changed_in(8, 20), request=CompareOptions(changed_rows=flips))

    shown = " ".join(write(found).split())

    [listed] = re.findall(r"\b(q\d+, q\d+, q\d+) and 5 more\b", shown)
    assert set(listed.split(", ")) <= {f"q{n}" for n in range(12, 20)}


@pytest.mark.parametrize("write", [terminal, to_markdown])
def test_a_few_rows_whose_data_changed_are_all_told(write: Callable[[Any], str]) -> None:
    shown = " ".join(write(compared(*changed_in(2, 20))).split())

    assert "q18, q19" in shown
    assert "more" not in shown


@pytest.mark.parametrize("write", [terminal, to_markdown])
def test_stale_labels_are_told(write: Callable[[Any], str]) -> None:
    older, newer = ([each | {"label": True} for each in answers(text)] for text in ("+" * 40, "+" * 37 + "..."))

    shown = " ".join(write(compared(older, newer, gate_on("label", max_unmeasured=1.0))).split())

    assert "3 labels are of another answer (stale), and not measured" in shown


# what would be found


def unigrams(lost: int, times: int = 1) -> Any:
    """Corpus BLEU of single words on 60 answers, `lost` of which became wordy; all of it `times` times."""
    older, newer = answers("+" * 60 * times), answers(("." * lost + "+" * (60 - lost)) * times)
    return measures(
        compared(older, newer, gate_on("bleu.value"), metrics={"bleu": {"max_order": 1, "threshold": 0.5}})
    )["bleu.value"]


def test_a_corpus_score_says_what_difference_its_rows_would_show() -> None:
    found = unigrams(9)

    assert found["detectable"] is not None
    assert 0 < found["detectable"] <= 1
    half = (found["difference"]["high"] - found["difference"]["low"]) / 2
    assert found["detectable"] / half == pytest.approx(1.43, abs=0.05)  # (1.96 + 0.84) / 1.96


def test_four_times_the_rows_show_half_the_difference_of_a_corpus_score() -> None:
    assert unigrams(9, 4)["detectable"] == pytest.approx(unigrams(9)["detectable"] / 2, rel=0.05)


@pytest.mark.parametrize("rows", [2, 3, 8])
def test_so_few_rows_show_no_difference_of_a_corpus_score_beyond_its_scale(rows: int) -> None:
    older, newer = answers("+" * rows), answers("." + "+" * (rows - 1))
    found = measures(
        compared(older, newer, gate_on("bleu.value"), metrics={"bleu": {"max_order": 1, "threshold": 0.5}})
    )

    assert 0 <= (found["bleu.value"]["detectable"] or 0.0) <= 1


# many differences


def one_of(n: int) -> Compared:
    """One pass rate that falls from 1 on every other one of n rows."""
    keys, nothing = np.arange(n, dtype=np.uint64), np.zeros(n, dtype=np.bool_)
    facts = ColumnFacts("f1", "lexical", "f1", (0.0, 1.0), threshold=1.0, rate_signature="f1|thr:1")
    before, after = np.ones(n), np.arange(n) % 2.0
    columns = [ScoreColumn("f1", values, nothing, values >= 1.0, None, facts) for values in (before, after)]
    sides = [Candidate("a", keys, np.arange(n), [column], None, {}) for column in columns]
    return Compared([pair(*sides)], "f1")


def test_so_many_differences_take_sidaks_value() -> None:
    one = one_of(20)

    many, some = critical_value([one] * 201, 0.95), critical_value([one] * 50, 0.95)

    assert many == sidak(201, 0.95)
    assert some == pytest.approx(1.959964, abs=0.01)  # all the same
