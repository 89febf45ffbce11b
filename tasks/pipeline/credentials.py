"""What no log and no message may hold: passwords and signatures that commands print, and secrets that we were given."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

HIDDEN = "***"
SHORTEST = 8
"""Characters of a value that is looked for anywhere: servers without keys are given ones like `none`."""
_SECRET = re.compile("key|token|secret|passw", re.IGNORECASE)
"""In the name of an environment variable."""
_OF_URLS = re.compile(r"(?<=://)\S*@")  # to the last @: a password may hold / and @
_NAMED = re.compile(
    r"""(?P<name>[?&;](?:key|sig|auth|code)
      |(?:signature|credential|token|passw(?:or)?d|passphrase|pwd|secret|access[-_]?key(?:[-_]?id)?|api[-_]?key)
    )(?:=|["']\s*:\s*)\S+""",
    re.IGNORECASE | re.VERBOSE,
)
_OF_HEADERS = re.compile(r"(?P<name>\bauthorization[\"']?\s*[:=]|\bbearer(?=\s))[^\r\n]+", re.IGNORECASE)


def without_credentials(text: str, secrets: Iterable[str] = ()) -> str:
    """The text without these secrets, what URLs say of a user, and values that are named like a password or signature.

    Rather too much is hidden than too little: such a value lasts to the next blank, that of a header to the line's end.

    >>> without_credentials("fetch https://me:pa/ss@w0rd@host/x?part=1&X-Amz-Signature=ab12 failed")
    'fetch https://***@host/x?part=1&X-Amz-Signature=*** failed'
    """
    for secret in sorted(secrets, key=len, reverse=True):  # one may be part of another
        text = text.replace(secret, HIDDEN)
    text = _OF_URLS.sub(f"{HIDDEN}@", text)
    text = _NAMED.sub(rf"\g<name>={HIDDEN}", text)
    return _OF_HEADERS.sub(rf"\g<name> {HIDDEN}", text)


def given(content: Any) -> list[str]:
    """The secrets that params name: values of the environment variables in options `…_env`, or written as $NAME."""
    values = {os.environ.get(name, "").strip() for name in _variables(content)}
    return [value for value in values if len(value) >= SHORTEST]


def in_environment() -> list[str]:
    """The values of environment variables that are named like a secret."""
    return [value for name, value in os.environ.items() if _SECRET.search(name) and len(value) >= SHORTEST]


def _variables(content: Any) -> Iterator[str]:
    if isinstance(content, Mapping):
        for key, value in content.items():
            if isinstance(value, str) and str(key).endswith("_env"):
                yield value
            yield from _variables(value)
    elif isinstance(content, list):
        for each in content:
            yield from _variables(each)
    elif isinstance(content, str) and re.fullmatch(r"\$[A-Za-z_][A-Za-z0-9_]*", content):
        yield content[1:]
