"""Progress: what is said of a long step, on a terminal and elsewhere."""

import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from tasks.pipeline import progress
from tasks.pipeline.progress import Lines, State, drawn


class Clock:
    """Seconds, as a test sets them."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def told(clock: Clock, *calls: tuple[float, str, int, int | None]) -> list[str]:
    """The lines of a step: (seconds since its start, what, done, total) each."""
    written: list[str] = []
    lines = Lines(State("lexical", clock), written.append)
    for seconds, what, done, total in calls:
        clock.now = 100 + seconds
        lines.told(what, done, total)
    lines.end()
    return written


def test_a_line_says_what_is_done_of_how_much_how_fast_and_the_time_left(clock: Clock) -> None:
    [line, _] = told(clock, (0, "rows", 0, 1_000_000), (10, "rows", 500_000, 1_000_000))

    assert line == "lexical: 500,000 of 1,000,000 rows, 50,000/s, 10 s left"


def test_lines_come_after_five_seconds_and_then_every_thirty_and_one_at_the_end(clock: Clock) -> None:
    calls = [(float(second), "rows", second, 100) for second in range(101)]

    assert [line.split(",")[0] for line in told(clock, *calls)] == [
        "lexical: 5 of 100 rows",
        "lexical: 35 of 100 rows",
        "lexical: 65 of 100 rows",
        "lexical: 95 of 100 rows",
        "lexical: 100 rows in 2 min",
    ]


def test_a_step_that_is_soon_done_says_nothing(clock: Clock) -> None:
    assert told(clock, (0, "rows", 0, 10), (4.9, "rows", 10, 10)) == []


def test_a_step_that_says_nothing_is_not_spoken_for(clock: Clock) -> None:
    written: list[str] = []
    lines = Lines(State("report", clock), written.append)
    clock.now += 60

    lines.end()

    assert written == []


def test_a_total_that_is_not_known_yet_gives_the_time_taken(clock: Clock) -> None:
    [line, _] = told(clock, (0, "records", 0, None), (6, "records", 60_000, None))

    assert line == "lexical: 60,000 records, 10,000/s, 6 s"


def test_counting_again_from_the_start_begins_anew(clock: Clock) -> None:
    state = State("load", clock)
    state.told("records", 1_000)
    clock.now += 100
    state.told("records", 200_000)
    state.told("records", 1_000, 200_000)
    clock.now += 1

    state.told("records", 101_000, 200_000)

    assert state.texts()[0] == "load: 101,000 of 200,000 records, 100,000/s, 1 s left"


def test_the_time_left_follows_the_share_of_the_work_where_one_is_told(clock: Clock) -> None:
    state = State("embed", clock)
    state.told("texts", 0, 100, share=0.0)
    clock.now += 10

    state.told("texts", 90, 100, share=0.25)

    assert state.texts()[0] == "embed: 90 of 100 texts, 9.0/s, 30 s left"


def test_a_part_that_takes_long_shows_how_long(clock: Clock) -> None:
    state = State("lexical", clock)
    state.told("rows", 0, 50_000)
    clock.now += 7

    assert state.texts()[0] == "lexical: 0 of 50,000 rows, 7 s"


def test_a_note_stands_beside_the_rate(clock: Clock) -> None:
    state = State("judge", clock)
    state.told("calls", 0, 40)
    clock.now += 10

    state.told("calls", 20, 40, note="1 failed, $0.02")

    assert state.texts()[0] == "judge: 20 of 40 calls, 2.0/s, 1 failed, $0.02, 10 s left"


@given(
    st.text(min_size=1, max_size=12),
    st.integers(0, 10**9),
    st.none() | st.integers(0, 10**9),
    st.none() | st.floats(0, 1),
    st.text(max_size=20),
    st.floats(0, 1e6),
)
def test_whatever_is_told_there_is_something_to_say(
    what: str, done: int, total: int | None, share: float | None, note: str, seconds: float
) -> None:
    clock = Clock()
    state = State("lexical", clock)
    state.told(what, 0, total)
    clock.now += seconds

    state.told(what, done, total, share=share, note=note)

    assert all(each.startswith("lexical") for each in [*state.texts(), state.summed_up()])


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_the_bar_and_its_text_fit_into_one_line(width: int, clock: Clock) -> None:
    state = State("lexical", clock)
    state.told("rows", 0, 1_000_000)
    clock.now += 10
    state.told("rows", 250_000, 1_000_000)
    console = Console(width=width, file=io.StringIO(), force_terminal=True)

    with console.capture() as capture:
        console.print(drawn(state, console), end="")

    assert capture.get().count("\n") <= 1
    assert ("30 s left" in capture.get()) == (width >= 40)


def test_a_wide_terminal_shows_everything(clock: Clock) -> None:
    state = State("lexical", clock)
    state.told("rows", 0, 1_000_000)
    clock.now += 10
    state.told("rows", 250_000, 1_000_000)
    console = Console(width=100, file=io.StringIO(), no_color=True)

    with console.capture() as capture:
        console.print(drawn(state, console))

    assert capture.get().rstrip().endswith("lexical: 250,000 of 1,000,000 rows, 25,000/s, 30 s left")


def test_a_step_that_tells_nothing_shows_how_long_it_takes(clock: Clock) -> None:
    state = State("report", clock)
    clock.now += 3

    assert state.texts()[0] == "report: 3 s"


def test_without_a_standard_error_nothing_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)

    with progress.shown("lexical") as shown:
        assert shown is progress.quiet


def test_a_reader_that_is_gone_stops_no_step(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(io.StringIO):
        def write(self, _text: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(progress, "FIRST_LINE", 0.0)
    monkeypatch.setattr(sys, "stderr", Gone())

    with progress.shown("lexical") as shown:
        shown("rows", 1, 2)


def test_what_ends_before_the_bar_appears_leaves_the_terminal_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)

    with progress.shown("lexical") as shown:
        shown("rows", 1, 2)

    assert capsys.readouterr().err == ""


def test_a_bar_is_gone_when_the_step_is_interrupted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    bar = progress._Bar(State("lexical"))

    with bar:
        bar._appear()

    written = capsys.readouterr().err
    assert written.startswith("\x1b[?25l")
    assert written.rstrip().endswith(("\x1b[2K", "\x1b[?25h"))
    assert "\x1b[?25h" in written


def test_a_dumb_terminal_gets_lines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr(progress, "FIRST_LINE", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)

    with progress.shown("lexical") as shown:
        shown("rows", 1, 2)

    assert capsys.readouterr().err.splitlines()[0].startswith("lexical: 1 of 2 rows")
