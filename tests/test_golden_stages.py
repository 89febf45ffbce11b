"""Numbers of the library change only with a revision: golden ones of the lexical metrics; and what counts as a change.

`tests/whole/test_whole_run.py` compares the tables of the bundled example.
"""

from pathlib import Path

import pytest

from goldmeter.metrics.lexical.meteor import Meteor
from goldmeter.pipeline.revisions import revision_of
from scripts import golden_stages
from scripts.golden_stages import changed_without_revision, of_metrics, read
from tests.small_project import with_version


def test_no_metric_changes_without_a_revision() -> None:
    assert changed_without_revision(read(), {"metrics": of_metrics()}) == [], golden_stages.HOW


def test_another_formula_of_meteor_is_found_until_the_revision_is_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = Meteor.pair_scores
    monkeypatch.setattr(Meteor, "pair_scores", lambda *arguments: shipped(*arguments) * 0.999)
    now = {"metrics": of_metrics()}
    assert changed_without_revision(read(), now) == ["metrics"]

    with_version(tmp_path, monkeypatch, reasons=[{"lexical": "METEOR counts less"}])

    assert changed_without_revision(read(), now) == []


def test_another_last_digit_in_details_is_no_change() -> None:
    def numbers(details: str) -> golden_stages.Numbers:
        return dict(golden_stages.of_texts("details", [details]))

    golden = {"semantic": {"revision": revision_of("semantic"), "numbers": numbers('{"similarity": 0.8123451}')}}

    assert changed_without_revision(golden, {"semantic": numbers('{"similarity": 0.8123452}')}) == []
    assert changed_without_revision(golden, {"semantic": numbers('{"similarity": 0.81}')}) == ["semantic"]
    assert changed_without_revision(golden, {"semantic": numbers('{"likeness": 0.8123451}')}) == ["semantic"]


@pytest.mark.parametrize(
    ("golden", "now", "changed"),
    [
        ({"a": [2, 1.0]}, {"a": [2, 1.000001]}, False),
        ({"a": [2, 1.0]}, {"a": [2, 1.001]}, True),
        ({"a": [2, 1.0]}, {"a": [3, 1.0]}, True),
        ({"a": "0f"}, {"a": "1f"}, True),
        ({"a": "0f"}, {"a": [1, 2.0]}, True),
        ({"a": "0f"}, {"a": "0f", "b": "0f"}, False),
        ({"a": "0f", "b": "0f"}, {"a": "0f"}, True),
    ],
)
def test_what_counts_as_a_change(golden: golden_stages.Numbers, now: golden_stages.Numbers, changed: bool) -> None:
    revision = revision_of("semantic")

    assert (
        changed_without_revision({"semantic": {"revision": revision, "numbers": golden}}, {"semantic": now})
        == ["semantic"] * changed
    )
