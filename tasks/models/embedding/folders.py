"""Names and folders of local models."""

from pathlib import Path

BUNDLED = "all-MiniLM-L6-v2"
BUNDLED_NAMES = (BUNDLED, f"sentence-transformers/{BUNDLED}")


def user_folder(model: str) -> Path | None:
    """Return the folder of a local model that is not the bundled one; None for a hub id, or if there is no folder."""
    folder = Path(model).expanduser()
    return folder if model not in BUNDLED_NAMES and folder.is_dir() else None
