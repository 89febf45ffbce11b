"""Servers of models: their names in keys and signatures, their API keys, and the OpenAI client of any of them."""

import math
import os
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from goldmeter.errors import ModelError
from goldmeter.pipeline.credentials import SHORTEST, spelled

if TYPE_CHECKING:
    import httpx2
    from openai import OpenAI

    from goldmeter.models.bounded_client import BoundedClient


OPENAI_URL = "https://api.openai.com/v1"
OPENAI_HOST = "api.openai.com"
COMPATIBLE = "compatible"
_PORTS = {"http": 80, "https": 443}


def server_class(base_url: str) -> str:
    """Return the class of a server: its provider, or `compatible`.

    >>> server_class("https://api.openai.com/v1"), server_class("http://localhost:11434/v1")
    ('openai', 'compatible')
    """
    host = urlsplit(base_url).hostname or ""
    if host == OPENAI_HOST:
        return "openai"
    return "azure" if host.endswith((".openai.azure.com", ".services.ai.azure.com")) else COMPATIBLE


def address(base_url: str) -> str:
    """Return host, port and path of a server; "" for OpenAI, which serves one model under each name.

    >>> address("http://LOCALHOST:11434/v1/"), address("https://models.example:443/v1"), address("https://api.openai.com/v1")
    ('localhost:11434/v1', 'models.example/v1', '')
    """
    parts = urlsplit(base_url)
    host, port = parts.hostname or "", parts.port
    if host == OPENAI_HOST:
        return ""
    named = f"[{host}]" if ":" in host else host
    shown_port = "" if port in (None, _PORTS.get(parts.scheme)) else f":{port}"
    return f"{named}{shown_port}{parts.path.rstrip('/')}"


REMOVED = "[key]"


@dataclass(frozen=True)
class ApiKey:
    """The key of one server.

    Attributes:
        variable: The environment variable that holds it; None for a server without keys.
        setting: The path in params.yaml that names the variable.
    """

    variable: str | None
    setting: str

    @property
    def is_unset(self) -> bool:
        """Whether the server wants a key and the variable holds none."""
        return self.variable is not None and not self._held

    @cached_property
    def value(self) -> str | None:
        """The key; None for a server without keys.

        Raises:
            ModelError: The variable holds no key.
        """
        if self.variable is None:
            return None
        if not self._held:
            raise ModelError(
                f"{self.setting}: the environment variable {self.variable} is not set; set it to the key of the "
                f"server, or {self.setting} to null if the server wants none"
            )
        if not (self._held.isascii() and self._held.isprintable()):
            raise ModelError(
                f"{self.setting}: the environment variable {self.variable} is not a key: it contains characters that "
                "no key has; correct it"
            )
        return self._held

    def removed_from(self, text: str) -> str:
        """Return a server's text without the key, however JSON spells it: the text may be JSON that is parsed later.

        A shorter "key" (of a local server) is no secret, and replacing it would change replies.
        """
        return spelled(self.value).sub(REMOVED, text) if self.value and len(self.value) >= SHORTEST else text

    @property
    def _held(self) -> str:
        return os.environ.get(self.variable or "", "").strip()


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

    address, _, query = base_url.partition("?")
    omitted: Any = dict.fromkeys(ACCOUNT, Omit())
    headers = None if server_class(base_url) == "openai" else omitted
    return OpenAI(
        api_key=key or "none",
        base_url=address,
        default_query=dict(parse_qsl(query, keep_blank_values=True)),
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
