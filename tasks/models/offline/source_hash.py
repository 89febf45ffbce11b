"""Hash of the offline judge's source code: part of the names of its compiled kernels and of its provenance."""

from functools import cache
from hashlib import sha256
from pathlib import Path


@cache
def source_hash() -> str:
    """Return the SHA-256 of the package's sources, in hexadecimal."""
    folder = Path(__file__).parent
    return sha256(b"\0".join(path.read_bytes() for path in sorted(folder.glob("*.py")))).hexdigest()
