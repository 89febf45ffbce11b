"""YAML in which a key that stands twice, or is no text, is an error with its line, not a value silently lost."""

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml
from yaml.constructor import ConstructorError

from tasks.errors import ParamsError

TEXT, MERGE = "tag:yaml.org,2002:str", "tag:yaml.org,2002:merge"


def load_yaml(path: Path) -> Any:
    """The one document of a file. Raises ParamsError with the line of what is wrong."""
    try:
        loader = _Loader(path.read_text(encoding="utf-8"))
        return loader.get_single_data()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{path}, line {mark.line + 1}, column {mark.column + 1}" if mark else str(path)
        during = f" {error.context}" if error.context else ""
        raise ParamsError(f"{where}: {error.problem}{during}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ParamsError(f"{path}: not readable as YAML: {str(error).splitlines()[0]}") from None
    except RecursionError:
        raise ParamsError(f"{path}: not readable as YAML: nested too deep") from None


class _Loader(yaml.SafeLoader):
    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:  # noqa: FBT001, FBT002 (as in PyYAML)
        try:
            return super().construct_object(node, deep)
        except UnicodeEncodeError:
            raise _problem("half of a surrogate pair is no text", node) from None
        except ValueError as error:  # 2024-13-45 is no date
            raise _problem(str(error), node) from None

    def construct_scalar(self, node: Any) -> Any:
        value = super().construct_scalar(node)
        str(value).encode()  # no table can hold half of a surrogate pair
        return value

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Hashable, Any]:  # noqa: FBT001, FBT002
        lines: dict[str, int] = {}
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise _problem("a list or an object can't be a key", key)
            if key.tag not in (TEXT, MERGE):
                raise _problem(f"the key {key.value!r} is not read as text; write it in quotes", key)
            if key.value in lines:
                raise _problem(f"the key {key.value!r} stands twice, first in line {lines[key.value]}", key)
            lines[key.value] = key.start_mark.line + 1
        return super().construct_mapping(node, deep)


def _problem(text: str, node: yaml.Node) -> ConstructorError:
    return ConstructorError(None, None, text, node.start_mark)
