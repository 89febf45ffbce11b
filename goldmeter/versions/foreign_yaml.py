"""How much YAML of a commit expands to when DVC reads it: a stranger's can be built to fill the memory."""

from collections.abc import Iterator, Mapping
from math import prod
from posixpath import dirname, join, normpath
from typing import Any

from goldmeter.errors import ParamsError
from goldmeter.pipeline import git, yaml

# What DVC may read as YAML, of the whole repository.
_FILES = (":(top,glob)**/*.yaml", ":(top,glob)**/*.yml", ":(top,glob)**/*.dvc", ":(top,glob)**/dvc.lock")
# What expands: aliases, and what dvc.yaml repeats.
_MARKS = ("*", "matrix", "foreach", "${")
_PIPELINE, _PARAMS = "dvc.yaml", "params.yaml"
# The most stages that the dvc.yaml of a commit may repeat, and the characters of them.
MOST_STAGES, MOST_CHARS = 10_000, 100_000_000


def require_bounded(commit: str) -> None:
    """Check what DVC reads of a commit before it does; whether it is valid is left to DVC.

    Raises:
        ParamsError: A file is nested too deep, or its aliases or stages expand to too much.
    """
    patterns = (argument for mark in _MARKS for argument in ("-e", mark))
    listed = git.run("grep", "-l", "-z", "-a", "--full-name", "--fixed-strings", *patterns, commit, "--", *_FILES)
    stages = chars = 0
    for name in (place.partition(":")[2] for place in filter(None, listed.stdout.split("\0"))):
        text = _text(commit, name)
        yaml.require_bounded(text, name)
        if name.rpartition("/")[2] == _PIPELINE:
            for copies, size in _expanded(commit, name, text):
                stages, chars = stages + copies, chars + copies * size
            if stages > MOST_STAGES or chars > MOST_CHARS:
                raise ParamsError(
                    f"{name}: matrix, foreach and ${{…}} expand to more than {MOST_STAGES:,} stages or "
                    f"{MOST_CHARS:,} characters; compare a commit that names its stages"
                )


def _expanded(commit: str, name: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield how often each stage of a dvc.yaml is repeated, at most, and the characters of one of them."""
    content = yaml.parse_yaml(text, name)
    stages = content.get("stages") if isinstance(content, dict) else None
    bodies = [body for body in stages.values() if isinstance(body, dict)] if isinstance(stages, dict) else []
    if len(bodies) > MOST_STAGES:
        yield len(bodies), 0
        return
    values = [text, *_values(commit, dirname(name), [content, *bodies])]
    longest_text, longest_list = max(map(len, values)), max(map(_longest_list, values))
    for body in bodies:
        written = repr(body)
        copies = max(1, prod(_items(axis, longest_list) for axis in _axes(body)))
        yield copies, len(written) + written.count("${") * longest_text


def _axes(body: Mapping[str, Any]) -> list[Any]:
    matrix = body.get("matrix")
    return [*(matrix.values() if isinstance(matrix, dict) else []), *([body["foreach"]] if "foreach" in body else [])]


def _items(axis: Any, longest_list: int) -> int:
    """The items of an axis; of one that ${…} names, those of the longest list that it can be."""
    return len(axis) if isinstance(axis, list | dict) else longest_list


def _values(commit: str, folder: str, bodies: list[Any]) -> Iterator[str]:
    """Yield the text of each file that ${…} takes values from."""
    given = [body.get("vars") for body in bodies if isinstance(body, dict)]
    files = [file for names in given if isinstance(names, list) for file in names if isinstance(file, str)]
    for name in dict.fromkeys(normpath(join(folder, file.partition(":")[0])) for file in [_PARAMS, *files]):
        yield _text(commit, name)


def _longest_list(text: str) -> int:
    """The items of the longest list or object in a text; the characters of one that is not YAML as we read it."""
    try:
        return _longest_in(yaml.parse_yaml(text, ""))
    except ParamsError:
        return len(text)


def _longest_in(value: Any) -> int:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return max([len(value) if isinstance(value, list | dict) else 0, *map(_longest_in, inside)])


def _text(commit: str, name: str) -> str:
    """The content of a file of a commit, by its path from the top; empty without it."""
    done = git.run("cat-file", "blob", f"{commit}:{name}")
    return done.stdout if done.returncode == 0 else ""
