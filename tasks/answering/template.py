"""The prompt of a candidate: a template over the question, which is never shown what counts as right."""

import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from tasks.dataset.paths import parse
from tasks.dataset.settings import AskedCandidate, Dataset
from tasks.errors import ParamsError, did_you_mean
from tasks.metrics.prompt_template import TemplateError, prompt_text, slices_of, variables_of

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
            suggestion, listed = did_you_mean(one, [*dataset.slices]) or ";", ", ".join(dataset.slices)
            raise ParamsError(f"{where}: unknown slice {one!r}{suggestion} allowed: {listed}")
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
        if candidate.labelled:
            yield candidate.labelled, f"dataset.candidates.{name}.labelled"
        for key, score in dataset.scores.items():
            yield from ((column, f"dataset.scores.{key}") for column in score.columns_of(name) if score.human)
