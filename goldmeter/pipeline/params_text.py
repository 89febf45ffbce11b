"""Edits of params.yaml as text, so that comments and everything else in it stay as they are."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.nodes import CollectionNode, MappingNode, Node

from goldmeter.pipeline.yaml import flow, parse_yaml

_NULL = "tag:yaml.org,2002:null"
# The rest of a line; a comment in it goes on in those below that are indented further than any setting.
_REST = re.compile(r"[^#\n]*(?:#.*\n(?:[ ]{16,}#.*(?:\n|\Z))*|\n|\Z)")


class ParamsText:
    """The text of a params.yaml; settings are named by their paths, such as `judge.retest`."""

    def __init__(self, text: str) -> None:
        self.text = text

    def find(self, path: str) -> tuple[Node, Node] | None:
        """Return the key and the value of a setting; None if it is not there."""
        above, _, name = path.rpartition(".")
        section = self._section(above)
        entries: Sequence[tuple[Node, Node]] = section.value if section else []
        return next(((key, value) for key, value in entries if key.value == name), None)

    def lines(self) -> dict[str, tuple[int, bool]]:
        """Return the line of each setting, by its path, and whether it has a value there."""
        return dict(_lines("", YAML(typ="safe", pure=True).compose(self.text)))

    def lines_of(self, setting: tuple[Node, Node]) -> tuple[int, int]:
        """Return where the lines of a setting begin and end, of its key and its value."""
        return self.text.rfind("\n", 0, setting[0].start_mark.index) + 1, self._end(*setting)

    def rename(self, path: str, name: str) -> bool:
        """Give a setting another name in the same place; returns whether it was there, and the name was free."""
        above, _, _ = path.rpartition(".")
        if not (setting := self.find(path)) or self.find(f"{above}.{name}" if above else name):
            return False
        self._replace(setting[0].start_mark.index, setting[0].end_mark.index, name)
        return True

    def remove(self, path: str) -> bool:
        """Remove a setting that has lines of its own; returns whether it had."""
        section = self._section(path.rpartition(".")[0])
        if not (setting := self.find(path)) or section is None or section.flow_style:
            return False
        self._replace(*self.lines_of(setting), "")
        return True

    def rewrite(self, section: str, options: Mapping[str, str]) -> bool:
        """Let a section have these options and no others; lines of values that stay, and all comments on them, stay.

        Args:
            section: Its name.
            options: Name → its lines, as they are in a section of two blanks.

        Returns:
            Whether the section has lines of its own; else nothing is done.
        """
        found = self._section(section)
        if found is None or found.flow_style or not found.value:
            return False
        stated, before = parse_yaml(self.text)[section], ""
        for name, lines in options.items():
            if name not in stated or stated[name] != parse_yaml(lines)[name]:
                self._put(section, name, lines, before)
            before = name
        for name in stated:
            if name not in options:
                self.remove(f"{section}.{name}")
        return True

    def set(self, path: str, value: Any) -> bool:
        """Give an option of a section a value on its line, or None for none; a comment on the line stays.

        Returns:
            Whether it could be done; else the text may have changed.
        """
        section, _, name = path.rpartition(".")
        node, setting = self._section(section), self.find(path)
        if setting is not None and node is not None and not node.flow_style:
            key, old = setting
            start, end = key.end_mark.index + 1, max(key.end_mark.index + 1, _last(key, old))
            text = f" {flow(value)}".rstrip()
            room = re.match(r" *(?=#)", self.text[end:])
            self._replace(start, end + (room.end() if room else 0), _filled(text, end - start, room))
        elif node is not None and not node.flow_style:
            last, _ = node.value[-1]
            self._put(section, name, f"  {name}: {flow(value)}\n", str(last.value))
        else:
            return self._set_in_flow(section, name, value)
        return True

    def _set_in_flow(self, section: str, name: str, value: Any) -> bool:
        """Set an option of a section that is on one line, is empty, or is not there."""
        content, whole = parse_yaml(self.text) or {}, self.find(section)
        options = {**(content.get(section) or {}), name: value}
        if whole is None:
            end = "" if not self.text or self.text.endswith("\n") else "\n"
            self.text += f"{end}{section}: {flow(options)}\n"
            return True
        key, node = whole
        start = key.end_mark.index + 1
        self._replace(start, max(start, _last(key, node)), f" {flow(options)}")
        return True

    def _put(self, section: str, name: str, lines: str, before: str) -> None:
        """Write an option: in the place of its lines, or below those of the option before it."""
        found = self._section(section)
        first = found.value[0][0].start_mark if found else None
        indent = (first.column if first else 2) - 2
        line_end = "\r\n" if "\r\n" in self.text else "\n"
        text = "".join(_moved(line, indent) + line_end for line in lines.splitlines())
        if setting := self.find(f"{section}.{name}"):
            self._replace(*self.lines_of(setting), text)
            return
        above = self.find(f"{section}.{before}") if before else None
        at = self._end(*above) if above else self.text.rfind("\n", 0, first.index if first else 0) + 1
        missing = "" if not at or self.text[:at].endswith("\n") else line_end
        self._replace(at, at, missing + text)

    def _replace(self, start: int, end: int, text: str) -> None:
        self.text = f"{self.text[:start]}{text}{self.text[end:]}"

    def _end(self, key: Node, value: Node) -> int:
        """Where the line after a setting begins, and after lines on which the comment behind it goes on."""
        at = _last(key, value)
        if self.text[:at].endswith("\n"):  # a block of text ends where the next line begins
            return at
        line = _REST.match(self.text, at)
        return line.end() if line else len(self.text)

    def _section(self, path: str) -> MappingNode | None:
        """The mapping at a path; "" is the whole."""
        setting = self.find(path) if path else (None, YAML(typ="safe", pure=True).compose(self.text))
        return setting[1] if setting and isinstance(setting[1], MappingNode) else None


def _lines(path: str, node: Node) -> Iterator[tuple[str, tuple[int, bool]]]:
    for key, value in node.value if isinstance(node, MappingNode) else ():
        here = f"{path}{key.value}"
        yield here, (key.start_mark.line + 1, value.tag != _NULL)
        yield from _lines(f"{here}.", value)


def _filled(text: str, before: int, room: "re.Match[str] | None") -> str:
    """A value as wide as the one before it, so that the comment behind it stays where it is."""
    if room is None:
        return text
    filled = text.ljust(before + room.end())
    return filled if filled.endswith(" ") else f"{filled}  "


def _moved(line: str, indent: int) -> str:
    """A line with more or less indent; one without text, which may be part of a text of several lines, stays."""
    if not line.strip():
        return line
    return " " * indent + line if indent >= 0 else line[-indent:]


def _last(key: Node, value: Node) -> int:
    """Where a setting ends, without comments that follow it; a value that is none has no place of its own."""
    if value.start_mark.index == value.end_mark.index:
        return int(key.end_mark.index)
    if not isinstance(value, CollectionNode) or value.flow_style or not value.value:
        return int(value.end_mark.index)
    last = value.value[-1]
    return _last(*last) if isinstance(value, MappingNode) else _last(last, last)
