"""The results of a batch: files of JSON lines, one per request, in any order."""

import json
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tasks.models.chat.client import Reply, no_reply

# How a reply is read: HTTP status and body of a result.
Read = Callable[[int, object], Reply]


@dataclass
class Results:
    """The results that files of a batch hold, and the number of their lines that hold none.

    wanted: keys of the requests. read: reads a reply. damaged: lines that are no result. unknown: results of other
    requests. repeated: further results of a request, of which the first counts.
    """

    wanted: Container[str]
    read: Read
    clean: Callable[[str], str] = str
    damaged: int = 0
    unknown: int = 0
    repeated: int = 0
    seen: set[str] = field(default_factory=set)

    def of(self, files: Iterable[Path]) -> Iterator[tuple[str, Reply]]:
        """Yield key and reply of each request that the files have a result of."""
        for path in files:
            with path.open("rb") as lines:
                for line in lines:
                    if not line.strip():
                        continue
                    try:
                        key, reply = self._result(line)
                    except (ValueError, TypeError, KeyError, RecursionError):
                        self.damaged += 1
                        continue
                    if key not in self.wanted:
                        self.unknown += 1
                    elif key in self.seen:
                        self.repeated += 1
                    else:
                        self.seen.add(key)
                        yield key, reply

    @property
    def ignored(self) -> str:
        """The lines that were ignored, in words; empty if there was none."""
        counts = {
            "damaged": self.damaged,
            "about no request of it": self.unknown,
            "about a request with an earlier result": self.repeated,
        }
        return ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)

    def _result(self, line: bytes) -> tuple[str, Reply]:
        content = json.loads(line)
        key, response, error = content["custom_id"], content.get("response"), content.get("error")
        if not isinstance(key, str):
            raise TypeError("custom_id")
        if isinstance(response, dict):
            status = response["status_code"]
            if type(status) is not int:
                raise TypeError("status_code")
            return key, self.read(status, response.get("body"))
        said: dict[str, Any] = error if isinstance(error, dict) else {}
        what = ": ".join(str(said[name]) for name in ("code", "message") if said.get(name))
        return key, no_reply(self.clean(what) or "a result without a response", down=True, billed=False)
