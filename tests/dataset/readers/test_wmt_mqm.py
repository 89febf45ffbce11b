"""WMT's MQM annotations; a sibling of the published files, with their quotes and marks."""

import pytest

from goldmeter.dataset.sources import records
from goldmeter.errors import DataError
from tests.dataset.readers.proposed import proposed

HEADER = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"


def row(system, segment, rater, target, category, severity):
    return f'{system}\tnews.1\t1\t{segment}\t{rater}\tThe "house, {segment}.\t{target}\t{category}\t{severity}'


ROWS = [
    row("Online-A", 1, "rater1", "Das <v>Haus</v>, 1.", "Fluency/Punctuation", "Minor"),
    row("Online-A", 1, "rater1", "Das Haus<v>, 1</v>.", "Accuracy/Mistranslation", "Major"),
    row("Online-A", 1, "rater2", "Das Haus, 1.", "No-error", "no-error"),
    row("Human-A.0", 1, "rater1", "Ein Haus, 1.", "No-error", "no-error"),
    row("Human-A.0", 2, "rater1", "Ein Haus, 2.", "No-error", "no-error"),
    row("Online-A", 2, "rater1", "Haus/Häuser", "Non-translation!", "Major"),
]


@pytest.fixture
def write(tmp_path):
    def write(*rows):
        (tmp_path / "mqm.tsv").write_text("\n".join([HEADER, *rows]) + "\n")
        return tmp_path / "mqm.tsv"

    return write


def test_a_segment_is_one_answer_and_each_rater_gives_it_a_grade(write):
    options, rows = proposed(write(*ROWS))

    assert options["reference_separator"] is None
    assert [(row["id"], row["candidate"], row["response"], row["references"]) for row in rows] == [
        ("news.1/1", "Online-A", "Das Haus, 1.", ["Ein Haus, 1."]),
        ("news.1/2", "Online-A", "Haus/Häuser", ["Ein Haus, 2."]),
    ]
    assert rows[0]["input"] == 'The "house, 1.'
    assert options["scores"]["mqm"] == {
        "columns": ["human_mqm by rater1", "human_mqm by rater2"],
        "bounds": [-25.0, 0.0],
        "human": True,
    }
    assert [row["score_mqm"] for row in rows] == [pytest.approx(-2.55), -25.0]


def test_a_row_that_tests_the_rater_is_no_error(write):
    test = row("Online-A", 1, "rater1", "x", "Accuracy/Omission", "HOTW-test")

    (found,) = [record.values for record in records(write(ROWS[0], test), None, "wmt_mqm")]
    assert found["human_mqm by rater1"] == "-0.1"


def test_an_unknown_severity_is_named(write):
    path = write(row("Online-A", 1, "rater1", "x", "Accuracy", "Terrible"))

    with pytest.raises(DataError, match=r"mqm\.tsv, line 2: severity 'terrible' is not known; known: no-error, "):
        list(records(path, None, "wmt_mqm"))
