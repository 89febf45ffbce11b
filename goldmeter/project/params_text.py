"""Edits of params.yaml as text, so that comments and everything else in it stay as they are."""

from collections.abc import Sequence

from ruamel.yaml import YAML
from ruamel.yaml.nodes import CollectionNode, MappingNode, Node


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

    def add(self, path: str, source: "ParamsText") -> bool:
        """Copy the lines of a setting to the end of its section; returns whether the section has room for it."""
        setting, section = source.find(path), self._section(path.rpartition(".")[0])
        if not setting or section is None or section.flow_style or not section.value:
            return False
        copied = source.text[slice(*source.lines_of(setting))]
        indent = section.value[0][0].start_mark.column - setting[0].start_mark.column
        line_end = "\r\n" if "\r\n" in self.text else "\n"
        lines = [_moved(line.rstrip("\r"), indent) for line in copied.removesuffix("\n").split("\n")]
        at = self._end(*section.value[-1])
        before = "" if self.text[:at].endswith("\n") else line_end
        self._replace(at, at, before + "".join(line + line_end for line in lines))
        return True

    def _replace(self, start: int, end: int, text: str) -> None:
        self.text = f"{self.text[:start]}{text}{self.text[end:]}"

    def _end(self, key: Node, value: Node) -> int:
        """Where the line after a setting begins."""
        at = _last(key, value)
        if self.text[:at].endswith("\n"):  # a block of text ends where the next line begins
            return at
        return (self.text.find("\n", at) + 1) or len(self.text)

    def _section(self, path: str) -> MappingNode | None:
        """The mapping at a path; "" is the whole."""
        setting = self.find(path) if path else (None, YAML(typ="safe", pure=True).compose(self.text))
        return setting[1] if setting and isinstance(setting[1], MappingNode) else None


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
