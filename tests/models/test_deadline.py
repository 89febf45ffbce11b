import time

import httpx2
import pytest

from tasks.models.chat.deadline import MOST_BYTES, Deadline


def test_bytes_in_time_pass():
    assert b"".join(Deadline([b"a", b"b"], time.monotonic() + 60)) == b"ab"


def test_bytes_after_the_deadline_are_a_timeout():
    with pytest.raises(httpx2.ReadTimeout):
        list(Deadline([b"a"], time.monotonic() - 1))


def test_a_body_without_end_is_refused():
    with pytest.raises(httpx2.ReadError):
        list(Deadline([bytes(MOST_BYTES), b"a"], time.monotonic() + 60))
