"""Members of JSON objects: linear in their number, and each key once."""

import pytest

from goldmeter.dataset.formats.delimited import checked_header
from goldmeter.errors import DataError
from goldmeter.text.json_objects import unique_members

MANY = 3_000


class Compared(str):
    """A text that counts how often one is compared with another."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        COMPARISONS.append(1)
        return super().__eq__(other)


COMPARISONS: list[int] = []
NAMES = [Compared(f"k{number}") for number in range(MANY)]


@pytest.fixture(autouse=True)
def _start_at_zero() -> None:
    COMPARISONS.clear()


def test_a_doubled_key_is_found_with_few_comparisons() -> None:
    with pytest.raises(ValueError, match="the key 'k2999' appears twice in one object"):
        unique_members([(name, "") for name in [*NAMES, Compared("k2999")]])

    assert len(COMPARISONS) < 10 * MANY


def test_a_header_is_checked_with_few_comparisons() -> None:
    with pytest.raises(DataError, match="the column name 'k2999' appears twice, in columns 3000 and 3001"):
        checked_header([*NAMES, Compared("k2999")], "a.csv")

    assert len(COMPARISONS) < 10 * MANY
