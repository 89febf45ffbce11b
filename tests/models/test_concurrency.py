import threading
import time

import pytest

from goldmeter.models.chat.limits import ConcurrencyLimit


def test_no_more_turns_at_a_time_than_allowed():
    limit, most, running, seen = ConcurrencyLimit(3), 3, [], []

    def call():
        with limit.slot():
            running.append(1)
            seen.append(len(running))
            time.sleep(0.01)
            running.pop()

    threads = [threading.Thread(target=call) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(seen) == 12
    assert max(seen) <= most


def test_an_overload_lowers_the_limit_once_for_the_calls_under_way():
    limit = ConcurrencyLimit(100)
    started = time.monotonic()

    limit.overloaded(started)
    limit.overloaded(started)
    assert limit.limit == 70

    limit.overloaded(time.monotonic())
    assert limit.limit == 49


def test_the_limit_stays_at_least_one_and_grows_back_with_answers():
    limit = ConcurrencyLimit(4)
    for _ in range(20):
        limit.overloaded(time.monotonic())
    assert limit.limit == 1

    for _ in range(20):
        limit.answered()
    assert limit.limit == 4


def test_a_turn_is_given_back_when_the_call_fails():
    limit = ConcurrencyLimit(1)
    with pytest.raises(KeyError), limit.slot():
        raise KeyError

    with limit.slot():
        pass
