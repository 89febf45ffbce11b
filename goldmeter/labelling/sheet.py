"""A sheet of answers to label, as a table for spreadsheets and as a page for a browser; both save the same columns."""

import csv
import re
from collections.abc import Iterable, Mapping
from io import StringIO
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple, get_args

from goldmeter.dataset.corrections import Mark
from goldmeter.dataset.formats.delimited import delimited
from goldmeter.errors import DataError
from goldmeter.labelling.choice import Choice, read_name
from goldmeter.labelling.run_rows import RunRows
from goldmeter.reporting import page
from goldmeter.reporting.row_texts import COLUMNS, row_name

FOLDER = Path(__file__).parent
NEEDED = ("label", "row", "sheet")
DELIMITERS = (",", ";", "\t")
WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("1", "1.0", "right", "true", "yes"), True),
    **dict.fromkeys(("0", "0.0", "wrong", "false", "no"), False),
    **dict.fromkeys(("u", "unsure", "?"), None),
}
# What a spreadsheet evaluates as a formula; goldmeter/reporting/sections/csv_cell.js has the same rule.
FORMULA = re.compile(r"'*(?:[\s\ufeff]*[=+\-@＝＋－＠]|[\t\r\n])")


class SheetRow(NamedTuple):
    """A row of a sheet that came back.

    Attributes:
        file: Its file and line.
        row: Name of the row, by key and texts.
        id: Of the question.
        candidate: Its name.
        label: True, False, "unsure", or None without a label.
        comment: Of the rater.
        reference: What the rater calls the references, if anything.
        add: A reference that the rater adds.
        rater: Name that the page was given; None: the file's name is the rater's.
        sheet: Name of the sheet.
        probability: Inclusion probability; None for rows that are no sample.
        share: As of `Choice`.
    """

    file: str
    row: str
    id: str
    candidate: str
    label: bool | str | None
    comment: str | None
    reference: Mark | None
    add: str | None
    rater: str | None
    sheet: str
    probability: float | None
    share: float

    @property
    def is_marked(self) -> bool:
        """Whether the rater says anything of the references."""
        return bool(self.reference or self.add)


def write_sheet(run: RunRows, choice: Choice, folder: Path) -> list[Path]:
    """Write both forms of a sheet, without verdicts of metrics and judges, which would bias; returns their paths."""
    texts = run.texts(choice.rows.tolist())
    rows = [_shown(texts[row], choice, row) for row in choice.rows.tolist()]
    folder.mkdir(parents=True, exist_ok=True)
    written = {f"{choice.name}.html": as_page(choice.name, rows), f"{choice.name}.csv": as_table(rows)}
    for name, text in written.items():
        (folder / name).write_text(text, encoding="utf-8", newline="")
    return [folder / name for name in written]


def as_table(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return rows as CSV, with formulas defused and a byte order mark, without which Excel reads no UTF-8."""
    out = StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL)
    writer.writerow(COLUMNS)
    writer.writerows([defused(_cell(row.get(name))) for name in COLUMNS] for row in rows)
    return f"\ufeff{out.getvalue()}"


def as_page(name: str, rows: list[dict[str, Any]]) -> str:
    """Return rows as a page that needs no network and saves them, with labels, as `as_table` does."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(loader=FileSystemLoader(FOLDER), autoescape=True, undefined=StrictUndefined)
    head = page.bundle("*.js")
    script = page.bundle("sections/csv_cell.js") + (FOLDER / "sheet.js").read_text(encoding="utf-8")
    return environment.get_template("sheet.html.j2").render(
        name=name,
        sheet={"name": name, "columns": COLUMNS, "rows": rows},
        style=page.bundle("*.css") + (FOLDER / "sheet.css").read_text(encoding="utf-8"),
        head=head,
        script=script,
        scripts=" ".join(f"'{page.script_hash(text)}'" for text in (head, script)),
    )


def defused(text: str) -> str:
    """Return a text that no spreadsheet evaluates as a formula.

    >>> defused("=1+1"), defused(" -2"), defused("a=b")
    ("'=1+1", "' -2", 'a=b')
    """
    return f"'{text}" if FORMULA.match(text) else text


def restored(text: str | None) -> str | None:
    """Return the text that was defused."""
    return text[1:] if text and text[0] == "'" and FORMULA.match(text) else text


def read_sheet(path: Path) -> list[SheetRow]:
    """Read a sheet that came back, as the page or a spreadsheet saved it.

    Raises:
        DataError: It is no sheet, or a value can't be read.
    """
    found: list[SheetRow] = []
    for line, values in delimited(path, _delimiter(path)):
        place = f"{path}, line {line}"
        if missing := [name for name in NEEDED if name not in values]:
            raise DataError(f"{path}: no sheet of flows.label, which has a column {missing[0]}")
        cells = {name: text if isinstance(text := values.get(name), str) else None for name in COLUMNS}
        if cells["row"] is None and not any(cells.values()):
            continue  # spreadsheets append empty lines
        found.append(
            SheetRow(
                file=place,
                row=cells["row"] or "",
                id=restored(cells["id"]) or "",
                candidate=restored(cells["candidate"]) or "",
                label=_label(cells["label"], place),
                comment=restored(cells["comment"]),
                reference=_mark(cells["reference"], place),
                add=(restored(cells["add_reference"]) or "").strip() or None,
                rater=restored(cells["rater"]),
                sheet=_sheet_name(cells["sheet"], place),
                probability=_share(cells, "label_probability", place) or None,
                share=_share(cells, "earlier_share", place),
            )
        )
    if not found:
        raise DataError(f"{path}: no rows")
    return found


def _shown(texts: dict[str, Any], choice: Choice, row: int) -> dict[str, Any]:
    probability = float(choice.probabilities[row])
    return {
        **{name: texts[name] for name in ("id", "candidate", "input", "references", "response")},
        "label_probability": None if isnan(probability) else repr(probability),
        "earlier_share": repr(choice.share),
        "row": row_name(texts),
        "sheet": choice.name,
    }


def _cell(value: object) -> str:
    if isinstance(value, list):
        return "\n".join(value)
    return "" if value is None else str(value)


def _delimiter(path: Path) -> str:
    """Return the delimiter of the first line: spreadsheets save the one of their language."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            head = file.readline()
    except UnicodeDecodeError:
        raise DataError(f"{path}: not UTF-8; save it as CSV UTF-8") from None
    return max(DELIMITERS, key=head.count)


def _label(text: str | None, place: str) -> bool | str | None:
    word = (text or "").strip().casefold()
    if not word:
        return None
    if word not in WORDS:
        raise DataError(f"{place}: label {text!r}; allowed: 1 or right, 0 or wrong, u or unsure, or nothing")
    verdict = WORDS[word]
    return "unsure" if verdict is None else verdict


def _mark(text: str | None, place: str) -> Mark | None:
    word = (text or "").strip().casefold()
    mark = next((one for one in get_args(Mark) if one == word), None)
    if word and mark is None:
        raise DataError(f"{place}: reference {text!r}; allowed: {', '.join(get_args(Mark))}, or nothing")
    return mark


def _sheet_name(text: str | None, place: str) -> str:
    try:
        read_name(text or "")
    except DataError as error:
        raise DataError(f"{place}: column sheet: {error}") from None
    return text or ""


def _share(cells: Mapping[str, str | None], column: str, place: str) -> float:
    """Return a number between 0 and 1; 0 for an empty cell."""
    text = cells[column] or ""
    try:
        value = float(text.replace(",", ".") or 0.0)  # a spreadsheet writes the decimal point of its language
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise DataError(f"{place}: {column} {text!r}: expected a number from 0 to 1, as the sheet had it")
    return value
