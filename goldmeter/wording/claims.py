"""The words and the JSON document of `goldmeter adopt`: what past logs claimed, and what they show."""

from enum import StrEnum
from typing import TypedDict

from goldmeter.console.format import NONE, count, counted, number, points_interval, rate

SCHEMA = 1
BY_TOOL = (
    "Every score is the tool's own, or its model's: none is a verdict by people. "
    "goldmeter init reads a log with the labels of people, and goldmeter run scores its answers again."
)


class Shown(StrEnum):
    """What the difference of two successive runs shows of the claim."""

    REAL_WIN = "real win"
    REAL_LOSS = "real regression"
    UNMEASURED = "win only without unmeasured rows"
    WIN_NOT_SHOWN = "win may be noise"
    LOSS_NOT_SHOWN = "regression may be noise"
    UNCHANGED = "no change claimed"
    NOT_COMPARED = "not compared"


# Verdict → its class in the style sheet; all others are open.
CLASSES = {Shown.REAL_WIN: "right", Shown.REAL_LOSS: "wrong"}


class RunEntry(TypedDict):
    """A run: rates are means of the score, over measured rows and over all rows with unmeasured ones as 0."""

    tool: str
    file: str
    system: str
    task: str
    date: str
    dated_by: str
    rows: int
    score: str | None
    measured: int
    rate: float | None
    rate_of_all: float | None
    labels_by_people: int


class ClaimEntry(TypedDict):
    """A pair of successive runs: positions in `runs`, the claim, and the paired difference of shared questions.

    tests: differences of the series; confidence: of this interval, corrected for them by Holm's steps. Above 0 is
    better, whatever the direction of the score.
    is_share: the score lies in [0, 1].
    """

    base: int
    head: int
    score: str | None
    is_share: bool
    claimed: float | None
    shared: int
    only_base: int
    only_head: int
    difference: float | None
    low: float | None
    high: float | None
    p_value: float | None
    method: str | None
    tests: int
    confidence: float
    verdict: Shown
    why: str | None


class FileEntry(TypedDict):
    """A file or folder that gave no run, and why."""

    file: str
    reason: str


class AdoptDocument(TypedDict):
    """All that `goldmeter adopt` found."""

    schema: int
    folder: str
    files: int
    runs: list[RunEntry]
    claims: list[ClaimEntry]
    not_read: list[FileEntry]


def found(document: AdoptDocument) -> str:
    """Say how much was found."""
    tools = counted(len({run["tool"] for run in document["runs"]}), "tool")
    runs, rows = counted(len(document["runs"]), "run"), counted(sum(run["rows"] for run in document["runs"]), "row")
    left = counted(len(document["not_read"]), "file or folder", "files or folders")
    return f"{counted(document['files'], 'file')}: {runs} of {tools}, {rows}; {left} gave no run"


def result(document: AdoptDocument) -> str:
    """Say how many claims hold."""
    verdicts = [claim["verdict"] for claim in document["claims"]]
    each = ", ".join(f"{kind} {verdicts.count(kind)}" for kind in Shown if kind in verdicts)
    first = len(document["runs"]) - len(verdicts)
    earliest = f"; {counted(first, 'run has', 'runs have')} no earlier one of that tool, task, system and questions"
    return f"{counted(len(verdicts), 'pair')} of successive runs{each and f': {each}'}{earliest}"


def measured(run: RunEntry) -> str:
    """Say a run's rate over measured rows, and over all if some are unmeasured."""
    if run["rate"] is None:
        return "no score in numbers"
    of_all, rows = run["rate_of_all"], run["rows"]
    says = rate if of_all is not None else number
    lost = rows - run["measured"]
    if not lost:
        return says(run["rate"])
    all_rows = f"; of all {count(rows)}: {rate(of_all)}" if of_all is not None else ""
    return f"{says(run['rate'])} of {count(run['measured'])}{all_rows}; {count(lost)} unmeasured"


def size(claim: ClaimEntry, value: float | None) -> str:
    """Format a difference of the claim's score: in points if it is a share."""
    return points_interval(value, None, None) if claim["is_share"] else NONE if value is None else f"{value:+.3g}"


def shows(claim: ClaimEntry) -> str:
    """Say the paired difference with its interval, or why there is none."""
    if claim["difference"] is None:
        return claim["why"] or ""
    value, low, high = claim["difference"], claim["low"], claim["high"]
    plain = f"{size(claim, value)} [{size(claim, low)}, {size(claim, high)}]"
    limits = points_interval(value, low, high) if claim["is_share"] else plain
    questions = f"{limits} on {counted(claim['shared'], 'question')}"
    return f"{questions}; {claim['why']}" if claim["why"] else questions
