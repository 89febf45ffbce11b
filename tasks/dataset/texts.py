"""Texts of a record, checked, and the numbers that texts state."""

from math import isfinite, nan

from tasks.dataset.sources import Value


class UnusableValueError(Exception):
    """A value of a record can't be used; the message is stored as the reason in data/load_rejected."""


def checked_text(value: Value, column: str, max_chars: int, limit: str = "") -> str | None:
    """Return the text of a value; None for null.

    limit: what a longer text is told; none: load.max_chars.

    Raises:
        UnusableValueError: It is no text, longer than `max_chars`, or can't be stored as UTF-8.
    """
    if value is None:
        return None
    if not isinstance(value, str):
        kind = "a list" if isinstance(value, list) else "an object"
        hint = "; write JSON as text, in a string" if isinstance(value, dict) else ""
        raise UnusableValueError(f"{column}: {kind} where text is expected{hint}")
    if len(value) > max_chars:
        raise UnusableValueError(f"{column}: {len(value):,} characters; {limit or f'load.max_chars is {max_chars:,}'}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise UnusableValueError(f"{column}: character {error.start + 1} is half of a surrogate pair") from None
    return value


def texts(value: Value, column: str, max_chars: int) -> list[str]:
    """Return the items of a list, or one value as a list, without those that are blank."""
    checked = [checked_text(item, column, max_chars) for item in (value if isinstance(value, list) else [value])]
    return [text for text in checked if text is not None and text.strip()]


def finite(value: Value) -> float | None:
    """Return the finite number that a text states; None for any other value."""
    try:
        # float() alone would read 1_000 as a number.
        number = float(value) if isinstance(value, str) and "_" not in value else nan
    except ValueError:
        return None
    return number if isfinite(number) else None
