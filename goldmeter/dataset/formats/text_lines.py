"""The lines of a text file, which may be compressed; parallel text files, whose lines of one number are a record."""

import bz2
import gzip
import zipfile
import zlib
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from io import BufferedReader, TextIOWrapper
from itertools import zip_longest
from pathlib import Path
from typing import IO, Any, cast

import psutil
import pyarrow as pa

from goldmeter.dataset.record import NumberedValues, file_name
from goldmeter.errors import DataError

BOM = b"\xef\xbb\xbf"
UTF16 = "utf-16"
UTF16_BOMS = (BOM_UTF16_LE, BOM_UTF16_BE)
TEXT = ".txt"
# Column of parallel text files that numbers the lines.
LINE = "line"
# Bytes read from a compressed file at once.
BLOCK = 1 << 20
# Bytes; decoding takes about four times as much memory. A few kilobytes can be compressed text of any length.
LONGEST_LINE = 1 << 29
LARGEST_TEXT = 1 << 30
GIGABYTE = 1e9


def text_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a file in UTF-8, or in UTF-16 with a byte order mark, with their line ends, without the mark.

    Raises:
        DataError: A byte is neither, a line is longer than LONGEST_LINE, or a compressed file is damaged or cut off.
    """
    read = 0
    for line, raw in enumerate(_raw_lines(path), 1):
        read += len(raw)
        try:
            yield (raw.removeprefix(BOM) if line == 1 else raw).decode()
        except UnicodeDecodeError as error:
            byte, offset = error.object[error.start], read - len(error.object) + error.start
            raise DataError(
                f"{file_name(path)}, line {line}: byte 0x{byte:02x} at byte offset {offset} is not UTF-8; "
                f"{_conversion_hint(path)}"
            ) from None


def whole_text(path: Path, times: int = 2) -> str:
    """Return the text of a file that is read at once.

    Args:
        path: The file.
        times: Bytes of memory that reading takes for each byte of a file that is not compressed.

    Raises:
        DataError: As `text_lines`, or it is longer than LARGEST_TEXT, or takes more memory than is free.
    """
    needed, free = times * (path.stat().st_size if path.is_file() else 0), psutil.virtual_memory().available
    if needed > free:
        raise DataError(
            f"{file_name(path)}: is read at once, in about {needed / GIGABYTE:.1f} GB of memory, and "
            f"{free / GIGABYTE:.1f} GB are free; split it, or convert it to .jsonl (one object a line)"
        )
    lines: list[str] = []
    size = 0
    for line in text_lines(path):
        size += len(line)
        if size > LARGEST_TEXT:
            raise DataError(
                f"{file_name(path)}: more than {LARGEST_TEXT:,} characters, which would be read at once; "
                "split it, or convert it to .jsonl (one object a line)"
            )
        lines.append(line)
    return "".join(lines)


def inner_suffix(path: Path) -> str:
    """Return the suffix in small letters that says the format: of `a.CSV.gz` it is `.csv`; of a .zip, its member's.

    Raises:
        DataError: A .zip does not hold exactly one file.
    """
    suffix = path.suffix.lower()
    if suffix == ".zip":
        return Path(_only_member(path).filename).suffix.lower()
    return Path(path.stem).suffix.lower() if suffix in OPENERS else suffix


def head(path: Path, size: int) -> bytes:
    """Return the first bytes of a file's content, decompressed; fewer if it is damaged."""
    try:
        with _opened(path) as file:
            content = file.read(size)
            return content.decode(UTF16, "ignore").encode() if content.startswith(UTF16_BOMS) else content
    except (*DAMAGED, DataError):
        return b""


def _raw_lines(path: Path) -> Iterator[bytes]:
    if path.suffix.lower() not in OPENERS:
        with path.open("rb") as file:
            yield from _lines(file, path)
        return
    line = 0
    try:
        with _opened(path) as file:
            for raw in _lines(file, path):
                yield raw
                line += 1
    except DataError:
        raise
    except DAMAGED as error:
        problem = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise DataError(
            f"{file_name(path)}, after line {line}: can't be decompressed: {problem}; is the file complete?"
        ) from None


def _lines(file: IO[bytes], path: Path) -> Iterator[bytes]:
    is_utf16 = cast("BufferedReader", file).peek(2).startswith(UTF16_BOMS)
    lines = _utf16_lines(file, path) if is_utf16 else iter(partial(file.readline, LONGEST_LINE + 1), b"")
    for number, raw in enumerate(lines, 1):
        if len(raw) > LONGEST_LINE:
            raise DataError(
                f"{file_name(path)}, line {number}: longer than {LONGEST_LINE:,} bytes; is it one record a line?"
            )
        yield raw


def _utf16_lines(file: IO[bytes], path: Path) -> Iterator[bytes]:
    try:
        with TextIOWrapper(file, UTF16, newline="\n") as text:
            while line := text.readline(LONGEST_LINE + 1):
                yield line.encode()
    except UnicodeDecodeError as error:
        raise DataError(f"{file_name(path)}: begins as UTF-16 and is none: {error.reason}; is it complete?") from None


def _opened(path: Path) -> IO[bytes]:
    opener = OPENERS.get(path.suffix.lower())
    return opener(path) if opener else path.open("rb")


def _zstd(path: Path) -> IO[bytes]:
    stream = pa.CompressedInputStream(pa.OSFile(str(path)), "zstd")
    return BufferedReader(cast("Any", stream), BLOCK)


def _zip(path: Path) -> IO[bytes]:
    return zipfile.ZipFile(path).open(_only_member(path))


def _only_member(path: Path) -> zipfile.ZipInfo:
    try:
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if _is_data(member)]
    except DAMAGED as error:
        raise DataError(f"{file_name(path)}: can't be read as .zip: {error}; is the file complete?") from None
    if len(members) != 1:
        raise DataError(
            f"{file_name(path)}: a .zip must hold one file, this one holds {len(members)}; "
            "unpack it, and name the folder in dataset.path"
        )
    return members[0]


def _is_data(member: zipfile.ZipInfo) -> bool:
    parts = Path(member.filename).parts
    return not member.is_dir() and parts != () and "__MACOSX" not in parts and parts[-1][0] != "."


def _conversion_hint(path: Path) -> str:
    target = f"{path.stem}-utf8{path.suffix}"
    decoded = f"Path({str(path)!r}).read_bytes().decode('cp1252')"
    code = f"from pathlib import Path; Path({target!r}).write_bytes({decoded}.encode())"
    return f"save the file as UTF-8; if it is a Western Windows file, in Python:\n  {code}"


OPENERS: Mapping[str, Callable[[Path], IO[bytes]]] = {
    ".gz": lambda path: cast("IO[bytes]", gzip.open(path)),  # noqa: SIM115 (closed by `_opened`'s callers)
    ".bz2": lambda path: cast("IO[bytes]", bz2.open(path)),  # noqa: SIM115
    ".zst": _zstd,
    ".zip": _zip,
}
DAMAGED = (OSError, EOFError, ValueError, NotImplementedError, RuntimeError, zlib.error, zipfile.BadZipFile)


def parallel_text(files: Sequence[Path]) -> NumberedValues:
    """Yield line and values of each record: the number of the line, and the line of each file.

    Raises:
        DataError: Two files have the same name, or one has fewer lines than another.
    """
    columns = _columns(files)
    end = object()
    for line, texts in enumerate(zip_longest(*map(text_lines, columns.values()), fillvalue=end), 1):
        ended = [file for text, file in zip(texts, columns.values(), strict=True) if text is end]
        if ended:
            _refuse_lengths(columns, ended[0])
        texts_of = {name: str(text).rstrip("\r\n") for name, text in zip(columns, texts, strict=True)}
        yield line, {LINE: str(line), **texts_of}


def column_names(files: Sequence[Path]) -> list[str]:
    """Return the names of the columns of parallel text files: those of the files without .txt.

    >>> column_names([Path("hyp.a.txt"), Path("src.TXT.gz")])
    ['hyp.a', 'src']
    """
    names = [file.stem if file.suffix.lower() in OPENERS else file.name for file in files]
    return [name[: -len(TEXT)] if name.lower().endswith(TEXT) else name for name in names]


def _columns(files: Sequence[Path]) -> Mapping[str, Path]:
    columns: dict[str, Path] = {}
    for name, file in zip(column_names(files), files, strict=True):
        if name in columns:
            raise DataError(f"{file_name(file)}: the column {name!r} is also in {file_name(columns[name])}")
        columns[name] = file
    return columns


def _refuse_lengths(columns: Mapping[str, Path], shortest: Path) -> None:
    counts = {file: sum(1 for _ in text_lines(file)) for file in columns.values()}
    longest = max(counts, key=lambda file: counts[file])
    raise DataError(
        f"{file_name(shortest)}: {counts[shortest]} lines, but {file_name(longest)} has {counts[longest]}: the first "
        f"without a partner is line {counts[shortest] + 1}; parallel text files must have the same number of lines"
    )
