import threading
import time

import pytest

from tasks.models.chat.concurrency import Pace


def test_no_more_turns_at_a_time_than_allowed():
    pace, most, running, seen = Pace(3), 3, [], []

    def call():
        with pace.turn():
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
    pace = Pace(100)
    started = time.monotonic()

    pace.overloaded(started)
    pace.overloaded(started)
    assert pace.limit == 70

    pace.overloaded(time.monotonic())
    assert pace.limit == 49


def test_the_limit_stays_at_least_one_and_grows_back_with_answers():
    pace = Pace(4)
    for _ in range(20):
        pace.overloaded(time.monotonic())
    assert pace.limit == 1

    for _ in range(20):
        pace.answered()
    assert pace.limit == 4


def test_a_turn_is_given_back_when_the_call_fails():
    pace = Pace(1)
    with pytest.raises(KeyError), pace.turn():
        raise KeyError

    with pace.turn():
        pass
