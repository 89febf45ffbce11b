"""Takes the folders of the machine that wrote a log out of its text; the programs beside it call this."""

import io
import re
import zipfile

FOLDERS = re.compile(r"(?:file://)?/(?:tmp|work|root|home|usr|opt|var)/(?:[\w.@+~-]+/)*")


def without_paths(log: bytes) -> bytes:
    """Return the text of a log with the names of files only."""
    return FOLDERS.sub("", log.decode()).encode()


def zip_without_paths(log: bytes) -> bytes:
    """Return a zipped log likewise; needs zipfile_zstd, which inspect_ai installs."""
    import zipfile_zstd  # noqa: F401 (adds Zstandard to zipfile)

    written = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(log)) as old, zipfile.ZipFile(written, "w") as new:
        for member in old.infolist():
            new.writestr(member, without_paths(old.read(member)), member.compress_type)
    return written.getvalue()
