"""The pictures in README and docs/: those that `make pictures` makes, and pages of Prefect."""

import struct
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs/pictures"
TEXTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = [
    "report-light.png",
    "report-dark.png",
    "answers.png",
    "slices.png",
    "side-by-side.png",
    "comparison.png",
    "robust.png",
    "stop-early.png",
    "references.png",
    "prefect-run.png",
    "prefect-comparison.png",
    "summary.svg",
    "study.svg",
    "noise.svg",
]
MOST = 200_000
"""Bytes of one picture."""


def test_there_is_no_other() -> None:
    assert sorted(path.name for path in PICTURES.iterdir()) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_each_is_small_and_shown_somewhere(name: str) -> None:
    assert 1_000 < (PICTURES / name).stat().st_size < MOST
    assert any(f"pictures/{name}" in path.read_text(encoding="utf-8") for path in TEXTS)


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith(".png")])
def test_each_is_as_wide_as_the_others(name: str) -> None:
    head = (PICTURES / name).read_bytes()[:24]

    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">I", head[16:20]) == (1280,)


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith(".svg")])
def test_a_drawing_fetches_nothing(name: str) -> None:
    drawn = (PICTURES / name).read_text(encoding="utf-8")

    assert [each for each in ("@font-face", "@import", "url(http", "href") if each in drawn] == []
