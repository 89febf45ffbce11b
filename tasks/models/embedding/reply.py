"""The body of an embedding server's reply, checked strictly: any server may answer at a wrong address."""

import json
from typing import Any

# Most of each mark of JSON in a reply to 256 texts: more would take hundreds of megabytes as Python objects.
MOST_MARKS = {"[": 10_000, "{": 10_000, '"': 100_000, ",": 2_500_000}
# Bytes of the longest reply whose letters beyond ASCII are kept: one of them makes each character take four bytes.
LONGEST_TEXT = 1 << 16
_ASCII = bytes(min(byte, 128) for byte in range(256)).replace(b"\x80", b"?")


class NoVectorsError(Exception):
    """The body is no reply to a request for vectors; the message continues `its reply …`."""


class SaidError(Exception):
    """The body is an error, as some servers and proxies send it with status 200; the message is the server's.

    status: The HTTP status that it names, None without one.
    """

    def __init__(self, message: str, status: int | None) -> None:
        super().__init__(message)
        self.status = status


def text_of(content: bytes) -> str:
    """Return the body of a reply as text."""
    if len(content) <= LONGEST_TEXT:
        return content.decode("utf-8", "replace")
    return content.translate(_ASCII).decode("ascii")


def vectors_of(body: str, texts: int) -> list[list[float]]:
    """Return the vectors of a reply, one for each text, in their order; their lengths may differ.

    Raises:
        NoVectorsError: It is something else.
        SaidError: It is an error.
    """
    reply = _parsed(body)
    if not isinstance(reply, dict):
        raise NoVectorsError("is not a JSON object")
    if error := reply.get("error"):
        raise _said(error)
    data = reply.get("data")
    if not isinstance(data, list):
        raise NoVectorsError("has no list `data`")
    vectors = dict(map(_vector, data))
    if len(data) != texts or vectors.keys() != {*range(texts)}:
        raise NoVectorsError(f"has {len(data)} vectors for {texts} texts, or not one of each `index`")
    return [vectors[i] for i in range(texts)]


def _parsed(body: str) -> Any:
    if any(body.count(mark) > most for mark, most in MOST_MARKS.items()):
        raise NoVectorsError("has too many lists, texts or numbers")
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise NoVectorsError("is not JSON") from None


def _vector(item: Any) -> tuple[int, list[float]]:
    """Return index and vector of an item of `data`."""
    if not isinstance(item, dict) or type(item.get("index")) is not int:
        raise NoVectorsError("has an item of `data` without an `index`")
    vector = item.get("embedding")
    if not isinstance(vector, list) or not {*map(type, vector)} <= {int, float}:
        raise NoVectorsError("has an `embedding` that is not a list of numbers")
    return item["index"], vector


def _said(error: Any) -> SaidError:
    facts = error if isinstance(error, dict) else {"message": error}
    status = next((facts[name] for name in ("code", "status") if type(facts.get(name)) is int), None)
    message = facts.get("message")
    return SaidError(message if isinstance(message, str) else "", status)
