"""Capabilities of a server, detected with the first call and stored beside the ledger."""

import re
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Self

from tasks.errors import DataError
from tasks.pipeline.files import read_json, replacing, to_json

# Ways to ask for JSON, the strictest first.
FORMATS: Final = ("json_schema", "json_object", "text")
OPTIONAL: Final = ("temperature", "seed")


@dataclass(frozen=True)
class Support:
    """What a server supports: the format to request, and the options that it rejects."""

    format: str = FORMATS[0]
    dropped: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """The capabilities in a few words, for signatures and the ledger."""
        return " without ".join([self.format, *self.dropped])

    def reduced(self, message: str) -> Self | None:
        """Return the next weaker request after a refusal with this message; None if there is none."""
        rejected = next((name for name in OPTIONAL if _names(message, name) and name not in self.dropped), None)
        if rejected:
            return type(self)(self.format, (*self.dropped, rejected))
        weaker = FORMATS[FORMATS.index(self.format) + 1 :]
        return type(self)(weaker[0], self.dropped) if weaker else None


def is_about_format(message: str) -> bool:
    """Return whether a refusal concerns the format or the options of the request, and not the row."""
    return any(_names(message, name) for name in (*OPTIONAL, *FORMATS[:2], "response_format"))


def _names(message: str, name: str) -> bool:
    """Return whether a refusal is about a field of the request, not about a text that contains the word."""
    quoted = re.search(rf"""['"`]{name}['"`]""", message)
    return bool(quoted or (re.search(rf"\b{name}\b", message) and _UNSUPPORTED.search(message)))


_UNSUPPORTED = re.compile(r"unsupported|not? support|unknown|unrecogni|not (?:permitted|allowed)|extra", re.IGNORECASE)


class CapabilityStore:
    """Capabilities by server and model, in a file; what can't be read or written is detected again."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self, server: str) -> Support | None:
        """Return the stored capabilities of a server."""
        entry = self._read().get(server)
        if not isinstance(entry, dict) or entry.get("format") not in FORMATS:
            return None
        dropped = entry.get("dropped")
        return Support(entry["format"], tuple(name for name in OPTIONAL if name in (dropped or ())))

    def save(self, server: str, support: Support) -> None:
        """Store the capabilities of a server."""
        with suppress(OSError, ValueError), replacing(self._path) as temporary:
            temporary.write_text(to_json(self._read() | {server: asdict(support)}), encoding="utf-8")

    def _read(self) -> dict[str, object]:
        try:
            return read_json(self._path)
        except DataError:
            return {}
