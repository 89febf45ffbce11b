"""Verdict source: who gave the verdicts of `meaning_match`."""

from dataclasses import dataclass

OFFLINE = "the offline judge"


@dataclass(frozen=True)
class VerdictSource:
    """Who gave the verdicts of `meaning_match`.

    name: in words. is_offline: whether it is the offline judge, whose error was measured.
    """

    name: str
    is_offline: bool

    @classmethod
    def of(cls, signature: str) -> "VerdictSource":
        """Read the signature of meaning_match, "meaning_match|provider:openai|model:…"."""
        fields = dict(part.partition(":")[::2] for part in signature.split("|")[1:])
        is_offline = fields.get("provider") == "offline"
        return cls(OFFLINE if is_offline else fields.get("model") or "a judge", is_offline)
