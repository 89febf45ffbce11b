"""Section `run` of params.yaml: settings that change no number. Only report depends on it: it shows prices."""

from collections.abc import Mapping
from math import inf
from typing import Annotated, Literal, Self

from pydantic import Field, PositiveFloat, PositiveInt, model_validator

from goldmeter.errors import ParamsError
from goldmeter.pipeline.settings import Positive, Section, Share
from goldmeter.pipeline.storage import ADDRESS

MILLION = 1_000_000


class Price(Section):
    """US dollars per million tokens. batch: factor on them for the calls of a batch."""

    input: Annotated[float, Field(ge=0)]
    output: Annotated[float, Field(ge=0)]
    batch: Share = 0.5

    def of(self, prompt: float, completion: float) -> float:
        """Return the cost of these tokens in US dollars."""
        return (prompt * self.input + completion * self.output) / MILLION

    def saved(self, prompt: float, completion: float) -> float:
        """Return the US dollars that batches save for these tokens."""
        return (1 - self.batch) * self.of(prompt, completion)

    def of_tokens(self, tokens: Mapping[str, int], *, by_batch: bool) -> float:
        """Return the cost of the tokens of a ledger's entry in US dollars."""
        counts = tokens["prompt"], tokens["completion"]
        return self.of(*counts) - (self.saved(*counts) if by_batch else 0.0)


class Limits(Section):
    """What one run may use; None is no limit. max_cost: US dollars."""

    max_calls: PositiveInt | None
    max_tokens: PositiveInt | None
    max_cost: PositiveFloat | None


class RunJudge(Section):
    """Section `run.judge`: how the judge is asked. timeout: seconds a call. prices: by model.

    confirm_calls: if more are missing, nothing is asked until this number is raised. batch: ask by batches of the
    server. batch_wait: seconds to wait for them; then the next run takes their results in. thought_tokens: room for the
    thoughts of a model that thinks, beside its reply.
    """

    concurrency: Positive
    timeout: Annotated[float, Field(gt=0)]
    retries: Annotated[int, Field(ge=0)]
    confirm_calls: Positive
    budget: Limits
    prices: dict[str, Price]
    batch: bool = False
    batch_wait: Annotated[float, Field(ge=0)] = 3600.0
    thought_tokens: Annotated[int, Field(ge=0)] = 8192

    def price(self, model: str) -> Price | None:
        """Return the model's price, None if it has none; ParamsError if the budget is in money then."""
        if self.budget.max_cost is not None and model not in self.prices:
            raise ParamsError(f"run.judge.prices.{model}: missing, and run.judge.budget.max_cost needs it")
        return self.prices.get(model)


class Run(Section):
    """How the stages run.

    address: of a Dask scheduler, or the path of the JSON file that it writes; None: a cluster of this machine.
    storage: where the parts of tables lie, an absolute path or a URL without credentials; None: in data/.
    verify: check by dvc.lock that what a stage reads is as it was written, when DVC runs it.
    """

    engine: Literal["local", "dask"]
    address: Annotated[str, Field(pattern=r"^((tcp|tls|ucx|ws|wss)://.+|.+\.json)$")] | None
    storage: Annotated[str, Field(pattern=ADDRESS)] | None
    verify: bool
    workers: Positive | None
    parallel_stages: Positive
    retries: dict[str, Annotated[int, Field(ge=0)]]
    timeouts: dict[str, Annotated[float, Field(gt=0)]]
    judge: RunJudge

    @model_validator(mode="after")
    def _batches_are_awaited_in_time(self) -> Self:
        limit = self.timeouts.get("judge", self.timeouts.get("default", inf))
        if self.judge.batch and self.judge.batch_wait >= limit:
            raise ValueError(
                f"judge.batch_wait is {self.judge.batch_wait:g}: it must be less than timeouts.judge, {limit:g}"
            )
        return self
