"""NQ301 (Kamalloo et al. 2023): answers of twelve systems to 301 questions; verdicts of people, BEM and GPT-4."""

import csv
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import nan
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, Field, Json, ValidationError

from benchmarks.data import ROOT
from benchmarks.offline_judge.labelled import Labelled
from goldmeter.errors import DataError
from goldmeter.text.normalization import normalize

FOLDER = Path(os.environ.get("GOLDMETER_NQ301") or ROOT.parent / "shared/data/nq301")
"""The repository's folder of files; GOLDMETER_NQ301 names another one."""
HUMAN, BEM, GPT4 = "NQ301_human.tsv", "NQ301_BEM.tsv", "NQ301_gpt-4.tsv"
DAVINCI = "NQ301_text-davinci-003.tsv"
VERDICTS = {"Yes": 1.0, "No": 0.0, "": nan}


class Verdict(BaseModel):
    """A row of each table: an answer and whether it is acceptable."""

    question: str = Field(alias="Question")
    response: str = Field(alias="Model answer")
    acceptable: Literal["Yes", "No", ""] = Field(alias="Acceptable?")

    @property
    def key(self) -> tuple[str, str]:
        """Question and answer, to be matched with those of other files."""
        return letters(self.question), letters(self.response)


class HumanVerdict(Verdict):
    """The verdict of both annotators, or of a third where they differ; no annotator leaves it open."""

    acceptable: Literal["Yes", "No"] = Field(alias="Acceptable?")
    annotator1: Literal["Yes", "No", ""]
    annotator2: Literal["Yes", "No", ""]


class BemVerdict(Verdict):
    """The probabilities, for each reference, that the answer is another one than the reference or the same."""

    probabilities: Json[Annotated[list[tuple[float, Annotated[float, Field(ge=0, le=1)]]], Field(min_length=1)]] = (
        Field(alias="BEM probs per gold answer")
    )


class SystemAnswer(BaseModel):
    """A line of a system's file; several predictions are parts of one answer, the first one standing for it."""

    question: str
    answer: list[str]
    prediction: str | list[str]

    @property
    def responses(self) -> list[str]:
        given = self.prediction
        return [given] if isinstance(given, str) else [", ".join(given), *given[:1]]


class Listed(NamedTuple):
    """An answer of the table of human verdicts: what several systems answered in the same words stands there once.

    Attributes:
        answer: The answer and its human verdict.
        first: The first annotator's verdict: 1, 0 or NaN for none.
        second: The second annotator's verdict.
        bem: BEM's largest probability, over the references, that the answer is the same; NaN for none.
        gpt4: GPT-4's verdict.
    """

    answer: Labelled
    first: float
    second: float
    bem: float
    gpt4: float


Row = TypeVar("Row", bound=BaseModel)


def letters(text: str) -> str:
    """Return the letters and digits of a text, by which questions and answers are matched."""
    return re.sub(r"[\W_]+", "", normalize(text))


def nq301(folder: Path) -> Iterator[Labelled]:
    """Yield the systems' answers that have a human verdict.

    Raises:
        DataError: A file is damaged.
        OSError: A file is missing.
    """
    verdicts = {row.key: row.acceptable == "Yes" for row in _table(folder / HUMAN, HumanVerdict)}
    for path in sorted(folder.glob("*.jsonl")):
        for row in _lines(path):
            asked, keys = letters(row.question), [letters(text) for text in row.responses]
            known = next((i for i, key in enumerate(keys) if (asked, key) in verdicts), None)
            if known is not None:
                answer, right = row.responses[known], verdicts[asked, keys[known]]
                yield Labelled(row.question, row.answer, answer, right, path.stem, written=False, group=row.question)


def listed(folder: Path, answers: Sequence[Labelled]) -> Iterator[Listed]:
    """Yield the answers of the table of human verdicts, in its order, with the verdicts of the tables beside it.

    A verdict about another answer, as two rows of the published tables hold, is none.

    Args:
        folder: The folder of NQ301.
        answers: The systems' answers; they hold the references.

    Raises:
        DataError: A table is damaged, has other questions than the others, or a question has no references.
        OSError: A table is missing.
    """
    about = {letters(answer.question): answer for answer in answers}
    human = [*_table(folder / HUMAN, HumanVerdict)]
    bem, gpt4 = [*_table(folder / BEM, BemVerdict)], [*_table(folder / GPT4, Verdict)]
    for name, table in ((BEM, bem), (GPT4, gpt4)):
        if [row.key[0] for row in table] != [row.key[0] for row in human]:
            raise DataError(f"{folder / name}: its questions are not, row by row, those of {HUMAN}; restore both files")
    for row, theirs, other in zip(human, bem, gpt4, strict=True):
        if row.key[0] not in about:
            raise DataError(f"{folder}: no system's file (*.jsonl) has the question {row.question!r} of {HUMAN}")
        probability = max(same for _, same in theirs.probabilities)
        yield Listed(
            about[row.key[0]]._replace(response=row.response, verdict=row.acceptable == "Yes", source=HUMAN),
            VERDICTS[row.annotator1],
            VERDICTS[row.annotator2],
            probability if theirs.key == row.key else nan,
            VERDICTS[other.acceptable] if other.key == row.key else nan,
        )


def by_models(folder: Path, answers: Sequence[Labelled]) -> Iterator[tuple[str, str, Labelled, float]]:
    """Yield a language model's name, the system, its answer, and the model's verdict on it, NaN without one.

    The published table of text-davinci-003 lacks what separates question and answer, so both are matched as one text.
    """
    joined = {"".join(row.key): VERDICTS[row.acceptable] for row in _table(folder / GPT4, Verdict)}
    with _readable(folder / DAVINCI), (folder / DAVINCI).open(encoding="utf-8", newline="") as file:
        rows = [*csv.reader(file, delimiter="\t")][1:]
    davinci = {letters(cells[1]): VERDICTS.get(cells[2], nan) for cells in rows}
    for name, verdicts in (("GPT-4", joined), ("text-davinci-003", davinci)):
        for answer in answers:
            key = letters(answer.question) + letters(answer.response)
            yield name, answer.source, answer, verdicts.get(key, nan)


def _table(path: Path, model: type[Row]) -> Iterator[Row]:
    with _readable(path), path.open(encoding="utf-8", newline="") as file:
        for number, cells in enumerate(csv.DictReader(file, delimiter="\t"), 1):
            if None in cells:
                raise DataError(f"{path}: row {number} has more cells than the header; restore the file")
            yield _valid(model.model_validate, cells, path, f"row {number}")


def _lines(path: Path) -> Iterator[SystemAnswer]:
    with _readable(path), path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            yield _valid(SystemAnswer.model_validate_json, line, path, f"line {number}")


def _valid(parse: Callable[[Any], Row], content: object, path: Path, where: str) -> Row:
    try:
        return parse(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        column = ".".join(map(str, first["loc"])) or "the whole"
        raise DataError(f"{path}: {where}: {column}: {first['msg']}; restore the file") from None


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: {error}; restore the file") from error
