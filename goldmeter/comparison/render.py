"""A comparison of two versions or of several for a terminal, and as Markdown for a pull request."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table

from goldmeter.console import markdown
from goldmeter.console.markdown import escaped, escaped_in_html
from goldmeter.console.terminal import plain, width_of
from goldmeter.wording import classes, comparison_lines, notes, several_lines
from goldmeter.wording.comparison_document import (
    ChangedRow,
    ComparisonDocument,
    MeasureEntry,
    PairEntry,
    SeveralVersions,
    from_first_to_last,
)
from goldmeter.wording.several_lines import VersionRow
from goldmeter.wording.verdicts import Decision, Verdict

COLOURS = {Decision.SHIP: "green", Decision.DO_NOT_SHIP: "red", Decision.UNDECIDED: "yellow"}
STYLES = {Verdict.WORSE: "bold red", Verdict.BETTER: "bold green", Verdict.NO_WORSE: "green"}
CHANGED_ROWS_ON_TERMINAL = 5
# Columns whose cells take two lines on a narrow terminal, in this order.
BROKEN = ("more rows", "difference", "verdict", "measure")
# What stands on the lines below the name and the verdict when a terminal has no room for columns.
LINES = (("before", "after"), ("difference",), ("rows", "more rows", "finds"))
# The width from which on texts stand side by side.
LEAST_FOR_TEXTS = 80
CAPTION = (
    f"{comparison_lines.NAMES_MEAN}; those of one role hold together at the gate's confidence; more rows: so many "
    "would decide; finds: the smallest difference that 4 of 5 such runs show; measures without a role stop no release"
)
CUT_IN_MARKDOWN = 200
# The columns of a measure among those to decide by.
SHORT = comparison_lines.MEASURE_COLUMNS[:6]
# Columns of numbers in a table of several versions.
RIGHT = {1, 2, 3}


def to_terminal(document: ComparisonDocument, console: Console, *, every: bool = False) -> None:
    """Print the decision, then the comparison; a narrow terminal gets more lines, and no number is cut.

    Args:
        document: The comparison.
        console: Where to print.
        every: Every measure and note of every candidate, not only those to decide by.
    """
    sentence, *reasons = comparison_lines.lead(document, every=every)
    console.print(plain(sentence), style=f"bold {COLOURS[document['decision']['verdict']]}", highlight=False)
    for reason in reasons:
        console.print(plain(f"· {reason}"), highlight=False)
    if every:
        console.print()
    are_unchanged = all(map(comparison_lines.is_unchanged, document["pairs"]))
    for pair in document["pairs"]:
        if every:
            _print_in_full(document, pair, console)
        elif are_unchanged or not comparison_lines.is_unchanged(pair):
            _print_in_short(document, pair, console)
    for note in (*classes.comparison_notes(document), *notes.candidates_notes(document)):
        console.print(plain(f"· {note}"), highlight=False)


def _print_in_short(document: ComparisonDocument, pair: PairEntry, console: Console) -> None:
    title = f"{comparison_lines.title(document, pair)}, {comparison_lines.rows_line(pair)}"
    console.print()
    console.print(plain(title), style="bold", highlight=False)
    if comparison_lines.is_unchanged(pair):
        console.print(plain(f"all {len(pair['measures'])} measures unchanged on every row"), highlight=False)
        return
    shown = comparison_lines.first(pair)
    if shown.measures:
        console.print(*_measures(pair | {"measures": shown.measures}, console, SHORT), sep="\n")
    _print_classes(pair, console)
    for line in filter(None, [shown.rest, *notes.notes(pair, every=False), *comparison_lines.changed_answers(pair)]):
        console.print(plain(line), highlight=False)


def _print_in_full(document: ComparisonDocument, pair: PairEntry, console: Console) -> None:
    console.print(plain(comparison_lines.title(document, pair)), style="bold")
    console.print(plain(comparison_lines.rows_line(pair)), highlight=False)
    if comparison_lines.is_unchanged(pair):
        console.print(plain(f"all {len(pair['measures'])} measures unchanged on every row"), highlight=False)
    elif pair["measures"]:
        console.print("", *_measures(pair, console), "", plain(CAPTION, "dim italic"), "", sep="\n")
    _print_classes(pair, console)
    for note in [*notes.notes(pair), comparison_lines.changed_rows_line(pair)]:
        console.print(plain(f"· {note}"), highlight=False)
    if worst := pair["flips"]["worst"]:
        console.print(*_changed_rows(worst[:CHANGED_ROWS_ON_TERMINAL], console), sep="\n")


def _print_classes(pair: PairEntry, console: Console) -> None:
    for title, cells in classes.comparison_tables(pair).items():
        console.print(plain(title, "italic"), _class_table(cells), "", sep="\n")


def to_markdown(document: ComparisonDocument) -> str:
    """The comparison as a comment on a pull request."""
    return "\n".join(_markdown(document)) + "\n"


def _measures(
    pair: PairEntry, console: Console, columns: Sequence[str] = comparison_lines.MEASURE_COLUMNS
) -> Iterator[RenderableType]:
    """A table in the first layout that fits the terminal, or a few lines for each measure when none fits."""
    layouts = [(1, BROKEN[:0]), (1, BROKEN[:1]), *((0, BROKEN[:n]) for n in range(1, len(BROKEN) + 1))]
    tables = (_table(pair, columns, padding, broken) for padding, broken in layouts)
    if table := next((one for one in tables if width_of(one, console) <= console.width), None):
        yield table
    else:
        for name, measure in pair["measures"].items():
            yield from _lines(name, measure)


def _table(pair: PairEntry, shown: Sequence[str], padding: int, broken: Collection[str]) -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, padding, 0, 0))
    rows = [_cells(name, measure, shown) for name, measure in pair["measures"].items()]
    columns = [_column(texts, broken) for texts in zip(shown, *rows, strict=True)]
    heads, *lines = zip(*columns, strict=True)
    for name, head in zip(shown, heads, strict=True):
        table.add_column(head, justify="left" if name in {"measure", "verdict"} else "right", no_wrap=True)
    for cells, measure in zip(lines, pair["measures"].values(), strict=True):
        table.add_row(*map(plain, cells), style=_style(measure))
    return table


def _class_table(rows: Sequence[Sequence[str]]) -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for name in classes.COMPARISON_COLUMNS:
        table.add_column(name, justify="left" if name == "measure" else "right", overflow="fold")
    for cells in rows:
        table.add_row(*map(plain, cells))
    return table


def _cells(name: str, measure: MeasureEntry, shown: Sequence[str]) -> list[str]:
    """The cells of these columns; without the caption that names it, a difference has its unit."""
    cells = dict(zip(comparison_lines.MEASURE_COLUMNS, comparison_lines.measure_cells(name, measure), strict=True))
    if shown is SHORT and measure["verdict"] != Verdict.UNCHANGED:
        cells["difference"] = comparison_lines.interval(measure["difference"], measure["unit"])
    return [cells[column] for column in shown]


def _style(measure: MeasureEntry) -> str:
    """The colour of a row: that of its verdict, if the verdict counts."""
    return "dim" if measure["role"] == "secondary" else STYLES.get(measure["verdict"], "")


def _column(texts: Sequence[str], broken: Collection[str]) -> list[str]:
    """The head of a column and its cells; in a broken column, cells longer than needed take two lines."""
    if texts[0] not in broken:
        return [*texts]
    needed = max(_longest_line(_in_two(text)) for text in texts)
    return [_in_two(text) if len(text) > needed else text for text in texts]


def _in_two(text: str) -> str:
    """A text on two lines: broken at its first space, or else at the underscore that leaves the shortest lines.

    >>> _in_two("+0.1 [0.0, +0.2]"), _in_two("non_llm_string_similarity"), _in_two("f1")
    ('+0.1\\n[0.0, +0.2]', 'non_llm_string_\\nsimilarity', 'f1')
    """
    if " " in text:
        return text.replace(" ", "\n", 1)
    ends = (number for number, sign in enumerate(text, 1) if sign == "_")
    return min((f"{text[:end]}\n{text[end:]}" for end in ends), key=_longest_line, default=text)


def _longest_line(text: str) -> int:
    return max(map(len, text.split("\n")))


def _lines(name: str, measure: MeasureEntry) -> Iterator[RenderableType]:
    cells = dict(zip(comparison_lines.MEASURE_COLUMNS, comparison_lines.measure_cells(name, measure), strict=True))
    style = _style(measure)
    yield plain(f"{cells['measure']}: {cells['verdict']}", style)
    for columns in LINES:
        line = ", ".join(f"{column} {cells[column]}" for column in columns if cells[column])
        yield Padding(plain(line, style), (0, 0, 0, 2), expand=False)


def _changed_rows(rows: Sequence[ChangedRow], console: Console) -> Iterator[RenderableType]:
    yield plain("\nrows that changed, worst first", "italic")
    if console.width >= LEAST_FOR_TEXTS:
        table = Table(box=SIMPLE_HEAD)
        for column in comparison_lines.CHANGED_ROW_COLUMNS:
            table.add_column(column, overflow="fold")
        for row in rows:
            table.add_row(*map(plain, comparison_lines.changed_row_cells(row)))
        yield table
        return
    for row in rows:
        asked, *cells = comparison_lines.changed_row_cells(row)
        yield plain(f"\n{asked}")
        for column, cell in zip(comparison_lines.CHANGED_ROW_COLUMNS[1:], cells, strict=True):
            if cell:
                yield Padding(plain(f"{column}: {cell}"), (0, 0, 0, 2), expand=False)
    yield ""


def _markdown(document: ComparisonDocument) -> Iterator[str]:
    yield f"### goldmeter: {escaped(document['base']['name'])} → {escaped(document['head']['name'])}"
    sentence, *reasons = comparison_lines.lead(document)
    yield f"**{escaped(sentence)}**\n"
    yield from (f"- {escaped(reason)}" for reason in reasons)
    for pair in document["pairs"]:
        yield f"\n#### {escaped(comparison_lines.title(document, pair))}\n\n{comparison_lines.rows_line(pair)}\n"
        if crossed := comparison_lines.crossed_cells(pair):
            yield from markdown.table(comparison_lines.CROSSED_COLUMNS, crossed)
            yield ""
        yield from _markdown_table(pair)
        for title, cells in classes.comparison_tables(pair).items():
            yield f"\n<details><summary>{escaped_in_html(title)}</summary>\n"
            yield from markdown.table(classes.COMPARISON_COLUMNS, cells)
            yield "\n</details>\n"
        yield from (f"- {escaped(note)}" for note in notes.notes(pair))
        yield from _markdown_changed_rows(pair)
    every = (*classes.comparison_notes(document), *notes.candidates_notes(document))
    yield from (f"- {escaped(note)}" for note in every)


def _markdown_table(pair: PairEntry) -> Iterator[str]:
    if comparison_lines.is_unchanged(pair):
        yield f"- all {len(pair['measures'])} measures unchanged on every row"
        return
    if not pair["measures"]:
        return
    decisive, others = comparison_lines.by_weight(pair)
    if decisive:
        yield from _markdown_measures(decisive)
    if others:
        tally = ", ".join(f"{says} on {len(names)}" for says, names in comparison_lines.tally(others).items())
        yield f"\n<details><summary>Other measures, which decide nothing: {tally}</summary>\n"
        yield from _markdown_measures(others)
        yield "\n</details>\n"
    if taken := comparison_lines.resources(pair):
        yield "\n<details><summary>Time and cost</summary>\n"
        yield from _markdown_measures(taken)
        yield "\n</details>\n"
    yield f"\n- {comparison_lines.NAMES_MEAN}"


def _markdown_measures(measures: Mapping[str, MeasureEntry]) -> Iterator[str]:
    cells = (comparison_lines.measure_cells(name, measure) for name, measure in measures.items())
    yield from markdown.table(comparison_lines.MEASURE_COLUMNS, cells)


def _markdown_changed_rows(pair: PairEntry) -> Iterator[str]:
    if not pair["flips"]["worst"]:
        yield f"- {escaped(comparison_lines.changed_rows_line(pair))}"
        return
    yield f"\n<details><summary>{escaped_in_html(comparison_lines.changed_rows_line(pair))}</summary>\n"
    rows = (comparison_lines.changed_row_cells(row, CUT_IN_MARKDOWN) for row in pair["flips"]["worst"])
    yield from markdown.table(comparison_lines.CHANGED_ROW_COLUMNS, rows)
    yield "\n</details>\n"


def several_to_terminal(document: SeveralVersions, console: Console) -> None:
    """Print the decision on the last version, then each version of each candidate."""
    sentence, *reasons = several_lines.lead(document)
    style = COLOURS[from_first_to_last(document)["decision"]["verdict"]]
    console.print(plain(sentence), style=f"bold {style}", highlight=False)
    for reason in reasons:
        console.print(plain(f"· {reason}"), highlight=False)
    for candidate, versions in several_lines.rows(document).items():
        table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
        for place, head in enumerate(several_lines.heads(document)):
            table.add_column(head, justify="right" if place in RIGHT else "left", overflow="fold")
        for row in versions:
            table.add_row(*map(plain, several_lines.cells(document, row)), style=_version_style(row))
        console.print()
        console.print(plain(candidate), style="bold")
        console.print(table)
    console.print()
    for note in (*several_lines.notes(document), several_lines.more(document)):
        console.print(plain(f"· {note}"), highlight=False)


def several_to_markdown(document: SeveralVersions) -> str:
    """The versions as Markdown, then the comparison of the first with the last one in full."""
    return "\n".join(_several_markdown(document)) + "\n\n" + to_markdown(from_first_to_last(document))


def _several_markdown(document: SeveralVersions) -> Iterator[str]:
    yield f"### goldmeter: {escaped(' → '.join(one['name'] for one in document['versions']))}"
    sentence, *reasons = several_lines.lead(document)
    yield f"**{escaped(sentence)}**\n"
    yield from (f"- {escaped(reason)}" for reason in reasons)
    for candidate, versions in several_lines.rows(document).items():
        yield f"\n#### {escaped(candidate)}\n"
        yield from markdown.table(
            several_lines.heads(document), (several_lines.cells(document, row) for row in versions)
        )
    yield from (f"\n{note}" for note in several_lines.notes(document))


def _version_style(row: VersionRow) -> str:
    return STYLES.get(row.entry["verdict"], "") if row.entry else ""
