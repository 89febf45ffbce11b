"""Excel workbooks (.xlsx) with one sheet of data: values as computed when the workbook was saved."""

import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

from goldmeter.dataset.formats.delimited import checked_header
from goldmeter.dataset.formats.text_lines import LARGEST_TEXT
from goldmeter.dataset.record import NumberedValues, as_text, file_name
from goldmeter.errors import DataError

# What openpyxl raises for damaged files.
DAMAGED = (
    *(OSError, EOFError, ValueError, KeyError, TypeError, IndexError, AttributeError, RuntimeError, OverflowError),
    *(ParseError, zipfile.BadZipFile, zlib.error, NotImplementedError),
)
# Values of a cell whose formula fails (ECMA-376, 18.18.11, cell type `e`).
ERRORS = {"#N/A", "#DIV/0!", "#REF!", "#VALUE!", "#NAME?", "#NULL!", "#NUM!"}


def excel(path: Path) -> NumberedValues:
    """Yield number and values of each row below the header.

    Raises:
        DataError: The workbook can't be read, has several sheets with data, or a formula without a value.
    """
    header: list[str] = []
    for row, cells in _rows(path):
        where = f"{file_name(path)}, row {row}"
        if not header:
            header = checked_header(["" if cell is None else str(as_text(cell)) for cell in cells], where)
        elif len(cells) > len(header):
            raise DataError(f"{where}: {len(cells)} cells, but the header has {len(header)}")
        else:
            padded = [*cells, *[None] * (len(header) - len(cells))]
            yield row, {name: as_text(cell) for name, cell in zip(header, padded, strict=True)}


def _rows(path: Path) -> Iterator[tuple[int, list[Any]]]:
    """Yield number and cells of each row that is not empty, without empty cells at its end."""
    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        _require_size(path)
        # Twice: a cell has either its value or its formula.
        values = load_workbook(path, read_only=True, data_only=True)
        formulas = load_workbook(path, read_only=True)
        sheet = _only_sheet(values, path)
        pairs = zip(_cells(values[sheet]), _cells(formulas[sheet]), strict=True)
        for row, (cells, sources) in enumerate(pairs, 1):
            _require_values(cells, sources, f"{file_name(path)}, row {row}")
            if trimmed := _trimmed(cells):
                yield row, trimmed
    except DataError:
        raise
    except (*DAMAGED, InvalidFileException) as error:
        problem = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise DataError(f"{file_name(path)}: not readable as .xlsx: {problem}") from None


def _require_size(path: Path) -> None:
    """Refuse a workbook whose texts, which openpyxl reads at once, would fill the memory."""
    with zipfile.ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
    if size > LARGEST_TEXT:
        raise DataError(
            f"{file_name(path)}: {size:,} bytes when unpacked; at most {LARGEST_TEXT:,} are read; save it as .csv"
        )


def _only_sheet(workbook: Any, path: Path) -> str:
    filled = [sheet.title for sheet in workbook.worksheets if any(map(_trimmed, _cells(sheet)))]
    if len(filled) > 1:
        raise DataError(f"{file_name(path)}: sheets with data: {', '.join(filled)}; save the one to read as .csv")
    return str(filled[0] if filled else workbook.worksheets[0].title)


def _cells(sheet: Any) -> Iterator[Sequence[Any]]:
    # The size that a workbook states can be too small.
    sheet.reset_dimensions()
    yield from sheet.iter_rows(values_only=True)


def _trimmed(cells: Sequence[Any]) -> list[Any]:
    filled = [number for number, cell in enumerate(cells, 1) if cell is not None and str(cell).strip()]
    return list(cells[: filled[-1]]) if filled else []


def _require_values(cells: Sequence[Any], sources: Sequence[Any], where: str) -> None:
    for number, source in enumerate(sources, 1):
        value = cells[number - 1] if number <= len(cells) else None
        if value in ERRORS:
            raise DataError(f"{where}, column {number}: the error {value}; correct or empty the cell")
        if value is None and isinstance(source, str) and source.startswith("="):
            raise DataError(
                f"{where}, column {number}: the formula {source[:40]!r} has no value; open and save the file in Excel"
            )
