"""The probability by which a label counts: over all draws, the weight of every row is 1 on average."""

from itertools import combinations

import numpy as np
import pytest

from goldmeter.labelling.choice import Design, Drawn, base_design, combined, mixed_share, read_name, squared_weights

ANSWERED = np.ones(5, np.bool_)
NONE = base_design(np.zeros(5, np.bool_), ANSWERED, "all")


def drawn(
    rows: list[int], probabilities: list[float], by: str = "active", size: int = 0, frame: int = 5, share: float = 0.0
) -> Drawn:
    return Drawn(by, size or len(rows), frame, np.array(rows, np.intp), np.array(probabilities), share)  # type: ignore[arg-type]


def test_the_first_sheet_counts_by_its_own_probabilities() -> None:
    design = combined(NONE, drawn([3, 1], [0.25, 0.75]), ANSWERED)

    assert design.labels == "designed"
    np.testing.assert_array_equal(design.probabilities, [np.nan, 0.75, np.nan, 0.25, np.nan])


def test_random_sheets_are_random() -> None:
    first = combined(NONE, drawn([0], [0.2], "random"), ANSWERED)

    assert first.labels == "random"
    assert combined(first, drawn([1], [0.25], "random", frame=4), ANSWERED).labels == "random"
    assert combined(first, drawn([1], [0.25], "active", frame=4), ANSWERED).labels == "designed"


@pytest.mark.parametrize("earlier", ["random", "all", "other"])
@pytest.mark.parametrize("own", [(0.2, 0.3, 0.5), (0.05, 0.05, 0.9)])
def test_over_all_draws_each_row_counts_once(earlier: str, own: tuple[float, float, float]) -> None:
    weights, squares, seen = np.zeros(5), np.zeros(5), np.zeros(5)
    pairs = [*combinations(range(5), 2)]
    for pair in pairs:
        before = base_design(np.isin(range(5), pair), ANSWERED, earlier)
        rest = [row for row in range(5) if row not in pair]
        inclusion = np.full(5, np.nan)
        inclusion[rest] = own
        share = mixed_share(before, inclusion)
        squares += np.nan_to_num(squared_weights(before, inclusion)) / len(pairs)
        for row, chance in zip(rest, own, strict=True):  # one of the three is drawn, each with its probability
            after = combined(before, drawn([row], [chance], frame=3, share=share), ANSWERED)
            assert np.nanmax(after.probabilities) <= 1
            weights += np.nan_to_num(1 / after.probabilities) * chance / len(pairs)
            seen += np.nan_to_num(1 / after.probabilities**2) * chance / len(pairs)

    assert weights == pytest.approx(np.ones(5))
    assert squares == pytest.approx(seen)


def test_chosen_rows_without_a_label_are_as_if_not_drawn() -> None:
    design = combined(NONE, drawn([3, 1], [0.5, 1.0], size=4), ANSWERED)

    np.testing.assert_array_equal(design.probabilities, [np.nan, 0.5, np.nan, 0.25, np.nan])
    assert design.notes[0].startswith("2 of 4 chosen answers have no label")


def test_disagreement_is_no_sample_and_what_follows_is_one() -> None:
    disputed = combined(NONE, drawn([0], [np.nan], "disagreement"), ANSWERED)
    design = combined(disputed, drawn([1], [0.25], "random", frame=4), ANSWERED)

    assert disputed.labels == "other"
    assert design.labels == "designed"
    assert design.probabilities[:2].tolist() == [1.0, 0.25]


def test_rows_that_were_labelled_on_the_page_of_the_report_are_no_sample() -> None:
    design = combined(NONE, drawn([0], [np.nan], "page"), ANSWERED)

    assert read_name("page-6-of-6-0f3a9c1d") == ("page", 6, 6)
    assert design.labels == "other"
    assert "on the page of the report" in design.notes[0]


def test_a_sheet_that_was_chosen_from_other_rows_is_no_sample() -> None:
    first = combined(NONE, drawn([0], [0.2]), ANSWERED)
    design = combined(first, drawn([1], [0.2], frame=5), ANSWERED)

    assert design.labels == "other"
    assert "from 5 answers without a label, and there were 4" in design.notes[0]


def test_a_sheet_without_labels_changes_nothing() -> None:
    assert combined(NONE, drawn([], [], size=3), ANSWERED) == NONE


def test_without_labels_there_is_no_design() -> None:
    assert Design(None, NONE.probabilities) == NONE
    assert not NONE.labelled.any()
