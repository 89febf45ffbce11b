"""SHA-256, the only hash of keys, signatures and lineage."""

import hashlib
from pathlib import Path


def sha256(content: str | bytes | Path) -> bytes:
    """Return the SHA-256 of a text (as UTF-8), of bytes, or of a file's content: 32 bytes.

    >>> sha256("goldmeter").hex()[:8]
    'fc05a168'
    """
    if isinstance(content, str):
        return hashlib.sha256(content.encode()).digest()
    if isinstance(content, Path):
        with content.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    return hashlib.sha256(content).digest()
