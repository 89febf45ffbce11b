"""The plan of a judge's run: missing calls, their tokens and their cost, before the first call."""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Self, TypeVar

from goldmeter.asking.plan import CallPlan, amount
from goldmeter.asking.requests import EarlierReplies, Request
from goldmeter.judging import canaries
from goldmeter.judging.settings import Judge
from goldmeter.metrics.preference import NAME
from goldmeter.pipeline.run import RunJudge

OnePlan = TypeVar("OnePlan", bound=CallPlan)


@dataclass(frozen=True)
class Plan(CallPlan):
    """Missing calls to a judge.

    canaries, canary_prompt: those of the calls that are about canaries. savings: of a cascade. again: those that ask
    about a row once more (`judge.retest`). comparing: those that compare two answers (`judge.preference`).
    """

    canaries: int = 0
    canary_prompt: float = 0.0
    savings: "Savings | None" = None
    again: int = 0
    comparing: int = 0

    @classmethod
    def of_judge(
        cls,
        requests: Iterable[Request],
        options: Judge,
        run: RunJudge,
        waiting: Container[str] = (),
        earlier: EarlierReplies | None = None,
    ) -> Self:
        """Plan these requests; arguments and errors as of `CallPlan.of`."""
        invented, about_canaries, kinds = {one.key for one in canaries.requests(options)}, list[float](), Counter[str]()

        def counted() -> Iterator[Request]:
            for request in requests:
                if request.key not in waiting:
                    kinds.update(again=request.draw >= options.draws, comparing=request.question.name == NAME)
                    about_canaries.extend([request.tokens] if request.key in invented else [])
                yield request

        base = cls.of(counted(), options, run, waiting, earlier)
        few = replace(base, canaries=len(about_canaries), canary_prompt=sum(about_canaries))
        return replace(few, again=kinds["again"], comparing=kinds["comparing"])

    @property
    def single_calls(self) -> tuple[int, float]:
        return self.canaries, self.canary_prompt

    @property
    def _of_these(self) -> str:
        few = self.canary_prompt + self.canaries * self.reply_tokens
        price = self.price_of(self.canaries, self.canary_prompt, 0, 0.0)
        about = f"; {self.canaries:,} of these calls, {amount(few, price)}, are canaries (judge.canaries)"
        again = f"; {self.again:,} of these calls ask about a row once more (judge.retest)" if self.again else ""
        pairs = f"; {self.comparing:,} compare two answers (judge.preference)" if self.comparing else ""
        return f"{about if self.canaries else ''}{again}{pairs}"


@dataclass(frozen=True)
class PanelPlan:
    """The plans of all judges that are asked, by name."""

    jurors: Mapping[str, CallPlan]

    @classmethod
    def of(cls, plans: Sequence[OnePlan], names: Sequence[str]) -> "OnePlan | PanelPlan":
        """The plan of several judges, or that of a single one as it is."""
        return plans[0] if len(plans) == 1 else cls(dict(zip(names, plans, strict=True)))

    @property
    def calls(self) -> int:
        """The missing calls of all."""
        return sum(one.calls for one in self.jurors.values())

    @property
    def waiting(self) -> int:
        """Further missing requests, which are in batches."""
        return sum(one.waiting for one in self.jurors.values())

    @property
    def key(self) -> str | None:
        """The environment variables of keys that are not set, of judges with missing calls."""
        unset = dict.fromkeys(one.key for one in self.jurors.values() if one.key and one.calls + one.waiting)
        return " and ".join(unset) or None

    @property
    def savings(self) -> "Savings | None":
        """A panel is no cascade."""
        return None

    @property
    def _asked(self) -> list[CallPlan]:
        return [plan for plan in self.jurors.values() if plan.calls + plan.waiting]

    @property
    def cost(self) -> str:
        """The tokens and the cost of all calls, in words."""
        prices = [plan.dollars for plan in self._asked]
        dollars = None if None in prices else sum(filter(None, prices))
        return amount(sum(plan.tokens for plan in self._asked), dollars)

    def __str__(self) -> str:
        first = f"a panel of {len(self.jurors)} judges, {self.calls:,} calls, {self.cost}:"
        return "\n".join([first, *(f"  {plan}" for plan in self._asked)])


@dataclass(frozen=True)
class Savings:
    """What the offline judge of a cascade saves.

    rows: rows to judge. decided: those that the offline judge decides. calls: the missing calls that the language model
    would need for these.
    """

    rows: int
    decided: "Decided"
    calls: Plan

    def __str__(self) -> str:
        n, calls = self.decided.rows, self.calls
        return (
            f"the offline judge decides {n:,} of {self.rows:,} rows (judge.band), {calls.model} judges "
            f"{self.rows - n:,}; this saves {calls.calls:,} calls, {calls.cost}{self.decided.agreement}"
        )


@dataclass(frozen=True)
class Decided:
    """The rows that the offline judge decides, and how many of those with a human label it passes and fails.

    right_passes, right_fails: how many of these have the same label.
    """

    rows: int = 0
    passes: int = 0
    right_passes: int = 0
    fails: int = 0
    right_fails: int = 0

    def __add__(self, other: "Decided") -> "Decided":
        """The rows of both."""
        return Decided(*map(sum, zip(astuple(self), astuple(other), strict=True)))

    @property
    def agreement(self) -> str:
        """How often it agrees with the labels, in words; empty without labels."""
        if not self.passes + self.fails:
            return ""
        return (
            f"; by human labels, {self.right_passes:,} of the {self.passes:,} that it passes are right, and "
            f"{self.right_fails:,} of the {self.fails:,} that it fails are wrong"
        )
