"""The hashes of files and folders in dvc.lock: MD5, and for a folder that of the JSON list of its files."""

import hashlib
import json
from pathlib import Path

# How the hash of a folder ends.
FOLDER = ".dir"


def dvc_hash(path: Path) -> str:
    """Return the hash of a file or a folder as dvc.lock states it."""
    if not path.is_dir():
        return md5_of(path)
    files = sorted(each.relative_to(path).as_posix() for each in path.rglob("*") if each.is_file())
    return f"{_md5(json.dumps([{'md5': md5_of(path / name), 'relpath': name} for name in files]).encode())}{FOLDER}"


def md5_of(path: Path) -> str:
    """Return the MD5 of a file's content, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def _md5(content: bytes) -> str:
    return hashlib.md5(content, usedforsecurity=False).hexdigest()
