"""Verdict source: who gave the verdicts on whether answers are right."""

from dataclasses import dataclass

from tasks.scores.signature import Signature

OFFLINE = "the offline judge"
# Column of data/judge, in a cascade only: which of its two judges the row went to; null where neither was asked.
JUDGED_BY = "judged_by"
OFFLINE_JUDGE, LANGUAGE_MODEL = "offline judge", "language model"


@dataclass(frozen=True)
class VerdictSource:
    """Who gave the verdicts on whether answers are right.

    name: in words. is_offline: whether it is the offline judge, whose error was measured. is_cascade: whether the
    offline judge decided some rows, and a language model judged the others. model: as the signature names it, empty
    without one. band: the probabilities between which a cascade asks the language model, as the signature has them.
    """

    name: str
    is_offline: bool
    is_cascade: bool = False
    model: str = ""
    band: tuple[str, str] | None = None

    @classmethod
    def of(cls, signature: str) -> "VerdictSource":
        """Read the signature of these verdicts, such as "…|provider:openai|model:…"."""
        fields = Signature.of(signature).fields
        named = fields.get("model", "")
        model = named or "a judge"
        if fields.get("provider") == "cascade":
            low, _, high = fields.get("band", "").partition("-")
            name, band = f"the cascade of {OFFLINE} and {model}", (low, high) if high else None
            return cls(name, is_offline=False, is_cascade=True, model=named, band=band)
        if "panel" in fields:
            *others, last = fields["model"].split("+")
            models = f"{', '.join(others)} and {last}" if others else f"{fields['panel']} × {last}"
            return cls(f"the panel of {models}", is_offline=False, model=named)
        is_offline = fields.get("provider") == "offline"
        return cls(OFFLINE if is_offline else model, is_offline, model=named)

    @property
    def has_offline(self) -> bool:
        """Whether the offline judge gave all or some of the verdicts."""
        return self.is_offline or self.is_cascade
