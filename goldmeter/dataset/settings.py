"""The sections `dataset` and `load` of params.yaml."""

import json
import re
from typing import Annotated, Any, ClassVar, Final, Literal, Self, TypeAlias

from pydantic import Discriminator, Field, FiniteFloat, Tag, field_validator, model_validator

from goldmeter.dataset.tasks import Task
from goldmeter.errors import ParamsError
from goldmeter.estimates.column_facts import RESOURCES
from goldmeter.pipeline.settings import Positive, Section, ServerName, ServerUrl

OPENAI = "https://api.openai.com/v1"
# Columns of data/answer that load reads as those of a candidate.
RESPONSE: Final = "response"

Name = Annotated[str, Field(min_length=1)]
# A word of a label column as written in params.yaml; compared as text.
Word: TypeAlias = str | bool | int | float
Format = Literal[
    "lm_eval", "inspect", "promptfoo", "deepeval", "openai_batch", "every_eval_ever", "squad", "opik", "langfuse",
    "oaieval", "openai_evals", "mlflow", "langsmith", "helm", "ragas", "phoenix", "lighteval", "label_studio",
    "argilla", "wmt_mqm", "alpaca_eval", "mt_bench", "summeval", "otel",
]  # fmt: skip


class OneOrSeveral(Section):
    """A column, or the columns of several people."""

    people: ClassVar[str]
    column: Name | None = None
    columns: tuple[Name, ...] = ()

    @property
    def all_columns(self) -> tuple[str, ...]:
        """The columns as they are named in params.yaml."""
        return self.columns or ((self.column,) if self.column else ())

    @model_validator(mode="after")
    def _check_columns(self) -> Self:
        if (self.column is None) == (not self.columns):
            raise ValueError(f"name either column, or the columns of several {self.people}")
        if len(set(self.columns)) < len(self.columns):
            raise ValueError("columns: a column appears twice")
        return self


class LabelMapping(OneOrSeveral):
    """How a column of human labels is read; without words or a limit: true and false, 1 and 0, yes and no.

    column: the column of the labels.
    by: who gave these verdicts, if not people: a tool, or a model. They are then a score of that name, and no labels.
    columns: the columns of several raters: the majority decides; a tie is no label. The report says how far they agree.
    right: words that mean a right answer; other words are an error.
    wrong: words that mean a wrong answer.
    unsure: words that count as no label.
    at_least: a number from which on an answer is right.
    at_most: a number up to which an answer is right.
    invert: true: the column says what is wrong, such as is_hallucination.
    probability: the column of each row's probability to be chosen for labelling, with dataset.labels: designed.
    """

    people: ClassVar[str] = "raters"
    right: tuple[Word, ...] = ()
    wrong: tuple[Word, ...] = ()
    unsure: tuple[Word, ...] = ()
    at_least: FiniteFloat | None = None
    at_most: FiniteFloat | None = None
    invert: bool = False
    probability: Name | None = None
    by: Name | None = None

    @property
    def score(self) -> str | None:
        """The name of the score that the verdicts are; None for those of people."""
        if self.by is None:
            return None
        name = re.sub(r"\W+", "_", self.by).strip("_")
        return name if name[:1].isalpha() else f"by_{name}"

    @property
    def rule(self) -> str:
        """How the column is read, and whose verdicts they are, the same text for the same rule."""
        return self.model_dump_json(exclude={"column", "columns", "probability"})

    @property
    def mapped(self) -> tuple[str, ...]:
        """The columns of all raters, and that of the probabilities."""
        return (*self.all_columns, *([self.probability] if self.probability else []))

    @model_validator(mode="after")
    def _check_rules(self) -> Self:
        if (self.right or self.wrong) and (self.at_least is not None or self.at_most is not None):
            raise ValueError("at_least and at_most are for numbers, right and wrong for words; use one of the two")
        if self.by is not None and (self.columns or self.probability):
            raise ValueError("by: verdicts of a tool or a model are in one column, and nobody chose their rows")
        lists = [{str(word).strip().casefold() for word in words} for words in (self.right, self.wrong, self.unsure)]
        if shared := lists[0] & lists[1] | lists[0] & lists[2] | lists[1] & lists[2]:
            raise ValueError(f"{min(shared)!r} stands in two of right, wrong and unsure")
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            raise ValueError(f"at_least {self.at_least:g} and at_most {self.at_most:g} contain no number")
        return self


def _as_column(given: Any) -> Any:
    """Let a column's name stand for its mapping."""
    return {"column": given} if isinstance(given, str) else given


def _as_json(about: Any) -> Any:
    # YAML reads 2024-05-01 as a date, which tables can't store.
    return json.loads(json.dumps(about, default=str, allow_nan=False))


class AnswerColumns(Section):
    """The columns of answers: the texts, human labels, and what each answer took.

    latency: column of the seconds that each answer took, or several to add up.
    tokens: column of the tokens of each answer, or several to add up, such as [input_tokens, output_tokens].
    cost: column of the US dollars of each answer, or several to add up.
    """

    response: Name
    label: LabelMapping | None = None
    labelled: Name | None = None
    latency: tuple[Name, ...] = ()
    tokens: tuple[Name, ...] = ()
    cost: tuple[Name, ...] = ()

    _label = field_validator("label", mode="before")(_as_column)

    @field_validator(*RESOURCES, mode="before")
    @classmethod
    def _as_columns(cls, given: Any) -> Any:
        return () if given is None else (given,) if isinstance(given, str) else given

    @property
    def resources(self) -> dict[str, tuple[str, ...]]:
        """What is known of answers, such as latency, and its columns."""
        return {name: columns for name in RESOURCES if (columns := getattr(self, name))}


class CandidateMapping(AnswerColumns):
    """A system whose answers are scored: the columns of its responses and human labels, and what is noted about it.

    labelled: column of the answer that was labelled, or of its sha256; a label of another answer does not count.
    path: file of this system's answers, in the folder dataset.path; none: they are in the file of the questions.
    id: of `path`, the column of the questions' ids; none: dataset.id.
    input: of `path`, the column of the questions, if ids are missing there; none: dataset.input.
    on: of `path`, what its records are joined by; none: the id, where dataset.id names a column.
    """

    about: dict[str, Any] = Field(default_factory=dict)
    path: Name | None = None
    id: Name | None = None
    input: Name | None = None
    on: Literal["id", "input"] | None = None

    _about = field_validator("about", mode="before")(_as_json)

    @model_validator(mode="after")
    def _check_join(self) -> Self:
        if self.path is None and (self.id or self.input or self.on):
            raise ValueError("id, input and on are for a file of its own; name it in path")
        if self.id and (self.input or self.on == "input"):
            raise ValueError("id and input: records are joined by one of the two")
        if self.input and self.on == "id":
            raise ValueError("on: id, but a column of inputs is named")
        return self


class AskedOptions(Section):
    """The model of a candidate that is asked. Options that are not sent to the model ask nothing again.

    model: is asked for the answers, instead of a column; as the server calls it.
    base_url: of a server with OpenAI's protocol.
    server: name of the server in the ledger; none: its address.
    api_key_env: environment variable that holds the key; not stated: OPENAI_API_KEY for OpenAI, else no key.
    prompt: template of the message over input, contexts and slices, in the folder prompts.
    system: file with the system message, in the folder prompts; none: there is none.
    temperature: none: the server's.
    seed: none: the server's.
    max_tokens: of an answer; none: the server's limit.
    draws: answers to each question.
    version: of the system behind the model; another one asks every question again.
    """

    model: Annotated[str, Field(min_length=1)]
    base_url: ServerUrl = OPENAI
    server: ServerName | None = None
    api_key_env: str | None = None
    prompt: str = "prompts/answer.txt"
    system: str | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    seed: int | None = None
    max_tokens: Positive | None = None
    draws: Positive = 1
    version: str | None = None

    @field_validator("version", mode="before")
    @classmethod
    def _as_text(cls, version: Any) -> Any:
        return str(version) if type(version) in {int, float} else version


class AskedCandidate(AskedOptions, CandidateMapping):
    """A system that the stage answer asks: its answers are in data/answer, not in the data."""

    response: Literal["response"] = RESPONSE
    latency: tuple[Name, ...] = ("latency",)
    tokens: tuple[Name, ...] = ("input_tokens", "output_tokens")
    cost: tuple[Name, ...] = ("cost",)

    @model_validator(mode="before")
    @classmethod
    def _has_no_columns_of_answers(cls, given: Any) -> Any:
        if isinstance(given, dict):
            for name in ("response", *RESOURCES, "path", "id", "input", "on"):
                if name in given:
                    raise ValueError(
                        f"model and {name}: a candidate with a model is asked, and one with a {name} is read"
                    )
        return given

    @model_validator(mode="after")
    def _check_label(self) -> Self:
        if self.label is not None and self.labelled is None:
            raise ValueError("label: of which answer? Name the column of the labelled answers in labelled")
        return self


class LongCandidates(AnswerColumns):
    """Records that hold one answer each, of the system that a column names.

    column: the column that names the system.
    only: names of the systems to score; none: all.
    """

    column: Name
    only: tuple[Name, ...] = ()
    about: dict[str, dict[str, Any]] = Field(default_factory=dict)

    _about = field_validator("about", mode="before")(_as_json)


def _form(given: Any) -> str:
    """Tell the long form from systems by name: a system is named `column` only if options follow."""
    if isinstance(given, LongCandidates) or (isinstance(given, dict) and isinstance(given.get("column"), str)):
        return "|long"
    return "|wide"


def _source(given: Any) -> str:
    """Tell a system that is asked from one whose answers are read."""
    is_asked = "model" in given if isinstance(given, dict) else isinstance(given, AskedCandidate)
    return "|asked" if is_asked else "|read"


Candidate = Annotated[
    Annotated[CandidateMapping, Tag("|read")] | Annotated[AskedCandidate, Tag("|asked")], Discriminator(_source)
]
Candidates = Annotated[
    Annotated[LongCandidates, Tag("|long")] | Annotated[dict[Name, Candidate], Field(min_length=1), Tag("|wide")],
    Discriminator(_form),
]


class References(Section):
    """The columns of references, or the column of a file of their own.

    columns: columns of the questions' file.
    path: file of the references, in the folder dataset.path.
    id: of `path`, the column of the questions' ids.
    input: of `path`, the column of the questions, if ids are missing there.
    column: of `path`, the column of the references.
    """

    columns: tuple[Name, ...] = ()
    path: Name | None = None
    id: Name | None = None
    input: Name | None = None
    column: Name | None = None

    @model_validator(mode="after")
    def _check_place(self) -> Self:
        if len(set(self.columns)) < len(self.columns):
            raise ValueError("a column appears twice")
        if (self.path is None) == (not self.columns):
            raise ValueError("expected a column, a list of columns, or path, id and column of a file of their own")
        if self.path is not None and (self.column is None or (self.id is None) == (self.input is None)):
            raise ValueError("a file of references needs path, column, and either id or input")
        if self.path is None and (self.column or self.id or self.input):
            raise ValueError("id, input and column are for a file of references; name it in path")
        return self

    def __str__(self) -> str:
        return ", ".join(self.columns) or f"{self.column} of {self.path}"


class LabelFile(Section):
    """Human labels in a file of their own, in data/labels or in the folder dataset.path.

    id: the column of the questions' ids.
    input: the column of the questions, if ids are missing.
    candidate: the column that names the system; none: labels are joined by the text of the answer.
    response: the column of the labelled answer; a label of another answer does not count.
    """

    path: Name
    id: Name | None = None
    input: Name | None = None
    candidate: Name | None = None
    response: Name | None = None
    label: LabelMapping

    _label = field_validator("label", mode="before")(_as_column)

    @model_validator(mode="after")
    def _check_keys(self) -> Self:
        if (self.id is None) == (self.input is None):
            raise ValueError("labels are joined by id or by input; name the column of one of the two")
        if self.label.by is not None:
            raise ValueError("label.by: a file of labels is people's; put a tool's verdicts into the candidates' file")
        return self


class ScoreMapping(OneOrSeveral):
    """Scores computed elsewhere, or grades that people gave; null bounds: unknown.

    column: in it, {candidate} is replaced by the candidate's name.
    columns: the columns of several people; the grade is the mean of those who gave one.
    human: the numbers are grades of people: rows without one are not labelled, and judges are compared with them.
    """

    people: ClassVar[str] = "people"
    bounds: tuple[FiniteFloat, FiniteFloat] | None = None
    threshold: FiniteFloat | None = None
    higher_is_better: bool = True
    human: bool = False

    @property
    def is_by_candidate(self) -> bool:
        """Whether each candidate has columns of its own name."""
        return any("{candidate}" in column for column in self.all_columns)

    def columns_of(self, candidate: str) -> tuple[str, ...]:
        """Return the names of the columns with this candidate's scores."""
        return tuple(column.replace("{candidate}", candidate) for column in self.all_columns)

    @model_validator(mode="after")
    def _check_grades(self) -> Self:
        if self.columns and not self.human:
            raise ValueError("columns are for the grades of several people, with human: true")
        if self.human and (self.bounds is None or not self.higher_is_better):
            raise ValueError("human: grades need bounds, such as [1, 5], of which more is better")
        return self

    @model_validator(mode="after")
    def _check_threshold(self) -> Self:
        low, high = self.bounds or (float("-inf"), float("inf"))
        if low >= high:
            raise ValueError(f"bounds {low:g} to {high:g} contain no number")
        if self.threshold is not None and not low <= self.threshold <= high:
            raise ValueError(f"threshold {self.threshold:g} is outside the bounds {low:g} to {high:g}")
        return self


class Dataset(Section):
    """The place of the user's records and the meaning of their columns."""

    path: Name
    pattern: Name | tuple[Name, ...] | None
    format: Format | None
    task: Task | None = None
    limit: Positive | None
    exclude: dict[Name, str | bool | int | float | None]
    missing_response: Literal["unmeasured", "wrong"]
    thoughts: Literal["strip", "keep", "reject"] = "strip"
    id: Name | None
    draw: Literal[True] | Name | None
    input: Name | None
    references: References | None
    reference_separator: Name | None
    corrections: Name | None = None
    choices: Name | None = None
    choices_from: Literal[0, 1] | None = 0
    candidates: Candidates
    lists: Literal["first", "join", "draws"] | None
    other_questions: Literal["reject", "leave_out"]
    label_file: LabelFile | None
    labels: Literal["all", "random", "designed", "other"]
    group: Name | None
    weight: Name | None = None
    slices: tuple[Name, ...]
    phrases: Name | None
    contexts: Name | None
    relevant: Name | None
    criteria: Name | None = None
    scores: dict[Annotated[str, Field(pattern=r"^[A-Za-z]\w*$")], ScoreMapping]
    expect: tuple[dict[Name, dict[str, Any]], ...] = ()

    @property
    def named(self) -> dict[str, CandidateMapping]:
        """The candidates of the wide form; none in the long form, whose names are in the records."""
        return {} if isinstance(self.candidates, LongCandidates) else self.candidates

    @property
    def asked(self) -> dict[str, AskedCandidate]:
        """The candidates that the stage answer asks."""
        return {name: one for name, one in self.named.items() if isinstance(one, AskedCandidate)}

    @property
    def long(self) -> LongCandidates | None:
        """The long form, if that is how the candidates are given."""
        return self.candidates if isinstance(self.candidates, LongCandidates) else None

    @property
    def resources(self) -> list[str]:
        """What is known of the answers of any candidate, such as latency."""
        answers = [self.long] if self.long else [*self.named.values()]
        return [name for name in RESOURCES if any(name in one.resources for one in answers)]

    @property
    def optional_scores(self) -> list[str]:
        """The scores that samples of a log lack by design: a task, or a test case, has scores of its own."""
        return [name for name in self.scores if self.format is not None and f"{name}_details" not in self.scores]

    @property
    def has_draws(self) -> bool:
        """Whether a question may have several answers of one candidate."""
        return self.draw is not None or self.lists == "draws" or any(one.draws > 1 for one in self.asked.values())

    @property
    def label_mappings(self) -> dict[str, LabelMapping]:
        """How human labels are read, by the place in params.yaml that says so."""
        given = {f"candidates.{name}.label": candidate.label for name, candidate in self.named.items()}
        given["candidates.label"] = self.long.label if self.long else None
        given["label_file.label"] = self.label_file.label if self.label_file else None
        return {f"dataset.{place}": mapping for place, mapping in given.items() if mapping and mapping.by is None}

    @property
    def machine_verdicts(self) -> dict[str, LabelMapping]:
        """The scores that are verdicts of tools and models (label.by), each with how it is read, of one candidate."""
        answers = [self.long] if self.long else [*self.named.values()]
        return {one.label.score: one.label for one in answers if one.label and one.label.score}

    @property
    def mixed_verdicts(self) -> str | None:
        """The name of a score whose verdicts are by another tool, or read by another rule, of another candidate."""
        answers = [self.long] if self.long else [*self.named.values()]
        mappings = [one.label for one in answers if one.label]
        last = self.machine_verdicts
        return next((one.score for one in mappings if one.score and one.rule != last[one.score].rule), None)

    @property
    def has_labels(self) -> bool:
        """Whether human labels are mapped for any candidate."""
        return bool(self.label_mappings)

    @property
    def has_raters(self) -> bool:
        """Whether the labels of several raters are mapped for any candidate."""
        return any(len(one.columns) > 1 for one in self.label_mappings.values())

    @property
    def all_have_labels(self) -> bool:
        """Whether human labels are mapped for every candidate."""
        answers = [self.long] if self.long else [*self.named.values()]
        return all(one.label and one.label.by is None for one in answers) or bool(self.label_file)

    @field_validator("draw", mode="before")
    @classmethod
    def _check_draw(cls, draw: Any) -> Any:
        if draw is None or draw is True or isinstance(draw, str):
            return draw
        raise ValueError("expected the column that numbers the answers, true, or none")

    @field_validator("references", mode="before")
    @classmethod
    def _expand_columns(cls, references: Any) -> Any:
        if isinstance(references, str):
            return {"columns": (references,)}
        return {"columns": tuple(references)} if isinstance(references, list | tuple) else references

    @field_validator("scores", mode="before")
    @classmethod
    def _expand_column_names(cls, scores: Any) -> Any:
        if not isinstance(scores, dict):
            return scores
        return {name: _as_column(score) for name, score in scores.items()}

    @field_validator("slices")
    @classmethod
    def _check_unique(cls, slices: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(slices)) < len(slices):
            raise ValueError("a column appears twice")
        return slices

    @model_validator(mode="after")
    def _check_choices(self) -> Self:
        if self.choices and (self.references is None or len(self.references.columns) != 1 or self.reference_separator):
            raise ValueError("choices: needs one column of references, without reference_separator")
        if self.choices and self.phrases:
            raise ValueError("choices and phrases: the choices are the phrases of a row; name one of the two")
        return self

    @model_validator(mode="after")
    def _check_id_source(self) -> Self:
        if self.id is None and self.input is None:
            raise ValueError("id: null takes the hash of the input, but input is null too; name a column in one")
        return self


class Load(Section):
    """Size of a part, limits on texts and rejected rows."""

    part_rows: Positive
    max_chars: Positive
    max_rejected: Annotated[float, Field(ge=0, le=1)]
    require_references: bool


class Params(Section):
    """The sections that the load stage reads."""

    dataset: Dataset
    load: Load

    def check(self) -> None:
        """Check that the two sections fit together.

        Raises:
            ParamsError: One record has more candidates than a part has rows, or references are required but not mapped.
        """
        if len(self.dataset.named) > self.load.part_rows:
            count = len(self.dataset.named)
            raise ParamsError(f"load.part_rows: {self.load.part_rows}, but one id alone has {count} candidates")
        self._check_combinations()
        self._check_probabilities()
        if self.load.require_references and self.dataset.references is None:
            raise ParamsError("dataset.references: null, but load.require_references is true; name the column")

    def _check_probabilities(self) -> None:
        designed = self.dataset.labels == "designed"
        if self.dataset.labels in {"random", "designed"} and not self.dataset.has_labels:
            raise ParamsError(
                f"dataset.labels: {self.dataset.labels}, but no labels are mapped; name their column "
                "(dataset.candidates.NAME.label) or file (dataset.label_file), or write all"
            )
        for place, mapping in self.dataset.label_mappings.items():
            if designed and mapping.probability is None:
                raise ParamsError(
                    f"{place}: dataset.labels is designed, which needs each labelled row's probability to be chosen; "
                    f"name its column: {place}.probability"
                )
            if mapping.probability is not None and not designed:
                raise ParamsError(
                    f"{place}.probability: only used with dataset.labels: designed, but that is {self.dataset.labels}; "
                    "change one of the two"
                )

    def _check_combinations(self) -> None:
        dataset = self.dataset
        if dataset.lists == "draws" and dataset.draw is not None:
            raise ParamsError("dataset.draw: the answers of a list are numbered by lists: draws; use one of the two")
        if taken := [name for name in dataset.machine_verdicts if name in dataset.scores]:
            raise ParamsError(f"dataset.candidates: label.by gives the score {taken[0]}, which dataset.scores has too")
        if dataset.mixed_verdicts:
            raise ParamsError(
                f"dataset.candidates: label.by gives the score {dataset.mixed_verdicts} to verdicts of another tool, "
                "or that are read by another rule; give each its own name"
            )
        if dataset.label_file is None:
            return
        if dataset.label_mappings.keys() - {"dataset.label_file.label"}:
            raise ParamsError("dataset.label_file: the candidates have labels already; leave out one of the two")
        if not (dataset.label_file.candidate or dataset.label_file.response or len(dataset.named) == 1):
            raise ParamsError("dataset.label_file: name the column of the candidate, or of the answer, in it")
        if dataset.has_draws and dataset.label_file.response is None:
            raise ParamsError(
                "dataset.label_file: answers are repeated (dataset.draw or lists: draws); name the column of the "
                "labelled answer: label_file.response"
            )
