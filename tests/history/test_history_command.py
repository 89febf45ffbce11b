"""`python -m tasks history`: the last runs on a terminal, and the report with past runs."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from rich.console import Console

from goldmeter.history import show, store
from goldmeter.history.series import series
from goldmeter.pipeline.dvc_yaml import stages
from tasks.__main__ import main
from tests.reporting.made import ROWS, inputs
from tests.reporting.past import DAY, FIRST, entry, nights, past

pytestmark = pytest.mark.usefixtures("project")


def keep(rows):
    """Make these the history of the project."""
    store.path().parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(past(*rows), store.path())


def said(capsys, *arguments):
    """What the command prints; it must succeed."""
    assert main(["history", *arguments]) == 0
    return capsys.readouterr().out


def printed(rows, width=120):
    console = Console(width=width)
    with console.capture() as capture:
        console.print(show.table(series(past(*rows)), width))
    return capture.get()


def words(text):
    return " ".join(text.split())


@pytest.mark.parametrize("arguments", [[], ["--html"]])
def test_before_any_run_it_says_how_to_get_one(capsys, arguments):
    out = said(capsys, *arguments)

    assert "python -m flows.schedule" in out
    assert "python -m flows.evaluate --record" in out
    assert not Path("reports/history.html").exists()


def test_each_run_stands_in_a_row_with_the_leading_measure_of_each_candidate(capsys):
    decided = {"measure": "f1", "verdict": "worse"}
    keep(
        [
            entry(),
            entry(candidate="borealis", rate=0.8),
            entry(FIRST + DAY, rate=0.4, alarm="aurora f1: worse than v1 by 0.100", **decided),
            entry(FIRST + DAY, "borealis", rate=0.81, **decided | {"verdict": "no worse"}),
            entry(FIRST + 2 * DAY, schedule="", run="try-0.2"),
        ]
    )

    out = words(said(capsys))

    assert "2026-09-01 02:00 nightly-2026-09-01-020000 nightly 50.0 % [45.0, 55.0] 80.0 % [75.0, 85.0] –" in out
    assert "nightly-2026-09-02-020000 nightly 40.0 % [35.0, 45.0] 81.0 % [76.0, 86.0] 1/2 ▼ 1" in out
    assert "2026-09-03 02:00 try-0.2 by hand 50.0 % [45.0, 55.0] – –" in out
    assert "f1 with its interval" in out


def test_it_ends_with_since_when_what_is_wrong(capsys):
    keep([entry(FIRST + day * DAY, alarm=f"aurora f1: worse by {day}" if day else None) for day in range(4)])

    lines = said(capsys).splitlines()

    assert lines[-2:] == [
        "nightly: Wrong since 2026-09-02 02:00 UTC, 3 runs.",
        "  aurora f1: worse by 3 (since 2026-09-02 02:00 UTC, 3 runs)",
    ]


def test_of_a_long_history_it_prints_the_newest_runs_and_counts_the_others(capsys):
    keep([entry(FIRST + day * DAY) for day in range(400)])

    out = said(capsys)

    assert len(out.splitlines()) < 25
    assert "nightly-2027-10-05-020000" in out
    assert "nightly-2026-09-01-020000" not in out
    assert "385 runs before these" in words(out)
    assert "nightly: No alarm: 400 runs" in out


def test_eighty_columns_hold_a_run_in_a_line():
    out = printed(nights(3, dropped=1), width=80)

    assert max(map(len, out.splitlines())) <= 80
    assert "nightly-2026-09-03-020000" in out
    assert "[" not in out


def test_many_candidates_are_shown_without_intervals():
    assert "[" not in printed([entry(candidate=f"c{number}") for number in range(9)], width=120)
    assert "[" in printed([entry(candidate=f"c{number}") for number in range(2)], width=120)


def test_what_controls_a_terminal_is_spelled_out(capsys):
    keep([entry(candidate="\x1b[31mred[/bold]", run="a\x1b]0;x\x07", alarm="\x1b[2J[bold]gone")])

    out = said(capsys)

    assert "\x1b" not in out
    assert "⟨U+001B⟩[2J[bold]gone" in out


def test_a_run_without_a_number_is_a_row_too():
    assert "nightly-2026-09-01-020000" in printed([entry(rate=None, value=None, low=None, high=None)])


def test_the_report_shows_what_lies_here_with_past_runs_where_it_is_asked_to(capsys):
    whole_run()
    keep(nights(3, dropped=2))

    out = said(capsys, "--html")

    html = Path("reports/history.html").read_text(encoding="utf-8")
    assert out == "report: reports/history.html\n"
    assert "Wrong since 2026-09-03 02:00 UTC, 1 run." in html
    assert 'id="scores"' in html
    keep([entry()])
    said(capsys, "--html", "elsewhere/nights.html")
    assert "No alarm: 1 run" in Path("elsewhere/nights.html").read_text(encoding="utf-8")


def test_without_a_run_in_the_workspace_the_report_says_what_to_do(capsys):
    keep([entry()])

    assert main(["history", "--html"]) == 2
    assert "`dvc repro` makes it" in capsys.readouterr().err


def test_a_file_that_is_no_history_is_an_error_and_stays(capsys):
    store.path().write_bytes(b"PAR1" * 9)

    assert main(["history"]) == 2
    assert f"error: {store.path()}" in capsys.readouterr().err
    assert store.path().read_bytes() == b"PAR1" * 9


def whole_run():
    """Put a small run into the working folder."""
    _, documents = inputs(ROWS, Path("data"))
    for path in stages()["report"].documents_read:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        content = documents.get(path, {"success": True, "counts": {}, "checks": []})
        Path(path).write_text(json.dumps(content), encoding="utf-8")
