"""A measure of two versions, made from rows."""

from collections.abc import Callable
from pathlib import Path

import pytest

from goldmeter.comparison.compared import Compared
from goldmeter.comparison.of_versions import pairings, scores_of
from tests.comparison.sample import Row, version

Made = Callable[..., Compared]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """One measure of two versions that are made from rows."""

    def make(older: list[Row], newer: list[Row], name: str = "f1") -> Compared:
        sides = scores_of(version(tmp_path / "a", older)), scores_of(version(tmp_path / "b", newer))
        [[pairing]] = pairings(*sides, [("aurora", "aurora")], tmp_path / "blocks")
        return Compared([pairing], name)

    return make
