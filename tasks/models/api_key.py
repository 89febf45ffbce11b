"""The key of a server: read from an environment variable, and removed from what the server says."""

import os
from dataclasses import dataclass
from functools import cached_property

from tasks.errors import ModelError
from tasks.pipeline.credentials import SHORTEST, spelled

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
