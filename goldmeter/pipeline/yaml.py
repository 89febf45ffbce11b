"""YAML 1.2 as DVC reads it; a key that is duplicated, or is no text, is an error with its line."""

import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import lru_cache
from io import StringIO
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.constructor import ConstructorError, SafeConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import CollectionEndEvent, CollectionStartEvent
from ruamel.yaml.nodes import Node, ScalarNode
from ruamel.yaml.representer import SafeRepresenter
from ruamel.yaml.resolver import implicit_resolvers

from goldmeter.errors import ParamsError

_TEXT, _MERGE = "tag:yaml.org,2002:str", "tag:yaml.org,2002:merge"
_DEEPEST = 200
# 500 bytes of nested aliases expand to 10^9 values.
_MOST_VALUES = 1_000_000
# Characters of a value that a message quotes.
_QUOTED = 60
# Keys up to this length fit on a line however deep they are nested in practice: dvc.lock has lines of 80 characters.
_NEVER_FOLDED = 20
# What dvc.lock has above a section of params.yaml.
_ABOVE_SECTIONS = ("stages", "stage", "params", "params.yaml")
# Line breaks in YAML 1.1, characters in 1.2: they need an escape.
_LINE_BREAKS_OF_1_1 = re.compile("[\x85\u2028\u2029]")
# A text that needs no quotes, unless `is_read_as_text` says so.
_PLAIN = re.compile(r"[A-Za-z_./][\w./-]*", re.ASCII)
# What YAML 1.1 or 1.2 reads as something else than text, unless it is in quotes.
_NOT_TEXT = [pattern for _, _, pattern, _ in implicit_resolvers]


def load_yaml(path: Path) -> Any:
    """Read the one document of a file; `parse_yaml` says how."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ParamsError(f"{path}: not readable as YAML: {error}") from None
    return parse_yaml(text, str(path))


def parse_yaml(text: str, name: str = "params.yaml") -> Any:
    """Read the one document of a text, with the same values as `dvc.utils.serialize.parse_yaml`.

    Args:
        text: The document.
        name: What error messages call it, such as the path of its file.

    Returns:
        Mappings, lists and single values; None for an empty document.

    Raises:
        ParamsError: The text is not YAML, or a key is duplicated or is not a text; the message has the line. Or it is
            nested too deep, or aliases repeat too much.
    """
    return deepcopy(_parsed(text, name))


@lru_cache(maxsize=8)  # a stage asks for params.yaml a dozen times
def _parsed(text: str, name: str) -> Any:
    yaml = YAML(typ="safe")
    yaml.Constructor = _Constructor
    try:
        _require_shallow(text, name)
        content = yaml.load(text)
    except MarkedYAMLError as error:
        raise ParamsError(_located(error, text, name)) from None
    except YAMLError as error:
        raise ParamsError(f"{name}: not readable as YAML: {str(error).splitlines()[0]}") from None
    except UnicodeEncodeError:  # git's answers have surrogates for bytes that are no text
        raise ParamsError(f"{name}: not readable as YAML: not UTF-8") from None
    _require_bounded(content, name)
    return content


def dump_yaml(value: Any) -> str:
    """Return a value as YAML; texts that either YAML 1.1 or 1.2 would read as something else are in quotes."""
    yaml = YAML(typ="safe", pure=True)
    yaml.Representer = _Representer
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    yaml.width = 100
    out = StringIO()
    yaml.dump(value, out)
    return out.getvalue()


def unstorable_keys(content: Any) -> Iterator[tuple[str, ...]]:
    """Yield the paths of keys that DVC can write into dvc.lock but not read back.

    DVC folds a long key at a blank, as if it were a value, and every later command of DVC fails on its own file.
    """
    for path in _paths(content, ()):
        name = path[-1]
        if len(name) > _NEVER_FOLDED and " " in name and not _survives_dvc_lock(path):
            yield path


def is_read_as_text(text: str) -> bool:
    """Return whether a word without quotes is text in YAML 1.1 and in 1.2.

    >>> [word for word in ("question", "no", "1e-3", "12:30:00", "~") if is_read_as_text(word)]
    ['question']
    """
    return not any(pattern.match(text) for pattern in _NOT_TEXT)


def flow(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{scalar(key)}: {flow(each)}' for key, each in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(flow(each) or 'null' for each in value)}]"
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
    return f'"{"".join(map(escaped, text))}"'


def escaped(character: str) -> str:
    """Return a character as it stands in a text in double quotes."""
    if character in '"\\':
        return f"\\{character}"
    return character if character.isprintable() else character.encode("unicode_escape").decode()


def _paths(content: Any, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the path of every key; items of a list count as one more level, as dvc.lock indents them."""
    if isinstance(content, dict):
        for key, value in content.items():
            yield (*above, str(key))
            yield from _paths(value, (*above, str(key)))
    elif isinstance(content, list):
        for value in content:
            yield from _paths(value, (*above, "-"))


def _survives_dvc_lock(path: tuple[str, ...]) -> bool:
    """Return whether the last key of the path is read back from YAML as DVC writes it (ruamel.yaml, its defaults)."""
    nested: Any = ""
    for key in reversed((*_ABOVE_SECTIONS, *path)):
        nested = {key: nested}
    lock, out = YAML(), StringIO()
    lock.default_flow_style = False
    lock.dump(nested, out)
    try:
        return bool(YAML(typ="safe").load(out.getvalue()) == nested)
    except YAMLError:
        return False


class _Constructor(SafeConstructor):
    def construct_object(self, node: Node, deep: bool = False) -> Any:  # noqa: FBT001, FBT002 (ruamel.yaml's signature)
        try:
            value = super().construct_object(node, deep)
            if isinstance(value, int):
                str(value)  # fails for a hexadecimal number of more digits than Python prints
        except (ValueError, OverflowError, LookupError) as error:  # such as 2024-13-45, or !!int abc
            kind = str(node.tag).rpartition(":")[2]
            raise _problem(f"{str(node.value)[:_QUOTED]!r} is no {kind}: {str(error)[:200]}", node) from None
        return value

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:  # noqa: FBT001, FBT002
        lines: dict[str, int] = {}
        merged = len(getattr(node, "merge", None) or [])  # keys that `<<` has put in front may be overridden
        for key, _ in node.value[merged:]:
            if not isinstance(key, ScalarNode):
                raise _problem("a list or an object can't be a key", key)
            if key.tag not in (_TEXT, _MERGE):
                raise _problem(f"the key {key.value!r} is not read as text; write it in quotes", key)
            if key.value in lines:
                raise _problem(f"the key {key.value!r} is duplicated, first in line {lines[key.value]}", key)
            lines[key.value] = key.start_mark.line + 1
        return super().construct_mapping(node, deep)


class _Representer(SafeRepresenter):
    def represent_str(self, data: str) -> Any:
        style = None if is_read_as_text(data) else "'"
        return self.represent_scalar(_TEXT, data, style='"' if _LINE_BREAKS_OF_1_1.search(data) else style)

    def represent_float(self, data: float) -> Any:
        node = super().represent_float(data)
        if "e" in node.value and "." not in node.value:
            node.value = node.value.replace("e", ".0e")  # 1e-05 is text in YAML 1.1
        return node


_Representer.add_representer(str, _Representer.represent_str)
_Representer.add_representer(float, _Representer.represent_float)


def _require_shallow(text: str, name: str) -> None:
    """Refuse nesting that would overflow the stack of libyaml, which ends the process."""
    level = 0
    for event in YAML(typ="safe").parse(text):
        level += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        if level > _DEEPEST:
            where = f"{name}, line {event.start_mark.line + 1}"
            raise ParamsError(f"{where}: nested more than {_DEEPEST} levels deep")


def _require_bounded(content: Any, name: str) -> None:
    """Refuse aliases that repeat themselves or too much: reading the values would not end."""
    for count, level in enumerate(_levels(content, 1)):
        if level > _DEEPEST:
            raise ParamsError(f"{name}: nested more than {_DEEPEST} levels deep, or an alias repeats itself")
        if count > _MOST_VALUES:
            raise ParamsError(f"{name}: more than {_MOST_VALUES:,} values, with those that aliases repeat")


def _levels(value: Any, level: int) -> Iterator[int]:
    """Yield the level of a value and of each one in it."""
    yield level
    for inside in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _levels(inside, level + 1)


def _located(error: MarkedYAMLError, text: str, name: str) -> str:
    mark = error.problem_mark or error.context_mark
    where = f"{name}, line {mark.line + 1}, column {mark.column + 1}"
    problem = ", ".join(filter(None, (error.context, error.problem)))
    is_tab = text[mark.index : mark.index + 1] == "\t"
    return f"{where}: {problem}{' (a tab; indent with spaces)' if is_tab else ''}"


def _problem(text: str, node: Node) -> ConstructorError:
    return ConstructorError(None, None, text, node.start_mark)
