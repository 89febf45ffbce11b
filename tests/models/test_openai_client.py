"""Pauses that a server asks for are no longer than an exchange with it, or so long that the client gives up."""

import time
from email.utils import formatdate

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.models.bounded_client import BoundedClient
from goldmeter.models.servers import LONGEST_PAUSE, PAUSES, open_client
from tests.raw_server import at_once, raw_server


def bounded(name: str, value: bytes, seconds: float = 2.0) -> str:
    """The header as the OpenAI client sees it."""
    http = BoundedClient(seconds)
    open_client("http://localhost/v1", None, 0, http)
    response = httpx2.Response(503, headers=[(name.encode(), value)])
    for hook in http.event_hooks["response"]:
        hook(response)
    return str(response.headers[name])


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("retry-after", "119", "2"),
        ("Retry-After", "2", "2"),
        ("retry-after", "0.5", "0.5"),
        ("retry-after", "121", "121"),
        ("retry-after", "1e999", "1e999"),
        ("retry-after", "soon", "soon"),
        ("retry-after-ms", "119000", "2000"),
        ("retry-after-ms", "7", "7"),
        ("x-request-id", "119", "119"),
    ],
)
def test_a_pause_is_no_longer_than_the_timeout_unless_nobody_would_wait_for_it(
    name: str, value: str, expected: str
) -> None:
    assert bounded(name, value.encode()) == expected


def test_a_pause_may_be_a_date() -> None:
    soon, never = (formatdate(time.time() + seconds, usegmt=True) for seconds in (60, 1e6))

    assert bounded("retry-after", soon.encode()) == "2"
    assert bounded("retry-after", never.encode()) == never


@given(st.sampled_from([*PAUSES]), st.binary(), st.floats(0.1, LONGEST_PAUSE))
def test_no_value_of_a_header_raises(name: str, value: bytes, seconds: float) -> None:
    bounded(name, value, seconds)


def test_a_client_that_pauses_sees_the_bounded_pause() -> None:
    busy = b"HTTP/1.1 503 Busy\r\nRetry-After: 100\r\nContent-Length: 0\r\n\r\n"

    with raw_server(at_once(busy)) as server, BoundedClient(20) as http:
        open_client(server.url, None, 0, http)
        assert http.post(server.url).headers["retry-after"] == "20"
