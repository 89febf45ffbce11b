"""Servers of models, as keys of the ledger and signatures name them."""

from urllib.parse import urlsplit

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
