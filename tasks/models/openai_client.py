"""The OpenAI client for any server with its protocol."""

from typing import TYPE_CHECKING, Any

from tasks.models.servers import server_class

if TYPE_CHECKING:
    from openai import OpenAI

    from tasks.models.bounded_client import BoundedClient

# Headers that the OpenAI client fills from the environment; they are sent to OpenAI only.
ACCOUNT = ("OpenAI-Organization", "OpenAI-Project")


def open_client(base_url: str, key: str | None, retries: int, http: "BoundedClient") -> "OpenAI":
    """Return the client of a server; key: None for a server without keys."""
    from openai import Omit, OpenAI

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
