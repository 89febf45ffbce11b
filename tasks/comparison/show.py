"""A comparison for a terminal, and as Markdown for a pull request."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tasks import markdown
from tasks.comparison import words
from tasks.markdown import escaped
from tasks.reporting.words import visible

STYLES = {"worse": "bold red", "better": "bold green", "no worse": "green"}
FLIPS_ON_TERMINAL = 5
WRAPPED = {"difference": len("difference"), "rows needed": len("needed")}
"""Columns that take more lines where a terminal is narrow, and the least they need; the others are shown whole."""
CAPTION = (
    "differences hold together at the gate's confidence; rows needed: so many would tell; "
    "finds: the smallest difference that 4 of 5 such runs show"
)
CUT_IN_MARKDOWN = 200


def to_terminal(document: Mapping[str, Any], console: Console) -> None:
    """Print the comparison."""
    for pair in document["pairs"]:
        console.print(visible(words.title(document, pair)), style="bold", markup=False)
        console.print(words.rows_line(pair), markup=False)
        if words.is_unchanged(pair):
            console.print(f"all {len(pair['measures'])} measures unchanged on every row", markup=False)
        else:
            console.print(_table(pair))
        for note in words.notes(pair):
            console.print(f"· {visible(note)}", markup=False, highlight=False)
        console.print(f"· {words.flips_line(pair)}", markup=False, highlight=False)
        if worst := pair["flips"]["worst"]:
            console.print(_flips(worst[:FLIPS_ON_TERMINAL]))
    for note in words.candidates_notes(document):
        console.print(f"· {visible(note)}", markup=False, highlight=False)
    console.print(words.outcome(document).sentence, style="bold", markup=False)


def to_markdown(document: Mapping[str, Any]) -> str:
    """The comparison as a comment on a pull request."""
    return "\n".join(_markdown(document)) + "\n"


def _table(pair: Mapping[str, Any]) -> Table:
    table = Table(box=SIMPLE_HEAD, caption=CAPTION, caption_justify="left", padding=(0, 1, 0, 0), pad_edge=False)
    for column in words.MEASURE_COLUMNS:
        named = column in {"measure", "verdict"}
        width = WRAPPED.get(column)
        table.add_column(
            column, justify="left" if named else "right", no_wrap=width is None, min_width=width, overflow="fold"
        )
    for name, measure in pair["measures"].items():
        table.add_row(*map(_plain, words.measure_cells(name, measure)), style=STYLES.get(measure["verdict"], ""))
    return table


def _flips(rows: list[Mapping[str, Any]]) -> Table:
    table = Table(box=SIMPLE_HEAD, title="rows that changed, worst first", title_justify="left")
    for column in words.FLIP_COLUMNS:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*map(_plain, words.flip_cells(row)))
    return table


def _plain(text: str) -> Text:
    """Text of others, in which a terminal's markup means nothing."""
    return Text(visible(text))


def _markdown(document: Mapping[str, Any]) -> Iterator[str]:
    yield f"### goldmeter: {escaped(document['base']['name'])} → {escaped(document['head']['name'])}"
    yield f"**{words.outcome(document).sentence}**"
    for pair in document["pairs"]:
        yield f"\n#### {escaped(words.title(document, pair))}\n\n{words.rows_line(pair)}\n"
        yield from _markdown_table(pair)
        yield from (f"- {escaped(note)}" for note in words.notes(pair))
        yield from _markdown_flips(pair)
    yield from (f"- {escaped(note)}" for note in words.candidates_notes(document))


def _markdown_table(pair: Mapping[str, Any]) -> Iterator[str]:
    if words.is_unchanged(pair):
        yield f"- all {len(pair['measures'])} measures unchanged on every row"
        return
    measures = pair["measures"].items()
    yield from markdown.table(words.MEASURE_COLUMNS, (words.measure_cells(name, each) for name, each in measures))
    yield ""


def _markdown_flips(pair: Mapping[str, Any]) -> Iterator[str]:
    if not pair["flips"]["worst"]:
        yield f"- {escaped(words.flips_line(pair))}"
        return
    yield f"\n<details><summary>{escaped(words.flips_line(pair))}</summary>\n"
    yield from markdown.table(
        words.FLIP_COLUMNS, (words.flip_cells(row, CUT_IN_MARKDOWN) for row in pair["flips"]["worst"])
    )
    yield "\n</details>\n"
