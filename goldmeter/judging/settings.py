"""Section `judge` of params.yaml, and its metrics of one's own against the other sections."""

from collections import Counter
from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Annotated, Any, Literal, Self, TypeAlias, cast

from pydantic import Field, field_validator, model_validator

from goldmeter.errors import ParamsError, unknown
from goldmeter.estimates.verdict_columns import verdicts_column, votes_column
from goldmeter.judging.sampling import Filter
from goldmeter.metrics.catalogue import configure, declaring, names
from goldmeter.metrics.judged import JudgeMetric
from goldmeter.metrics.preference import NAME, Preference, preference
from goldmeter.metrics.prompted import Prompted, prompted
from goldmeter.models.servers import ApiKey, address, server_class
from goldmeter.pipeline.settings import Positive, Section, ServerName, ServerUrl, Share

Column = Literal["input", "response", "references", "response_normalized", "references_normalized"]


# Probabilities of the offline judge between which a cascade asks the language model.
Band: TypeAlias = tuple[Annotated[float, Field(ge=0, le=0.5)], Annotated[float, Field(ge=0.5, le=1)]]
SERVER_PROVIDERS = ("openai", "decisions", "cascade")
CHAT_PROVIDERS = ("openai", "cascade")
API_KEY_SETTING = "judge.api_key_env"
FAMILY, PATH, PREFERENCE_PATH = "judge", "judge.metrics", "judge.preference"
FEWEST_JURORS = 2


class Variables(Section):
    """Variable of the prompt → column of data/normalize."""

    input: Column
    ground_truth: Column
    output: Column


class Juror(Section):
    """One judge of a panel. What it does not state is as in section `judge`.

    A juror at another address has neither the name nor the key of the section, unless it states them: a key is sent to
    no server that it is not meant for.
    """

    model: Annotated[str, Field(min_length=1)] | None = None
    base_url: ServerUrl | None = None
    server: ServerName | None = None
    api_key_env: str | None = None
    seed: int | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None

    def own(self, base_url: str) -> dict[str, Any]:
        """Return the fields that differ from the section; base_url: that of the section."""
        stated = {name: getattr(self, name) for name in self.model_fields_set}
        kept = {name: value for name, value in stated.items() if value is not None or name in {"server", "api_key_env"}}
        is_elsewhere = kept.get("base_url", base_url) != base_url
        return ({"server": None, "api_key_env": None} if is_elsewhere else {}) | kept


class Preferences(Section):
    """Which candidates' answers are compared in pairs, and the question about them.

    pairs: all, or names. prompt: a file in the folder prompts.
    """

    pairs: Literal["all"] | tuple[tuple[str, str], ...] = "all"
    prompt: str = "prompts/preference.txt"

    @field_validator("pairs")
    @classmethod
    def _distinct(cls, pairs: str | tuple[tuple[str, str], ...]) -> str | tuple[tuple[str, str], ...]:
        if isinstance(pairs, str):
            return pairs
        if not pairs:
            raise ValueError("no pair; name some, such as [[old, new]], or all")
        for first, second in pairs:
            if first == second:
                raise ValueError(f"{first} with itself")
        if len({frozenset(pair) for pair in pairs}) < len(pairs):
            raise ValueError("a pair twice; both orders are asked for anyway")
        return pairs

    @model_validator(mode="after")
    def _check_prompt(self) -> Self:
        _ = self.question
        return self

    @cached_property
    def question(self) -> Preference:
        """The question about two answers."""
        return preference(self.prompt, PREFERENCE_PATH)


class Judge(Section):
    """The judge, its questions, and the rows asked about.

    metrics: in params.yaml metric → its options; one that is null is not asked for. Those with a module come first.
    panel: several judges instead of one, each with one vote.
    retest: the share of the judged rows that is asked about twice; the second verdict is no part of the score.
    preference: between the answers of two candidates; None: not asked.
    logprobs: whether a chat server is asked for the log-probabilities of its verdicts, as far as it has them.
    stop: a measure and its target, or `difference`; no more rows are asked about than it takes to decide on the target,
    or on which system is best.
    """

    provider: Literal["none", "offline", "openai", "decisions", "cascade"]
    band: Band
    model: str
    base_url: ServerUrl
    server: ServerName | None
    api_key_env: str | None
    seed: int
    temperature: Annotated[float, Field(ge=0, le=2)]
    draws: Positive
    draw_temperature: Annotated[float, Field(gt=0, le=2)]
    sampling_rate: Share
    filters: tuple[Filter, ...]
    variables: Variables
    aliases: str
    metrics: tuple[JudgeMetric, ...]
    canaries: bool
    max_unmeasured: Share
    panel: tuple[Juror, ...] | None = None
    retest: Annotated[float, Field(ge=0, le=1)] = 0.0
    preference: Preferences | None = None
    logprobs: Literal["auto", "off"] = "auto"
    stop: dict[str, Literal["difference"] | Annotated[float, Field(gt=0, lt=1)]] = Field(
        default_factory=dict, max_length=1
    )

    @classmethod
    def defaults_beside(cls, stated: Mapping[str, Any], default: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the defaults. The default key is for the default server, and for no other."""
        elsewhere = stated.get("base_url", default["base_url"]) != default["base_url"]
        moved = any(name in stated for name in names(FAMILY))
        return {**default, **({"api_key_env": None} if elsewhere else {}), **({"metrics": None} if moved else {})}

    @model_validator(mode="before")
    @classmethod
    def _move_metrics(cls, section: Any) -> Any:
        """Take metrics that stand in the section itself, as params.yaml once had them, as part of `metrics`."""
        moved = {name: section[name] for name in names(FAMILY) if name in section} if isinstance(section, dict) else {}
        if not moved:
            return section
        found = {name: configure(FAMILY, name, own) for name, own in moved.items() if own is not None}
        others = {name: value for name, value in section.items() if name not in moved}
        return others | {"metrics": found | dict(section.get("metrics") or {})}

    @field_validator("metrics", mode="before")
    @classmethod
    def _configure(cls, metrics: Any) -> Any:
        if not isinstance(metrics, Mapping | None):
            given = f"{{{names(FAMILY)[0]}: {{}}}}"
            raise ValueError(f"expected metrics with their options, such as {given}")  # noqa: TRY004 (pydantic's)
        asked = {str(name): options for name, options in (metrics or {}).items() if options is not None}
        first = {name: asked.pop(name) for name in names(FAMILY) if name in asked}
        return tuple(_configured(name, options) for name, options in (first | asked).items())

    @model_validator(mode="after")
    def _something_is_asked(self) -> Self:
        others = ", ".join(metric.name for metric in self.metrics if not metric.has_offline)
        offline = " and ".join(declaring(FAMILY, "has_offline"))
        if self.provider == "offline" and self.draws > 1:
            raise ValueError("draws must be 1: the offline judge gives one verdict a row")
        if self.provider == "offline" and self.retest:
            raise ValueError("retest must be 0: the offline judge gives the same verdict each time")
        if self.retest and self.draws > 1:
            raise ValueError("retest must be 0 with several draws, which show by themselves how far the judge agrees")
        if self.provider in {"offline", "cascade"} and others:
            raise ValueError(
                f"the offline judge gives {offline} only, and not {others}: leave these metrics out, or set provider "
                "to openai"
            )
        if self.provider != "none" and not self.metrics:
            raise ValueError("no metrics, so that nothing is asked; set provider to none")
        undecided = ", ".join(metric.name for metric in self.metrics if not metric.verdict.can_be_decided)
        if self.provider == "decisions" and undecided:
            raise ValueError(
                f"a decision model says how probable true is, or that a criterion is met, and gives no {undecided}: "
                "leave these metrics out, or set provider to openai"
            )
        if self.provider == "decisions" and self.draws > 1:
            raise ValueError("draws must be 1: a decision model states the probability itself")
        if self.preference and self.provider not in CHAT_PROVIDERS:
            raise ValueError("preference needs a language model: set provider to openai or cascade")
        columns = Counter(column for metric in self.in_table for column in metric.table_columns)
        columns.update(votes_column(metric.name) for metric in self.metrics if self.panel)
        columns.update(verdicts_column(metric.name) for metric in self.in_table if self.asks_again)
        if twice := [column for column, count in columns.items() if count > 1]:
            raise ValueError(f"two metrics have the column {twice[0]}; rename one, or its label")
        return self

    @model_validator(mode="after")
    def _check_panel(self) -> Self:
        if self.panel is None:
            return self
        if len(self.panel) < FEWEST_JURORS:
            raise ValueError(
                f"a panel has {FEWEST_JURORS} judges or more, this one {len(self.panel)}; write a single one into "
                "judge.model and judge.base_url, and leave panel empty"
            )
        if self.provider != "openai":
            raise ValueError(
                f"a panel is asked by provider openai only, not by {self.provider}; leave panel empty, or set provider "
                "to openai"
            )
        if self.draws > 1:
            raise ValueError("a panel asks each judge once; set draws to 1, or leave panel empty")
        if self.retest:
            raise ValueError("a panel asks each judge once; set retest to 0, or leave panel empty")
        if self.preference:
            raise ValueError("a panel judges answers one by one; leave panel empty for a preference between two")
        asked = [(*one.server_key, one.model, one.temperature, one.seed) for one in self.jurors]
        if twice := [number for number, one in enumerate(asked) if one in asked[:number]]:
            first = asked.index(asked[twice[0]])
            raise ValueError(
                f"in the panel, judges {first + 1} and {twice[0] + 1} are the same: model {asked[first][2]} of one "
                "server, with equal seed and temperature; their verdicts would be one verdict counted twice"
            )
        return self

    @model_validator(mode="after")
    def _check_stop(self) -> Self:
        with_rate = {metric.name for metric in self.metrics if metric.has_pass_rate}
        needed = {
            f"a language model as judge, not provider {self.provider}": self.asks_server,
            "its measure among metrics, with a pass rate": self.stop.keys() <= with_rate,
            "preference empty": self.preference is None,
        }
        if self.stop and (lacking := next((text for text, is_met in needed.items() if not is_met), None)):
            raise ValueError(f"stop needs {lacking}; or leave stop empty")
        return self

    @property
    def asked_share(self) -> float:
        """The share of rows to ask about, the first in the order of `stop`."""
        return 1.0

    def asked_partly(self, share: float) -> "Judge":
        """This judge, which asks about a share of the rows."""
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        return PartlyAsked.model_construct(**fields, stopped_at=share)

    @property
    def jurors(self) -> tuple["Judge", ...]:
        """The judges that are asked, one after the other, each as it would be alone; without a panel, this one."""
        return (self,) if self.panel is None else self._panel

    @cached_property
    def _panel(self) -> tuple["Judge", ...]:
        shared = {name: getattr(self, name) for name in type(self).model_fields}
        own = ({"panel": None} | juror.own(self.base_url) for juror in self.panel or ())
        return tuple(OneOfPanel.model_construct(**shared | one, section_seed=self.seed) for one in own)

    @property
    def sampling_seed(self) -> int:
        """The seed of the sample of rows."""
        return self.seed

    @cached_property
    def juror_names(self) -> tuple[str, ...]:
        """A name for each juror: its model, if need be with server, temperature and seed."""
        names = [one.model for one in self.jurors]
        more = [
            {"server": " ".join(filter(None, one.server_key)), "temp": f"{one.temperature:g}", "seed": str(one.seed)}
            for one in self.jurors
        ]
        for part in ("server", "temp", "seed"):
            count, values = Counter(names), {name: set[str]() for name in names}
            for name, own in zip(names, more, strict=True):
                values[name].add(own[part])
            names = [
                f"{name}, {part} {own[part]}" if count[name] > 1 and len(values[name]) > 1 else name
                for name, own in zip(names, more, strict=True)
            ]
        return tuple(names)

    @property
    def asks_server(self) -> bool:
        """Whether a language model behind a server judges, if only some of the rows."""
        return self.provider in SERVER_PROVIDERS

    @property
    def is_decision_model(self) -> bool:
        """Whether the server gives probabilities, and no text."""
        return self.provider == "decisions"

    @property
    def stage(self) -> str:
        """The stage that asks."""
        return FAMILY

    @property
    def api_key(self) -> ApiKey:
        """The key of the server."""
        return ApiKey(self.api_key_env, API_KEY_SETTING)

    @property
    def asks_again(self) -> bool:
        """Whether a row may have several verdicts of a metric."""
        return self.asks_server and (self.draws > 1 or self.retest > 0)

    @cached_property
    def server_key(self) -> tuple[str, str]:
        """Class of the server, and its name or else its address; both are part of the keys in the ledger."""
        return server_class(self.base_url), self.server or address(self.base_url)

    @property
    def questions(self) -> dict[str, JudgeMetric]:
        """Everything that a server is asked, by name: the metrics, and the preference."""
        asked = {metric.name: metric for metric in self.metrics}
        return asked | ({NAME: self.preference.question} if self.preference else {})

    @property
    def in_table(self) -> list[JudgeMetric]:
        """The metrics with columns in data/judge: those with a module, asked for or not, and all others asked for."""
        asked = {metric.name: metric for metric in self.metrics}
        return [*({name: default_metric(name) for name in names(FAMILY)} | asked).values()]

    @cached_property
    def canary_metric(self) -> JudgeMetric:
        """The metric whose prompt asks about canaries: one is enough to know the model."""
        known = [metric for metric in self.metrics if metric.knows_canaries]
        return known[0] if known else default_metric(declaring(FAMILY, "knows_canaries")[0])


class PartlyAsked(Judge):
    """A judge that stopped early; stopped_at: the share of the rows that it was asked about."""

    stopped_at: float = 1.0

    @property
    def asked_share(self) -> float:
        """The share of rows that were asked about."""
        return self.stopped_at


class OneOfPanel(PartlyAsked):
    """A judge of a panel; section_seed: the seed of the section, by which all judges have one sample of rows."""

    section_seed: int

    @property
    def sampling_seed(self) -> int:
        """The seed of the sample of rows."""
        return self.section_seed


def default_metric(name: str) -> JudgeMetric:
    """Return a metric with a module as it is without options."""
    return cast("JudgeMetric", configure(FAMILY, name, {}))


def _configured(name: str, options: Any) -> JudgeMetric:
    if isinstance(options, JudgeMetric):
        return options
    if name in names(FAMILY):
        return cast("JudgeMetric", configure(FAMILY, name, options, PATH))
    return prompted(name, options, PATH)


def check_prompts(sections: Mapping[str, Any]) -> None:
    """Check that the data have what prompts read, and that no other metric has the column of one.

    Args:
        sections: Every section of params.yaml by name, validated.

    Raises:
        ParamsError: A prompt reads what section `dataset` does not map; or a column is there twice.
    """
    dataset = sections["dataset"]
    taken = {
        column
        for family in ("lexical", "semantic")
        if family in sections  # a project may be without the stage
        for metric in sections[family].root.values()
        for column in metric.columns
    }
    for metric in sections["judge"].metrics:
        if not isinstance(metric, Prompted):
            continue
        path = f"{PATH}.{metric.name}"
        check_reads(metric, metric.reads, dataset, f"{path}.prompt")
        if twice := taken & {*metric.table_columns}:
            raise ParamsError(f"{path}: another metric has the column {min(twice)}; choose another name")


def check_reads(question: Prompted, reads: Collection[str], dataset: Any, path: str) -> None:
    """Check that the data have what a prompt reads.

    Args:
        question: The question with the prompt.
        reads: What it reads of data/normalize.
        dataset: Section `dataset`.
        path: Where the prompt stands in params.yaml.

    Raises:
        ParamsError: Section `dataset` does not map it.
    """
    for option in ("contexts", "criteria", "slices"):
        if option in reads and not getattr(dataset, option):
            raise ParamsError(f"{path}: {question.prompt} reads {option}, but dataset.{option} names no column")
    for name in question.slices:
        if name not in dataset.slices:
            raise ParamsError(f"{path}: {question.prompt}: {unknown('slice', name, dataset.slices)}")
