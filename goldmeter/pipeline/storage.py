"""Storage outside of the project for the parts of tables: a folder, or an object store that fsspec knows.

A part lies under the hash of its content, so that what was written once is never changed. The table's folder in the
project holds a manifest instead of the parts, which is what DVC keeps.
"""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, ValidationError, model_validator

from goldmeter.errors import DataError, GoldmeterError, ParamsError, StorageError
from goldmeter.pipeline.credentials import without_credentials
from goldmeter.pipeline.files import move_durably, temporary_in

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

# Below it, the first two digits of a part's md5, then the others. No DVC remote or cache has such a folder.
FILES = "parts/md5"
# Places where a file is there at once and whole, and that need no password in the address.
ADDRESS = r"^(/|(s3|gs|abfs)://)[^@?]+$"
PART = rf"^{FILES}/[0-9a-f]{{2}}/[0-9a-f]{{30}}$"
MANIFEST = "manifest.json"
STRICT = ConfigDict(frozen=True, strict=True, extra="forbid")
# What to do when a part can't be read.
_REMEDY = "is the storage whole? If the part is lost, check out a version that names it and run `dvc repro --force`"


class StoredPart(BaseModel):
    """A part in storage. path: below the address of the storage. size: bytes."""

    model_config = STRICT

    path: Annotated[str, Field(pattern=PART)]
    rows: NonNegativeInt
    size: NonNegativeInt
    md5: str


class Manifest(BaseModel):
    """The parts of a table, in order, and the address of the storage that has them. rows: in all parts."""

    model_config = STRICT

    format: Literal[1] = 1
    storage: Annotated[str, Field(pattern=ADDRESS)]
    rows: NonNegativeInt
    parts: Annotated[tuple[StoredPart, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _rows_add_up(self) -> Self:
        if self.rows != sum(part.rows for part in self.parts):
            raise ValueError("rows: not those of the parts")
        return self

    @classmethod
    def of(cls, storage: str, parts: Sequence[StoredPart]) -> Self:
        """Return the manifest of these parts."""
        return cls(storage=storage, rows=sum(part.rows for part in parts), parts=tuple(parts))

    @classmethod
    def parse(cls, content: bytes, name: str) -> Self:
        """Return the manifest that a JSON document of this name holds. Raises DataError when it holds none."""
        try:
            return cls.model_validate_json(content)
        except ValidationError as error:
            [first, *_] = error.errors()
            where = ".".join(map(str, first["loc"]))
            raise DataError(
                f"{name}: not a manifest of this version: {where}: {first['msg']}; "
                "`dvc repro` brings it back, or makes it again"
            ) from None

    def write(self, path: Path) -> None:
        """Write the manifest, which is there at once and whole."""
        with temporary_in(path.parent.parent, f"{path.name}.") as temporary:
            temporary.write_text(self.model_dump_json(indent=1) + "\n", "utf-8")
            temporary.replace(path)


def manifest_of(folder: Path) -> Manifest | None:
    """Return the manifest in a table's folder, or, while a stage writes, all of its parts'; None without any.

    Raises:
        DataError: One of them can't be read.
    """
    one = folder / MANIFEST
    paths = [one] if one.exists() else sorted(folder.glob("part-*.json"))
    each = [Manifest.parse(path.read_bytes(), str(path)) for path in paths]
    return Manifest.of(each[0].storage, [part for found in each for part in found.parts]) if each else None


class Storage:
    """A place for parts.

    Args:
        address: An absolute path, or a URL such as s3://bucket/folder. Keys and regions come from the environment.
    """

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")

    def put(self, content: bytes, rows: int) -> StoredPart:
        """Write a part atomically. One that exists is written again: its age starts anew, and `gc` keeps it.

        Raises:
            ParamsError: The address can't be used.
            DataError: It is not there, or may not be written.
            StorageError: It does not answer.
        """
        md5 = _md5(content)
        path = _path_of(md5)
        with self.naming(path):
            if self.is_local:
                self._write(content, Path(self.locate(path)))
            else:
                self.files.pipe_file(self.locate(path), content)
        return StoredPart(path=path, rows=rows, size=len(content), md5=md5)

    def require_whole(self, part: StoredPart) -> None:
        """Raise DataError unless a part is as it was written."""
        with self.naming(part.path), self.reading(part.path):
            content = self.files.cat_file(self.locate(part.path))
        if _md5(content) != part.md5:
            raise DataError(f"{self.address}/{part.path}: damaged; {_REMEDY}")

    def locate(self, path: str) -> str:
        """Return the name of a path below the address, as `files` wants it."""
        return f"{self._root}/{path}"

    @property
    def is_local(self) -> bool:
        """Whether the address is a folder."""
        return "file" in self.files.protocol

    @property
    def files(self) -> "AbstractFileSystem":
        """The file system that has the storage. Raises ParamsError when there is none for its address."""
        return self._opened[0]

    @contextmanager
    def naming(self, path: str) -> Iterator[None]:
        """Raise one error of ours, which names the path, for all that a file system may raise."""
        try:
            yield
        except (GoldmeterError, MemoryError):
            raise
        except Exception as error:  # each kind of storage has classes of its own
            raise self._error(path, error) from error

    @contextmanager
    def reading(self, path: str) -> Iterator[None]:
        """Raise one error of ours, which names the part and says what to do, when it can't be read."""
        with self.naming(path):
            try:
                yield
            except FileNotFoundError as error:
                raise DataError(f"{self.address}/{path}: not found; {_REMEDY}") from error
            except (pa.ArrowException, OSError) as error:
                if self._is_damaged(path):
                    raise DataError(f"{self.address}/{path}: damaged; {_REMEDY}") from error
                if isinstance(error, pa.ArrowException):
                    raise DataError(f"{self.address}/{path}: can't be read as a table: {_first_line(error)}") from error
                raise

    def _is_damaged(self, path: str) -> bool:
        content = self.files.cat_file(self.locate(path))
        return path != _path_of(_md5(content))

    def _error(self, path: str, error: Exception) -> GoldmeterError:
        where = f"storage {self.address}/{path}"
        if isinstance(error, FileNotFoundError | NotADirectoryError):
            return DataError(f"{where}: not found ({_first_line(error)}); create the bucket or folder, or mount it")
        if isinstance(error, PermissionError) or "Credentials" in type(error).__name__:
            return DataError(f"{where}: permission denied ({_first_line(error)}); check keys, or the folder's rights")
        kind = DataError if self.is_local else StorageError
        return kind(f"{where}: {_first_line(error)}")

    def _write(self, content: bytes, path: Path) -> None:
        Path(self._root).stat()  # a folder that is not mounted is not made here instead
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary_in(path.parent, f"{path.name}.") as temporary:
            temporary.write_bytes(content)
            move_durably(temporary, path)

    @property
    def _root(self) -> str:
        return self._opened[1]

    @cached_property
    def _opened(self) -> "tuple[AbstractFileSystem, str]":
        from fsspec.core import url_to_fs  # half a second

        try:
            files, root = url_to_fs(self.address)
        except (ValueError, ImportError) as error:
            raise ParamsError(f"run.storage: {self.address} can't be used: {_first_line(error)}") from None
        return files, str(root).rstrip("/")


def _md5(content: bytes) -> str:
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


def _path_of(md5: str) -> str:
    return f"{FILES}/{md5[:2]}/{md5[2:]}"


def _first_line(error: Exception) -> str:
    return without_credentials(next(iter(str(error).splitlines()), "") or type(error).__name__)
