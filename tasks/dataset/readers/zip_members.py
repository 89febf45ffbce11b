"""Members of a zip file, which may be compressed by Zstandard (method 93 of the .zip specification)."""

import zipfile
import zlib
from functools import partial

import pyarrow as pa

from tasks.errors import DataError

# Bytes; a member is read at once, and a few kilobytes can be compressed text of any length.
LARGEST_MEMBER = 1 << 29
# Bytes that are decompressed at once.
BLOCK = 1 << 20
ZSTANDARD = 93
LOCAL_HEADER_BYTES = 30
# Where the local header holds the lengths of name and extra field, 2 bytes each (APPNOTE.TXT, 4.3.7).
LENGTHS_AT = 26


def member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, where: str) -> str:
    """Return a member as text.

    Raises:
        DataError: It is damaged, not UTF-8, or larger than LARGEST_MEMBER.
    """
    place = f"{where}, {info.filename}"
    if info.file_size > LARGEST_MEMBER:
        raise DataError(f"{place}: {info.file_size:,} bytes; at most {LARGEST_MEMBER:,} are read")
    try:
        content = _zstandard(archive, info) if info.compress_type == ZSTANDARD else _content(archive, info)
        return content.decode()
    except UnicodeDecodeError as error:
        raise DataError(f"{place}: byte offset {error.start} is not UTF-8") from None
    except (OSError, EOFError, NotImplementedError, RuntimeError, ValueError, zlib.error, zipfile.BadZipFile) as error:
        raise DataError(f"{place}: can't be decompressed: {error or type(error).__name__}") from None


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """Decompress a member in blocks, so that one larger than its header says takes no more memory."""
    with archive.open(info) as file:
        return b"".join(iter(partial(file.read, BLOCK), b""))


def _zstandard(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """Decompress what `zipfile` of Python before 3.14 can't; the content may be in several frames."""
    file = archive.fp
    if file is None:
        raise OSError("the archive is closed")
    file.seek(info.header_offset)
    header = file.read(LOCAL_HEADER_BYTES)
    lengths = header[LENGTHS_AT:LOCAL_HEADER_BYTES]
    if header[:4] != b"PK\x03\x04" or len(lengths) < LOCAL_HEADER_BYTES - LENGTHS_AT:
        raise zipfile.BadZipFile("no local header")
    file.seek(int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little"), 1)
    compressed = file.read(info.compress_size)
    content: bytes = pa.CompressedInputStream(pa.BufferReader(compressed), "zstd").read(info.file_size + 1)
    if len(content) != info.file_size or zlib.crc32(content) != info.CRC:
        raise zipfile.BadZipFile("the checksum differs")
    return content
