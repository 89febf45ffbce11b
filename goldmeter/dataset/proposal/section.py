"""Section `dataset` of params.yaml as text with comments, and its replacement in the file."""

import re
from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode

from goldmeter.errors import ParamsError
from goldmeter.pipeline.yaml import is_read_as_text, parse_yaml

NAME = "dataset"
# Column of the comments.
COLUMN = 32
WIDTH = 122
LONGEST_SHOWN = 40
# Texts that a comment lists.
NAMED = 3
# The usual comments of params.yaml, for options without one of their own.
COMMENTS = {
    "path": "file or folder; formats: docs/how-to/own-data.md",
    "pattern": "in a folder: which files to read",
    "format": "none: records as they are; or the tool whose log it is, such as lm_eval",
    "task": "qa, choice, classification, number, json, summary, translation, text; none: not stated",
    "limit": "read only the first so many records, in the long form answers; none: all",
    "exclude": "skip records whose column has this value: {improper: true}",
    "missing_response": "how a null answer counts: unmeasured, or wrong",
    "thoughts": "of a model that thinks, such as <think>…</think> before an answer: strip, keep, reject",
    "id": "none: a hash of the input",
    "draw": "repeated answers: the column that numbers them; true: in their order",
    "references": "a column (list, or text split at reference_separator), columns, or {path:, id:, column:}",
    "candidates": "the systems: {NAME: {response: column, label: column}}, {NAME: {model: m}}, or {column: model, "
    "response: answer}",
    "lists": "of a list as answer: first, join (by line ends), draws (repeated answers); none: rejected",
    "other_questions": "answers in a joined file to questions that are not in path: reject, leave_out",
    "label_file": "human labels in a file of their own: {path:, id: or input:, candidate: or response:, label:}",
    "labels": "how the labelled rows were selected: all, random, designed, other",
    "group": "rows that belong together: a conversation, a document",
    "weight": "column of how often each row stands for real traffic, 0 or more; headlines and the gate go by it",
    "slices": "columns whose values are reported one by one",
    "phrases": "column of phrases for semantic_list_contains",
    "contexts": "column of the retrieved texts, or their ids",
    "relevant": "column of the relevant texts' ids",
    "criteria": "column of what a judge with scale: criteria asks about: texts, or {text:, points:}",
    "scores": "scores computed elsewhere: {toxicity: column} or {toxicity: {column: c, bounds: [0, 1], …}}",
    "expect": "expectations of your own about the rows of data/load: docs/how-to/great-expectations.md",
}
_PLAIN = re.compile(r"[A-Za-z_./][\w./-]*", re.ASCII)


def written(options: Mapping[str, Any], comments: Mapping[str, str], notes: Sequence[str], headline: str) -> str:
    """The section as text: each option with its comment, or the usual one. As YAML, it equals the options.

    Args:
        options: Values of the section.
        comments: By option, or by `candidates.NAME`.
        notes: Comments below the section.
        headline: Comment on the first line.
    """
    lines = [*_commented(f"{NAME}:", headline)]
    for option, value in options.items():
        comment = comments.get(option, COMMENTS.get(option, ""))
        if option == "candidates":
            lines += _commented("  candidates:", comment)
            for name, columns in value.items():
                code = f"    {scalar(name)}: {flow(columns)}"
                lines += _commented(code, comments.get(f"candidates.{name}", ""))
        else:
            lines += _commented(f"  {option}: {flow(value)}".rstrip(), comment)
    for note in notes:
        lines += _commented("", note)
    return "\n".join(lines) + "\n"


def written_section(name: str, metrics: Mapping[str, Any], headline: str) -> str:
    """A section of metrics as text, one a line."""
    if not metrics:
        return "\n".join(_commented(f"{name}: {{}}", headline)) + "\n"
    lines = [
        *_commented(f"{name}:", headline),
        *(f"  {metric}: {flow(options)}" for metric, options in metrics.items()),
    ]
    return "\n".join(lines) + "\n"


def replaced(content: str, section: str, name: str = NAME) -> str:
    """params.yaml with this text in place of its section of this name; every other character stays.

    Raises ParamsError when the section does not stand by itself, so that replacing it would change others.
    """
    start, end = _span(content, name)
    lines = "\r\n" if "\r\n" in content else "\n"
    changed = content[:start] + section.replace("\n", lines) + content[end:]
    if not _differs_only_there(content, changed, section, name):
        raise ParamsError(f"params.yaml: section {name} can't be replaced where it stands; write by hand:\n\n{section}")
    return changed


def with_value(content: str, path: tuple[str, str], value: str | None) -> str:
    """params.yaml with this value of an option; its comment and every other character stay.

    Raises ParamsError when the option does not stand on a line of its own.
    """
    section, option = path
    start, end = _span(content, section)
    line = re.search(rf"^(?P<key>[ \t]+{option}:)(?P<old>[^#\n]*)(?P<rest>(?:#.*)?)$", content[start:end], re.MULTILINE)
    text = "" if value is None else scalar(value)
    if line is not None:
        new = f" {text}".rstrip().ljust(len(line["old"]) if line["rest"] else 0)
        new = new if not line["rest"] or new.endswith(" ") else f"{new} "
        changed = content[: start + line.end("key")] + new + content[start + line.start("rest") :]
        before, after = parse_yaml(content), parse_yaml(changed)
        if after == before | {section: before[section] | {option: value}}:
            return changed
    raise ParamsError(
        f"params.yaml: {section}.{option} can't be replaced where it stands; write by hand: {text or 'none'}"
    )


def flow(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{scalar(key)}: {flow(each)}' for key, each in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(flow, value))}]"
    if isinstance(value, bool | int | float):
        return f"{value}".lower()
    return "" if value is None else scalar(value)


def scalar(text: str) -> str:
    r"""A text as YAML, in quotes where it would be read as anything else.

    >>> scalar("question"), scalar("no"), scalar("1"), scalar("a: {b"), scalar("\x1b[31m")
    ('question', '"no"', '"1"', '"a: {b"', '"\\x1b[31m"')
    """
    if _PLAIN.fullmatch(text) and is_read_as_text(text):
        return text
    return quoted(text, len(text))


def shown(text: str, longest: int = LONGEST_SHOWN) -> str:
    """A text of the data as a comment or a message shows it: on one line, nothing invisible, cut."""
    return scalar(text) if len(text) <= longest else f"{scalar(text[:longest])}…"


def quoted(text: str, longest: int = LONGEST_SHOWN) -> str:
    """The same, always in quotes."""
    return f'"{"".join(map(_escaped, text[:longest]))}"{"…" * (len(text) > longest)}'


def first(texts: Sequence[str]) -> str:
    """The first few of the distinct texts, in quotes."""
    distinct = [*dict.fromkeys(texts)]
    return ", ".join(map(quoted, distinct[:NAMED])) + (", …" if len(distinct) > NAMED else "")


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return character if character.isprintable() else character.encode("unicode_escape").decode()


def _commented(code: str, comment: str) -> Iterator[str]:
    """The line with its comment, which goes on below when it is long."""
    column = max(COLUMN, len(code) + 2)
    first, *rest = wrap(comment, max(COLUMN, WIDTH - column - 2)) or [""]
    yield f"{code:<{column}}# {first}" if first else code
    for line in wrap(" ".join(rest), WIDTH - COLUMN - 2):
        yield f"{'':<{COLUMN}}# {line}"


def _span(content: str, name: str) -> tuple[int, int]:
    """Where the section begins and ends; without one, where the first section begins."""
    root = YAML(typ="safe", pure=True).compose(content)
    keys = [key for key, _ in root.value] if isinstance(root, MappingNode) else []
    starts = [key.start_mark.index for key in keys]
    number = next((number for number, key in enumerate(keys) if key.value == name), None)
    if number is None:
        return (starts[0], starts[0]) if starts else (len(content), len(content))
    end = starts[number + 1] if number + 1 < len(starts) else len(content)
    return starts[number], starts[number] + _own(content[starts[number] : end])


def _own(text: str) -> int:
    """Characters up to the blank lines and comments that stand before what follows."""
    lines = re.findall(r".*\n|.+", text)
    while len(lines) > 1 and (not lines[-1].strip() or lines[-1].startswith("#")):
        lines.pop()
    return sum(map(len, lines))


def _differs_only_there(content: str, changed: str, section: str, name: str) -> bool:
    try:
        before, after, own = map(parse_yaml, (content, changed, section))
    except ParamsError:
        return False
    return isinstance(after, dict) and after == {**(before or {}), name: own[name]}
