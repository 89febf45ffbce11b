"""OpenAI's text graders by the usual libraries, and the metrics here."""

from pathlib import Path

from benchmarks.graders import TOLERANCE, differences, lines, pairs

PAGE = Path(__file__).parents[2] / "docs/how-to/other-tools-logs.md"


def test_the_options_of_the_page_give_the_numbers_of_the_libraries() -> None:
    assert max(one.same for one in differences(pairs(60))) < TOLERANCE


def test_the_page_has_the_rows_that_the_command_prints() -> None:
    text = PAGE.read_text(encoding="utf-8")

    assert not [line for line in lines() if line not in text]
