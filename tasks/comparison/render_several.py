"""Several versions for a terminal and as Markdown: the decision on the last one, then a table for each candidate."""

from collections.abc import Iterator

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from tasks.comparison import render
from tasks.console import markdown
from tasks.console.markdown import escaped
from tasks.console.terminal import plain
from tasks.wording.several_document import SeveralVersions, from_first_to_last
from tasks.wording.several_lines import VersionRow, cells, heads, lead, more, notes, rows

# Columns of numbers.
RIGHT = {1, 2, 3}


def to_terminal(document: SeveralVersions, console: Console) -> None:
    """Print the decision on the last version, then each version of each candidate."""
    sentence, *reasons = lead(document)
    style = render.COLOURS[from_first_to_last(document)["decision"]["verdict"]]
    console.print(plain(sentence), style=f"bold {style}", highlight=False)
    for reason in reasons:
        console.print(plain(f"· {reason}"), highlight=False)
    for candidate, versions in rows(document).items():
        table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
        for place, head in enumerate(heads(document)):
            table.add_column(head, justify="right" if place in RIGHT else "left", overflow="fold")
        for row in versions:
            table.add_row(*map(plain, cells(document, row)), style=_style(row))
        console.print()
        console.print(plain(candidate), style="bold")
        console.print(table)
    console.print()
    for note in (*notes(document), more(document)):
        console.print(plain(f"· {note}"), highlight=False)


def to_markdown(document: SeveralVersions) -> str:
    """The versions as Markdown, then the comparison of the first with the last one in full."""
    return "\n".join(_markdown(document)) + "\n\n" + render.to_markdown(from_first_to_last(document))


def _markdown(document: SeveralVersions) -> Iterator[str]:
    yield f"### goldmeter: {escaped(' → '.join(one['name'] for one in document['versions']))}"
    sentence, *reasons = lead(document)
    yield f"**{escaped(sentence)}**\n"
    yield from (f"- {escaped(reason)}" for reason in reasons)
    for candidate, versions in rows(document).items():
        yield f"\n#### {escaped(candidate)}\n"
        yield from markdown.table(heads(document), (cells(document, row) for row in versions))
    yield from (f"\n{note}" for note in notes(document))


def _style(row: VersionRow) -> str:
    return render.STYLES.get(row.entry["verdict"], "") if row.entry else ""
