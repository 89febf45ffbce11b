"""A candidate that is asked: where its model is, its prompt, and the request of each question to it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, ClassVar, NamedTuple, Self

from goldmeter.asking.requests import Request
from goldmeter.dataset.normalized import Normalize
from goldmeter.dataset.paths import parse
from goldmeter.dataset.settings import AskedCandidate, Dataset, Load
from goldmeter.errors import ParamsError, unknown
from goldmeter.judging.settings import Judge
from goldmeter.ledger.entries import canonical
from goldmeter.metrics.prompt_template import TemplateError, prompt_text, render, slices_of, variables_of
from goldmeter.metrics.verdict_types import Criterion
from goldmeter.models.chat.envelope import CUT_OFF, REFUSAL
from goldmeter.models.servers import ApiKey, address, server_class
from goldmeter.pipeline.hashing import sha256
from goldmeter.pipeline.settings import Section, Share


class Answer(Section):
    """The answers of candidates with a model.

    max_unmeasured: the run stops if a larger share of the questions has no answer.
    """

    max_unmeasured: Share


class Params(Section):
    """The sections of params.yaml that the stage reads; normalize, judge: with `judge.stop`."""

    dataset: Dataset
    load: Load
    answer: Answer
    normalize: Normalize
    judge: Judge


STAGE = "answer"
OPENAI_KEY = "OPENAI_API_KEY"


class Answered(NamedTuple):
    """What the ledger keeps of a reply that is an answer; its text is the entry's `raw`."""

    score: float = 1.0
    reason: str | None = None
    met: str = ""


@dataclass(frozen=True)
class AnswerQuestion:
    """What is asked of a candidate: the message alone, below its system message.

    A refusal in words, and an answer that `max_tokens` cut off, are answers: users of the system see them, too.
    """

    instructions: str
    version: str | None
    name: ClassVar[str] = STAGE
    reply_schema: ClassVar[None] = None
    sent_schema: ClassVar[None] = None
    reply_tokens: ClassVar[None] = None
    criteria: ClassVar[tuple[Criterion, ...]] = ()
    accepted_problems: ClassVar[frozenset[str]] = frozenset({REFUSAL, CUT_OFF})

    @cached_property
    def prompt_hash(self) -> str:
        """The sha256, in hex, of everything in a request but the message."""
        return sha256(canonical({"system": self.instructions, "version": self.version})).hex()

    def with_criteria(self, criteria: Sequence[Criterion]) -> Self:  # noqa: ARG002 (there are none)
        return self

    def message(self, fields: str, nonce: str) -> str:  # noqa: ARG002 (a text has no nonce)
        return fields

    def parse(self, reply: str, nonce: str) -> Answered:  # noqa: ARG002 (it is any text)
        """Return that a reply is an answer. Raises ValueError when it is blank."""
        if not reply.strip():
            raise ValueError("the reply has no text")
        return Answered()


@dataclass(frozen=True)
class System:
    """A candidate that is asked; see `asking.requests.AskedModel`."""

    name: str
    options: AskedCandidate
    stage: ClassVar[str] = STAGE
    is_decision_model: ClassVar[bool] = False

    @classmethod
    def of(cls, dataset: Dataset) -> list[Self]:
        """The candidates of a data set that are asked."""
        return [cls(name, options) for name, options in dataset.asked.items()]

    @property
    def base_url(self) -> str:
        return self.options.base_url

    @property
    def model(self) -> str:
        return self.options.model

    @cached_property
    def api_key(self) -> ApiKey:
        """The key of the server; one that is not stated is sent to OpenAI only."""
        is_openai = server_class(self.base_url) == "openai"
        is_stated = "api_key_env" in self.options.model_fields_set
        variable = self.options.api_key_env if is_stated else OPENAI_KEY if is_openai else None
        return ApiKey(variable, f"dataset.candidates.{self.name}.api_key_env")

    @cached_property
    def server_key(self) -> tuple[str, str]:
        return server_class(self.base_url), self.options.server or address(self.base_url)

    @cached_property
    def question(self) -> AnswerQuestion:
        """What it is asked."""
        system = self.options.system
        return AnswerQuestion("" if system is None else prompt_text(system), self.options.version)

    @property
    def questions(self) -> Mapping[str, AnswerQuestion]:
        return {STAGE: self.question}

    def requests(self, row: Mapping[str, Any]) -> Iterator[Request]:
        """Yield the request of each draw.

        row: input, contexts and slices of a question, as data/load has them.

        Raises:
            TemplateError: The message can't be made from this row.
        """
        options, (server, where) = self.options, self.server_key
        message = self._message(row)
        for draw in range(options.draws):
            yield Request(
                server, where, self.model, self.question, message, options.temperature, options.seed, draw,
                options.max_tokens,
            )  # fmt: skip

    @cached_property
    def _template(self) -> tuple[str, list[str]]:
        text = prompt_text(self.options.prompt)
        return text, slices_of(text)

    def _message(self, row: Mapping[str, Any]) -> str:
        text, slices = self._template
        named = {name: (row.get("slices") or {}).get(name) for name in slices}
        values = {"input": row["input"], "contexts": row.get("contexts"), "slices": named}
        return render(text, values, is_fenced=False)


# Variable → a value of its kind, by which wrong attributes are found.
VARIABLES: Mapping[str, Any] = {"input": "", "contexts": [], "slices": None}
# Variables of a judge's prompt that a candidate is not shown.
SECRET = ("references", "response", "criteria", "label", "labels", "phrases", "relevant")
_UNKNOWN = re.compile(r"(?P<line>line \d+: )unknown variable '(?P<name>\w+)'.*")


def check_prompt(name: str, candidate: AskedCandidate, dataset: Dataset) -> None:
    """Check the prompt of a candidate and its system message, before anything runs.

    Raises:
        ParamsError: A file can't be read; or the template is wrong, reads what the data do not have, or what counts as
            right.
    """
    path = f"dataset.candidates.{name}"
    if candidate.system is not None:
        _text(candidate.system, f"{path}.system")
    text, where = _text(candidate.prompt, f"{path}.prompt"), f"{path}.prompt: {candidate.prompt}"
    reads, slices = _reads(text, where), slices_of(text)
    for option in reads:
        if not getattr(dataset, option):
            raise ParamsError(f"{where} reads {option}, but dataset.{option} names no column")
    if "slices" in reads and not slices:
        raise ParamsError(f"{where}: read each slice by its name, such as {{{{ slices.{dataset.slices[0]} }}}}")
    for one in slices:
        if one not in dataset.slices:
            raise ParamsError(f"{where}: {unknown('slice', one, dataset.slices)}")
    shown = {"input": dataset.input, "contexts": dataset.contexts}
    columns = [*(shown[option] for option in reads if option in shown), *slices]
    for column, (secret, place) in product(filter(None, columns), _secrets(dataset)):
        if _overlap(column, secret):
            raise ParamsError(f"{where} reads the column {column}, which is also {place}: a candidate is not shown it")


def _reads(text: str, where: str) -> list[str]:
    """Return the variables that a template reads."""
    try:
        return variables_of(text, VARIABLES)
    except TemplateError as error:
        found = _UNKNOWN.fullmatch(str(error))
        if found and found["name"] in SECRET:
            secret = f"{found['line']}a candidate is not shown {found['name']}; allowed: {', '.join(VARIABLES)}"
            raise ParamsError(f"{where}: {secret}") from None
        raise ParamsError(f"{where}: {error}") from None


def _text(file: str, path: str) -> str:
    try:
        return prompt_text(file)
    except ValueError as problem:
        raise ParamsError(f"{path}: {file}: {problem}") from None


def _overlap(one: str, other: str) -> bool:
    """Whether two columns, or paths into nested values, are the same, or one leads into the other."""
    first, second = ([str(step) for step in parse(name) or (name,)] for name in (one, other))
    return all(mine == theirs for mine, theirs in zip(first, second, strict=False))


def _secrets(dataset: Dataset) -> Iterator[tuple[str, str]]:
    """Yield the columns that say what is right, each with the option that names it."""
    for column in dataset.references.columns if dataset.references else ():
        yield column, "dataset.references"
    for option in ("phrases", "relevant", "criteria"):
        if column := getattr(dataset, option):
            yield column, f"dataset.{option}"
    for place, mapping in dataset.label_mappings.items():
        yield from ((column, place) for column in mapping.mapped)
    for name, candidate in dataset.named.items():
        if candidate.label and candidate.label.by:
            yield from ((column, f"dataset.candidates.{name}.label") for column in candidate.label.mapped)
        if candidate.labelled:
            yield candidate.labelled, f"dataset.candidates.{name}.labelled"
        for key, score in dataset.scores.items():
            yield from ((column, f"dataset.scores.{key}") for column in score.columns_of(name) if score.human)
