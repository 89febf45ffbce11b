"""The OpenAI client for any server with its protocol."""

import math
import time
from email.utils import parsedate_to_datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from tasks.models.servers import server_class

if TYPE_CHECKING:
    import httpx2
    from openai import OpenAI

    from tasks.models.bounded_client import BoundedClient

# Headers that the OpenAI client fills from the environment; they are sent to OpenAI only.
ACCOUNT = ("OpenAI-Organization", "OpenAI-Project")
# Headers that ask for a pause before the next attempt, with their parts of a second.
PAUSES = {"retry-after": 1.0, "retry-after-ms": 1000.0}
# Seconds; after a reply that asks for a longer pause, the OpenAI client does not try again.
LONGEST_PAUSE = 120.0


def open_client(base_url: str, key: str | None, retries: int, http: "BoundedClient") -> "OpenAI":
    """Return the client of a server, which pauses no longer than an exchange with it may take.

    key: None for a server without keys.
    """
    from openai import Omit, OpenAI

    http.event_hooks["response"].append(partial(_bound_pause, http.seconds))

    omitted: Any = dict.fromkeys(ACCOUNT, Omit())
    headers = None if server_class(base_url) == "openai" else omitted
    return OpenAI(
        api_key=key or "none",
        base_url=base_url,
        timeout=http.timeout,
        max_retries=retries,
        default_headers=headers,
        http_client=http,
    )


def _bound_pause(seconds: float, response: "httpx2.Response") -> None:
    """Shorten the pause that a reply asks for to so many seconds, unless nobody would wait for it."""
    for name, parts in PAUSES.items():
        if seconds < _pause(response.headers.get(name, "")) / parts <= LONGEST_PAUSE:
            response.headers[name] = f"{seconds * parts:g}"


def _pause(value: str) -> float:
    """Return the number in the value of a header, or the seconds until its date; NaN if it is neither."""
    try:
        return float(value)
    except ValueError:
        pass
    try:
        return parsedate_to_datetime(value).timestamp() - time.time()
    except (ValueError, OverflowError, OSError):
        return math.nan
