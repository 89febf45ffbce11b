"""Chromium, as it comes with the system, without a window."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def chromium() -> Iterator["Browser"]:
    """A browser that has seen nothing; FileNotFoundError when the system has none."""
    from playwright.sync_api import sync_playwright

    path = executable()
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])  # CI runs as root


def executable() -> str:
    """The browser's path; FileNotFoundError when the system has none."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        raise FileNotFoundError(f"none of {', '.join(NAMES)} is on the PATH: apt-get install chromium")
    return found
