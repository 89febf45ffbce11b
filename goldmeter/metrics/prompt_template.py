"""Prompt templates: Jinja over the columns of a row, for a judge, and for a model whose answers are scored.

Values are never read as templates: they are arguments of a compiled template in a sandbox. In a message to a judge,
everything that an expression puts in is one visible line of JSON between marker lines with a nonce, so all other text
is the template's own. A model whose answers are scored gets texts as they are.
"""

import json
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from goldmeter.errors import unknown

if TYPE_CHECKING:
    from jinja2 import Environment, Template, nodes


# The message about a row, which follows the instructions.
LAYOUT = "<data nonce={nonce}>\n{fields}\n</data nonce={nonce}>"


def encode_fields(values: object) -> str:
    """Encode values as one line of JSON: printable characters as they are, all others as escapes.

    >>> encode_fields({"input": None, "ground_truth": ["Zürich"], "output": 'a "city"'})
    '{"input": null, "ground_truth": ["Zürich"], "output": "a \\\\"city\\\\""}'
    """
    text = json.dumps(values, ensure_ascii=False)
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else json.dumps(character)[1:-1] for character in text)


# dvc.yaml names it as a dependency of the stages: a prompt outside could change unnoticed.
FOLDER = "prompts"
# Where it lies: elsewhere while the settings of an earlier version are read.
ABOVE = ContextVar("above", default=Path())
# Variable → a value of its kind, by which wrong attributes are found.
VARIABLES: Mapping[str, Any] = {
    "input": "", "references": [], "response": "", "contexts": [], "slices": None, "criteria": {}
}  # fmt: skip
# Stands for the nonce in a rendered template; no template and no encoded value holds it.
NONCE = "\x00"
# What a template may call beside its variables; each gives the same text on every run.
FUNCTIONS = ("range", "dict", "namespace")
LOADED = "include, import and extends are not available: a prompt is one file"


class TemplateError(ValueError):
    """A template that can't be used; the message begins with the line, where it has one."""


def prompt_text(prompt: str) -> str:
    """Return the text of a file in the folder prompts.

    Raises:
        ValueError: It lies elsewhere, or can't be read.
    """
    path = PurePosixPath(prompt)
    if path.is_absolute() or path.parts[:1] != (FOLDER,) or ".." in path.parts:
        raise ValueError(f"must lie in the folder {FOLDER}, which dvc.yaml watches")
    try:
        return (ABOVE.get() / prompt).read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        raise ValueError("no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"can't be read as UTF-8: {error}") from None


def variables_of(text: str, allowed: Mapping[str, Any] = VARIABLES) -> list[str]:
    """Return the variables that a template reads, in the order of those allowed.

    allowed: variable → a value of its kind.

    Raises:
        TemplateError: Its syntax is wrong, or it reads an unknown variable or attribute, or none.
    """
    from jinja2 import TemplateSyntaxError, meta

    if NONCE in text:
        raise TemplateError("holds a null character")
    try:
        tree = _environment().parse(text)
        _compiled(text)
    except TemplateSyntaxError as error:
        raise TemplateError(f"line {error.lineno}: {error.message}") from None
    if any(meta.find_referenced_templates(tree)):
        raise TemplateError(LOADED)
    found = meta.find_undeclared_variables(tree) - {*FUNCTIONS}
    for problem in _problems(tree, found, allowed):
        raise TemplateError(problem)
    if not found:
        raise TemplateError(f"reads none of the variables {', '.join(allowed)}, so that it says the same of each row")
    return [name for name in allowed if name in found]


def slices_of(text: str) -> list[str]:
    """Return the slices that a template reads by name, in order."""
    from jinja2 import nodes

    tree = _environment().parse(text)
    named = {each.attr for each in tree.find_all(nodes.Getattr) if _is_name(each.node, "slices")}
    keys = (each.arg for each in tree.find_all(nodes.Getitem) if _is_name(each.node, "slices"))
    return sorted(named | {str(key.value) for key in keys if isinstance(key, nodes.Const)})


def render(text: str, values: Mapping[str, Any], *, is_fenced: bool = True) -> str:
    """Return the text about a row, with `NONCE` in place of the nonce.

    is_fenced: whether values are fenced JSON; else texts are as they are, null is nothing, and lists are JSON.

    Raises:
        TemplateError: The template can't be rendered with these values.
    """
    try:
        return _compiled(text, is_fenced=is_fenced).render(values)
    except Exception as error:  # noqa: BLE001 (a template may call what it likes on values)
        problem = f"the prompt can't be made: {type(error).__name__}: {error}"
        raise TemplateError(problem.encode("utf-8", "replace").decode()) from None


def _problems(tree: "nodes.Template", found: set[str], allowed: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the names in a template, with its line."""
    from jinja2 import nodes

    for name in tree.find_all(nodes.Name):
        if name.name in found - {*allowed}:
            yield f"line {name.lineno}: {unknown('variable', name.name, allowed)}"
    for each in tree.find_all(nodes.Getattr):
        owner = each.node.name if isinstance(each.node, nodes.Name) else ""
        if owner in found and allowed[owner] is not None and not hasattr(allowed[owner], each.attr):
            yield f"line {each.lineno}: {owner} is a {_kind(allowed[owner])}, and has no {each.attr!r}"


def _kind(value: object) -> str:
    return "text" if isinstance(value, str) else f"{'list' if isinstance(value, list) else 'numbered mapping'} of texts"


def _is_name(node: "nodes.Node", name: str) -> bool:
    return getattr(node, "name", None) == name


@lru_cache(2)
def _environment(*, is_fenced: bool = True) -> "Environment":
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        autoescape=False,
        undefined=StrictUndefined,
        finalize=_fenced if is_fenced else _plain,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals = {name: environment.globals[name] for name in FUNCTIONS}
    del environment.filters["random"]  # the message would be another one on each run
    return environment


@lru_cache(64)
def _compiled(text: str, *, is_fenced: bool = True) -> "Template":
    return _environment(is_fenced=is_fenced).from_string(text)


def _plain(value: Any) -> str:
    """Return what an expression puts into a message to a model whose answers are scored."""
    if value is None:
        return ""
    return encode_fields(value) if isinstance(value, list | dict | bool) else str(value)


def _fenced(value: Any) -> str:
    """Return what an expression puts into a message: whole numbers as they are, all else as fenced JSON."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    from jinja2 import Undefined

    if isinstance(value, Undefined):
        str(value)  # raises UndefinedError, which names it
    return LAYOUT.format(nonce=NONCE, fields=encode_fields(value))
