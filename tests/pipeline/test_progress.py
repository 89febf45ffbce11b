"""Progress: what is printed of a long step, on a terminal and elsewhere."""

import io
import sys
from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from goldmeter.pipeline import progress
from goldmeter.pipeline.progress import Lines, Status


class Clock:
    """Seconds, as a test sets them."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def use_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make standard error a terminal. Not a fixture: pytest sets another stream for the test itself."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)


def after(clock: Clock, seconds: float, *, share: float | None = None, note: str = "") -> Status:
    """A step `lexical` that has done 250,000 of 1,000,000 rows in so many seconds."""
    status = Status("lexical", clock)
    status("rows", 0, 1_000_000)
    clock.now += seconds
    status("rows", 250_000, 1_000_000, share=share, note=note)
    return status


def lines(capsys: pytest.CaptureFixture[str], clock: Clock, *reports: tuple[float, str, int, int | None]) -> list[str]:
    """The lines that are printed for reports of (seconds since the start, what, done, total)."""
    step = Lines("lexical", clock)
    for seconds, what, done, total in reports:
        clock.now = 100 + seconds
        step(what, done, total)
    step.end()
    return capsys.readouterr().err.splitlines()


def test_a_line_has_the_share_the_time_left_the_count_and_the_rate(
    capsys: pytest.CaptureFixture[str], clock: Clock
) -> None:
    [line, _] = lines(capsys, clock, (0, "rows", 0, 1_000_000), (10, "rows", 500_000, 1_000_000))

    assert line == "lexical: 50%, 0:00:10 left, 500,000 of 1,000,000 rows, 50,000/s"


def test_lines_come_after_five_seconds_then_every_thirty_and_at_the_end(
    capsys: pytest.CaptureFixture[str], clock: Clock
) -> None:
    reports = [(float(second), "rows", second, 100) for second in range(101)]

    assert lines(capsys, clock, *reports) == [
        "lexical: 5%, 0:01:35 left, 5 of 100 rows, 1.0/s",
        "lexical: 35%, 0:01:05 left, 35 of 100 rows, 1.0/s",
        "lexical: 65%, 0:00:35 left, 65 of 100 rows, 1.0/s",
        "lexical: 95%, 0:00:05 left, 95 of 100 rows, 1.0/s",
        "lexical: 100 rows in 0:01:40, 1.0/s",
    ]


def test_a_short_step_prints_nothing(capsys: pytest.CaptureFixture[str], clock: Clock) -> None:
    assert lines(capsys, clock, (0, "rows", 0, 10), (4.9, "rows", 10, 10)) == []


def test_a_step_that_reports_nothing_prints_nothing(capsys: pytest.CaptureFixture[str], clock: Clock) -> None:
    step = Lines("report", clock)
    clock.now += 60

    step.end()

    assert capsys.readouterr().err == ""


def test_without_a_total_the_time_taken_is_printed(capsys: pytest.CaptureFixture[str], clock: Clock) -> None:
    [line, _] = lines(capsys, clock, (0, "records", 0, None), (6, "records", 60_000, None))

    assert line == "lexical: 0:00:06, 60,000 records, 10,000/s"


def test_a_smaller_count_starts_rate_and_time_left_again(clock: Clock) -> None:
    status = Status("load", clock)
    status("records", 1_000)
    clock.now += 100
    status("records", 200_000)
    status("records", 1_000, 200_000)
    clock.now += 1

    status("records", 101_000, 200_000)

    assert status.text() == "load: 50%, 0:00:01 left, 101,000 of 200,000 records, 100,000/s"


def test_a_count_that_begins_late_estimates_from_there(clock: Clock) -> None:
    status = Status("judge", clock)
    status("first call", 0, 1)
    clock.now += 60
    status("calls", 1, 101)
    clock.now += 10

    status("calls", 51, 101)

    assert status.text() == "judge: 50%, 0:00:10 left, 51 of 101 calls, 5.0/s"


def test_the_time_taken_counts_the_wait_for_the_first_call(clock: Clock) -> None:
    status = Status("judge", clock)
    status("first call", 0, 1)
    clock.now += 60
    status("calls", 1, 101)
    clock.now += 4

    status("calls", 5, 101)

    assert status.text() == "judge: 5%, 0:01:04, 5 of 101 calls, 1.0/s"
    assert status.summary() == "judge: 5 calls in 0:01:04, 1.0/s"


def test_the_time_left_follows_the_share_of_the_work(clock: Clock) -> None:
    status = after(clock, 10, share=0.5)

    assert status.text() == "lexical: 50%, 0:00:10 left, 250,000 of 1,000,000 rows, 25,000/s"


def test_a_part_that_takes_long_shows_how_long(clock: Clock) -> None:
    status = Status("lexical", clock)
    status("rows", 0, 50_000)
    clock.now += 7

    assert status.text() == "lexical: 0%, 0:00:07, 0 of 50,000 rows"


def test_the_time_left_follows_the_recent_rate(clock: Clock) -> None:
    status = Status("judge", clock)
    status("calls", 0, 1_000)
    for done in range(10, 101, 10):  # a slow start: 1 call a second
        clock.now += 10
        status("calls", done, 1_000)
    for done in range(200, 801, 100):  # then 10
        clock.now += 10
        status("calls", done, 1_000)

    assert status.text().startswith("judge: 80%, 0:00:20 left")


def test_no_time_left_is_estimated_before_ten_calls(clock: Clock) -> None:
    status = Status("judge", clock)
    status("calls", 0, 100)
    clock.now += 9
    status("calls", 9, 100)
    early = status.text()
    clock.now += 1
    status("calls", 10, 100)

    assert early == "judge: 9%, 0:00:09, 9 of 100 calls, 1.0/s"
    assert status.text().startswith("judge: 10%, 0:01:30 left")


def test_slow_calls_are_not_estimated_from_a_few(clock: Clock) -> None:
    status = Status("judge", clock)
    for done in range(31):  # a call takes 30 seconds: 2 a minute
        status("calls", done, 100)
        clock.now += 30

    assert len(status._marks) == 11


def test_a_note_is_shown(clock: Clock) -> None:
    assert after(clock, 10, note="1 failed, $0.02").text().endswith(", 25,000/s, 1 failed, $0.02")


@given(
    st.text(min_size=1, max_size=12),
    st.integers(0, 10**9),
    st.none() | st.integers(0, 10**9),
    st.none() | st.floats(0, 1),
    st.text(max_size=20),
    st.floats(0, 1e6),
)
def test_any_report_has_a_text(
    what: str, done: int, total: int | None, share: float | None, note: str, seconds: float
) -> None:
    clock = Clock()
    status = Status("lexical", clock)
    status(what, 0, total)
    clock.now += seconds

    status(what, done, total, share=share, note=note)

    assert all(text.startswith("lexical: ") for text in (status.text(), status.summary()))


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_bar_and_text_fit_into_one_line(width: int, clock: Clock) -> None:
    console = Console(width=width, file=io.StringIO(), force_terminal=True)

    with console.capture() as capture:
        console.print(after(clock, 10), end="")

    assert capture.get().count("\n") <= 1
    assert ("0:00:30 left" in capture.get()) == (width >= 40)


def test_a_wide_terminal_shows_everything(clock: Clock) -> None:
    console = Console(width=100, file=io.StringIO(), no_color=True)

    with console.capture() as capture:
        console.print(after(clock, 10))

    assert capture.get().rstrip() == "━━━          lexical: 25%, 0:00:30 left, 250,000 of 1,000,000 rows, 25,000/s"


def test_a_step_that_reports_nothing_shows_how_long_it_takes(clock: Clock) -> None:
    status = Status("report", clock)
    clock.now += 3

    assert status.text() == "report: 0:00:03"


def test_without_a_standard_error_nothing_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)

    with progress.display("lexical") as report:
        assert report is progress.quiet


def test_a_reader_that_is_gone_does_not_stop_the_step(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(io.StringIO):
        def write(self, _text: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(progress, "FIRST_LINE", 0.0)
    monkeypatch.setattr(sys, "stderr", Gone())

    with progress.display("lexical") as report:
        report("rows", 1, 2)


def test_a_step_that_ends_before_the_bar_appears_prints_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use_terminal(monkeypatch)

    with progress.display("lexical") as report:
        report("rows", 1, 2)

    assert capsys.readouterr().err == ""


def test_the_bar_is_removed_at_the_end(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    rendered, text = Event(), Status.text
    use_terminal(monkeypatch)
    monkeypatch.setattr(progress, "BAR_DELAY", 0.0)
    monkeypatch.setattr(Status, "text", lambda status: rendered.set() or text(status))  # type: ignore[func-returns-value]

    with progress.display("lexical") as report:
        report("rows", 1, 2)
        assert rendered.wait(10)
    written = capsys.readouterr().err

    assert written.startswith("\x1b[?25l")  # the cursor is hidden
    assert written.rstrip().endswith(("\x1b[2K", "\x1b[?25h"))  # the line is erased
    assert "\x1b[?25h" in written


def test_a_dumb_terminal_gets_lines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr(progress, "FIRST_LINE", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)

    with progress.display("lexical") as report:
        report("rows", 1, 2)

    assert capsys.readouterr().err.splitlines()[0].endswith("1 of 2 rows")
