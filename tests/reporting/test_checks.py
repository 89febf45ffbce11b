"""What each stage promised, and what became of the rows: none is lost without a word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.reporting.provenance import stage_checks

COUNTS = {
    "load": {"rows": 515, "rows_load_rejected": 5, "rows_read": 520, "rejected_allowed": 5.2},
    "normalize": {"rows": 515, "rows_load": 515},
    "embed": {"rows": 1453, "out_of_order": 0.0, "rows_normalize": 515},
    "judge": {"rows": 510, "asked": 512, "rows_normalize": 515},
    "aggregate": {"rows": 544, "rows_of_a_metric": 515.0, "rows_load": 515, "rows_load_rejected": 5, "rows_judge": 515},
}


def documents(**bodies):
    found = {f"reports/validation/{name}.json": body for name, body in bodies.items()}
    return {"reports/metrics.json": {}} | found


def body(counts, failed=()):
    return {"success": not failed, "counts": counts, "checks": [{"failed": each} for each in (0, *failed)]}


def test_every_row_that_was_read_was_written_rejected_or_is_called_lost():
    found = {each.name: each for each in stage_checks(documents(**{name: body(each) for name, each in COUNTS.items()}))}

    assert list(found) == list(COUNTS)
    assert {name: (each.read, each.counts["rows"], each.rejected, each.lost) for name, each in found.items()} == {
        "load": (520, 515, 5, 0),
        "normalize": (515, 515, 0, 0),
        "embed": (515, 1453, 0, None),
        "judge": (515, 510, 0, 5),
        "aggregate": (515, 544, 0, 0),
    }
    assert [each.unit for each in found.values()] == ["", "", "distinct texts", "", "estimates"]


def test_broken_checks_are_counted():
    [found] = stage_checks(documents(judge=body({"rows": 1}, failed=(3, 0, 7))))

    assert not found.success
    assert found.broken == 2


@pytest.mark.parametrize("counts", [{}, {"rows": None}, {"rows": 3}, {"rows": 3, "rows_nowhere": 9}])
def test_what_no_count_says_is_unknown(counts):
    [found] = stage_checks(documents(lexical=body(counts)))

    assert (found.read, found.lost, found.rejected) == (None, None, 0)


def test_a_report_of_an_earlier_version_has_no_lineage():
    old, new = stage_checks(documents(load=body({}), normalize=body({}) | {"made": {"code": "c0de"}}))

    assert old.lineage is None
    assert new.lineage == {"code": "c0de"}


@given(
    st.dictionaries(
        st.sampled_from([f"rows{each}" for each in ("", "_read", "_load", "_x")]), st.none() | st.integers(0)
    )
)
def test_any_counts_are_read(counts):
    [found] = stage_checks(documents(load=body(counts)))

    assert found.lost is None or found.lost == found.read - counts["rows"]
