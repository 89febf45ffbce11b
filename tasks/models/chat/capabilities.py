"""What a server supports, found out with the first call and remembered beside the ledger."""

import re
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Self

from tasks.errors import DataError
from tasks.pipeline.files import read_json, replacing, to_json

FORMATS: Final = ("json_schema", "json_object", "text")
"""Ways to ask for JSON, the strictest first."""
OPTIONAL: Final = ("temperature", "seed")


@dataclass(frozen=True)
class Support:
    """The format to ask for, and the options that the server does not take."""

    format: str = FORMATS[0]
    dropped: tuple[str, ...] = ()

    @property
    def told(self) -> str:
        """In a word, for signatures and readers of the ledger."""
        return " without ".join([self.format, *self.dropped])

    def less(self, message: str) -> Self | None:
        """What to ask for after the server refused with this message; None when there is no less."""
        named = next((name for name in OPTIONAL if _names(message, name) and name not in self.dropped), None)
        if named:
            return type(self)(self.format, (*self.dropped, named))
        weaker = FORMATS[FORMATS.index(self.format) + 1 :]
        return type(self)(weaker[0], self.dropped) if weaker else None


def is_about_format(message: str) -> bool:
    """Whether a refusal names what was asked for, and not the row."""
    return any(_names(message, name) for name in (*OPTIONAL, *FORMATS[:2], "response_format"))


def _names(message: str, name: str) -> bool:
    """Whether a refusal is about a field of the request, not about a text in which the word stands."""
    quoted = re.search(rf"""['"`]{name}['"`]""", message)
    return bool(quoted or (re.search(rf"\b{name}\b", message) and _UNSUPPORTED.search(message)))


_UNSUPPORTED = re.compile(r"unsupported|not? support|unknown|unrecogni|not (?:permitted|allowed)|extra", re.IGNORECASE)


class Memory:
    """Support by server and model, in a file; what can't be read or written is found out again."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def recall(self, server: str) -> Support | None:
        """What was found out about a server."""
        found = self._read().get(server)
        if not isinstance(found, dict) or found.get("format") not in FORMATS:
            return None
        dropped = found.get("dropped")
        return Support(found["format"], tuple(name for name in OPTIONAL if name in (dropped or ())))

    def keep(self, server: str, support: Support) -> None:
        """Remember what was found out."""
        with suppress(OSError, ValueError), replacing(self._path) as temporary:
            temporary.write_text(to_json(self._read() | {server: asdict(support)}), encoding="utf-8")

    def _read(self) -> dict[str, object]:
        try:
            return read_json(self._path)
        except DataError:
            return {}
