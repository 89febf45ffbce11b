"""Removal of passwords, signatures and other secrets from texts for logs, messages and reports."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

HIDDEN = "***"
# Characters. Shorter values are not searched for: users give placeholders such as `none` to servers without keys.
SHORTEST = 8
# Part of the name of an environment variable that holds a secret.
_SECRET = re.compile("key|token|secret|passw", re.IGNORECASE)
_OF_URLS = re.compile(r"(?<=://)\S*@")  # up to the last @, because a password may contain / and @
_NAMED = re.compile(
    r"""(?P<name>[?&;](?:key|sig|auth|code)
      |(?:signature|credential|token|passw(?:or)?d|passphrase|pwd|secret|access[-_]?key(?:[-_]?id)?|api[-_]?key)
    )(?:=|["']\s*:\s*)\S+""",
    re.IGNORECASE | re.VERBOSE,
)
_OF_HEADERS = re.compile(r"(?P<name>\bauthorization[\"']?\s*[:=]|\bbearer(?=\s))[^\r\n]+", re.IGNORECASE)


def without_credentials(text: str, secrets: Iterable[str] = ()) -> str:
    """Replace secrets, the user part of URLs, and values named like a password or signature in a text.

    It removes too much rather than too little: a value ends at the next space, that of a header at the end of the line.

    Args:
        text: What is to be logged or shown.
        secrets: Values to remove wherever they occur.

    >>> without_credentials("fetch https://me:pa/ss@w0rd@host/x?part=1&X-Amz-Signature=ab12 failed")
    'fetch https://***@host/x?part=1&X-Amz-Signature=*** failed'
    """
    for secret in sorted(secrets, key=len, reverse=True):  # longest first: one may be part of another
        text = spelled(secret).sub(HIDDEN, text)
    text = _OF_URLS.sub(f"{HIDDEN}@", text)
    text = _NAMED.sub(rf"\g<name>={HIDDEN}", text)
    return _OF_HEADERS.sub(rf"\g<name> {HIDDEN}", text)


def spelled(secret: str) -> re.Pattern[str]:
    r"""Return a pattern of a secret and of its spellings in JSON, also in JSON that is a string of other JSON.

    >>> spelled("sk-1").sub("***", r'"sk-1", "s\u006b-1", "s\\u006B-1"')
    '"***", "***", "***"'
    """
    slashes = r"\\{%s,8}"  # bounded: the time is linear in the text
    characters = (rf"(?:{slashes % 0}{re.escape(c)}|{slashes % 1}u(?i:{ord(c):04x}))" for c in secret)
    return re.compile("".join(characters))


def given(content: Any) -> list[str]:
    """Return the values of the environment variables that params name in options `…_env` or as `$NAME`."""
    values = {os.environ.get(name, "").strip() for name in _variables(content)}
    return [value for value in values if len(value) >= SHORTEST]


def in_environment() -> list[str]:
    """Return the values of all environment variables whose name suggests a secret."""
    return [value for name, value in os.environ.items() if _SECRET.search(name) and len(value) >= SHORTEST]


def _variables(content: Any) -> Iterator[str]:
    if isinstance(content, Mapping):
        for key, value in content.items():
            if isinstance(value, str) and str(key).endswith("_env"):
                yield value
            yield from _variables(value)
    elif isinstance(content, list):
        for value in content:
            yield from _variables(value)
    elif isinstance(content, str) and re.fullmatch(r"\$[A-Za-z_][A-Za-z0-9_]*", content):
        yield content[1:]
