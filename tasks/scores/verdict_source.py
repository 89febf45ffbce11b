"""Verdict source: who gave the verdicts of `meaning_match`."""

from dataclasses import dataclass

OFFLINE = "the offline judge"
# Column of data/judge, in a cascade only: which of its two judges the row went to; null where neither was asked.
JUDGED_BY = "judged_by"
OFFLINE_JUDGE, LANGUAGE_MODEL = "offline judge", "language model"


@dataclass(frozen=True)
class VerdictSource:
    """Who gave the verdicts of `meaning_match`.

    name: in words. is_offline: whether it is the offline judge, whose error was measured. is_cascade: whether the
    offline judge decided some rows, and a language model judged the others.
    """

    name: str
    is_offline: bool
    is_cascade: bool = False

    @classmethod
    def of(cls, signature: str) -> "VerdictSource":
        """Read the signature of meaning_match, "meaning_match|provider:openai|model:…"."""
        fields = dict(part.partition(":")[::2] for part in signature.split("|")[1:])
        model = fields.get("model") or "a judge"
        if fields.get("provider") == "cascade":
            return cls(f"the cascade of {OFFLINE} and {model}", is_offline=False, is_cascade=True)
        is_offline = fields.get("provider") == "offline"
        return cls(OFFLINE if is_offline else model, is_offline)

    @property
    def has_offline(self) -> bool:
        """Whether the offline judge gave all or some of the verdicts."""
        return self.is_offline or self.is_cascade
