"""Settings that commands write as text into params.yaml, where every other line stays."""

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode

from goldmeter.dataset.settings import Dataset
from goldmeter.errors import ParamsError
from goldmeter.pipeline import git, params
from goldmeter.pipeline.defaults import defaults
from goldmeter.pipeline.dvc_yaml import stages
from goldmeter.pipeline.files import replacing
from goldmeter.pipeline.params_text import ParamsText
from goldmeter.pipeline.yaml import escaped, flow, parse_yaml, scalar

NAME, CANDIDATES = "dataset", "candidates"
# Column of the comments.
COLUMN = 32
WIDTH = 122
LONGEST_SHOWN = 40
# Texts that a comment lists.
NAMED = 3


def written(options: Mapping[str, Any], comments: Mapping[str, str], checked: Sequence[str] = ()) -> dict[str, str]:
    """The lines of each option that is not at its default, with its comment; as YAML, they equal the options.

    Args:
        options: Values of the section.
        comments: By option, or by `candidates.NAME`.
        checked: Options with lines even if they are at their default: the user is asked to check them.
    """
    default = defaults()[NAME]
    stated = {name: value for name, value in options.items() if name not in default or value != default[name]}
    stated |= {name: options[name] for name in checked if name in options}
    return {name: _lines(name, value, comments) for name, value in options.items() if name in stated}


def _lines(option: str, value: Any, comments: Mapping[str, str]) -> str:
    lines = [*_commented(f"  {option}: {flow(value)}".rstrip(), comments.get(option, ""))]
    if option == CANDIDATES and all(isinstance(columns, Mapping) for columns in value.values()):
        lines = [*_commented(f"  {option}:", comments.get(option, ""))]
        for name, columns in value.items():
            lines += _commented(f"    {scalar(name)}: {flow(columns)}", comments.get(f"{option}.{name}", ""))
    return "\n".join(lines) + "\n"


def written_section(name: str, metrics: Mapping[str, Any], comment: str) -> str:
    """A section of metrics as text: nothing stated for those of the defaults, else on a line, or one a line."""
    if metrics == defaults()[name]:
        return f"{name}:\n"
    line = f"{name}: {flow(metrics)}"
    lines = [line] if len(line) < WIDTH - COLUMN else [f"{name}:", *(f"  {m}: {flow(o)}" for m, o in metrics.items())]
    return "\n".join([*_commented(lines[0], comment), *lines[1:]]) + "\n"


def rewritten(content: str, options: Mapping[str, str]) -> str:
    """params.yaml whose section `dataset` has these options; other lines, and comments on lines of their own, stay.

    Args:
        content: The text of the file.
        options: As from `written`.

    Raises ParamsError when the section does not stand by itself, so that changing it would change others.
    """
    section, text = f"{NAME}:\n{''.join(options.values())}", ParamsText(content)
    own = parse_yaml(section)[NAME]
    if not text.rewrite(NAME, options) or not _is(text.text, parse_yaml(content), own):
        return replaced(content, section)
    return text.text


def replaced(content: str, section: str, name: str = NAME) -> str:
    """params.yaml with this text in place of its section of this name; every other character stays.

    Raises ParamsError when the section does not stand by itself, so that replacing it would change others.
    """
    start, end = _span(content, name)
    lines = "\r\n" if "\r\n" in content else "\n"
    changed = content[:start] + section.replace("\n", lines) + content[end:]
    own = parse_yaml(section)[name]
    if not _is(changed, parse_yaml(content), own, name):
        raise ParamsError(f"params.yaml: section {name} can't be replaced where it stands; write by hand:\n\n{section}")
    return changed


def with_value(content: str, path: tuple[str, str], value: Any) -> str:
    """params.yaml with this value of an option; its comment and every other character stay.

    Raises ParamsError when the section does not stand by itself.
    """
    section, option = path
    before, text = parse_yaml(content) or {}, ParamsText(content)
    stated = before.get(section) or {}
    if stated.get(option, defaults()[section].get(option)) == value:
        return content
    if text.set(f"{section}.{option}", value) and _is(text.text, before, {**stated, option: value}, section):
        return text.text
    raise ParamsError(
        f"params.yaml: {section}.{option} can't be replaced where it stands; write by hand: {flow(value) or 'none'}"
    )


def shown(text: str, longest: int = LONGEST_SHOWN) -> str:
    """A text of the data as a comment or a message shows it: on one line, nothing invisible, cut."""
    return scalar(text) if len(text) <= longest else f"{scalar(text[:longest])}…"


def quoted(text: str, longest: int = LONGEST_SHOWN) -> str:
    """The same, always in quotes."""
    return f'"{"".join(map(escaped, text[:longest]))}"{"…" * (len(text) > longest)}'


def first(texts: Sequence[str]) -> str:
    """The first few of the distinct texts, in quotes."""
    distinct = [*dict.fromkeys(texts)]
    return ", ".join(map(quoted, distinct[:NAMED])) + (", …" if len(distinct) > NAMED else "")


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


def _is(changed: str, before: Any, own: Any, name: str = NAME) -> bool:
    """Whether a text has this section of that name, and all others as before."""
    try:
        return bool(parse_yaml(changed) == {**(before or {}), name: own})
    except ParamsError:
        return False


def write_dataset(options: Mapping[str, Any], section: Mapping[str, str]) -> str | None:
    """Change the section in params.yaml; returns git's hash of the former file, if git did not have it.

    Args:
        options: Its values, which are checked first.
        section: The lines of each option that is to be stated.
    """
    params.raw()  # raises if it is missing, or is no YAML
    params.section(Dataset, {NAME: dict(options)}, NAME)
    file = params.PATH.resolve()
    content = file.read_bytes().decode()
    changed = rewritten(content, section)
    if changed == content:
        return None
    kept = _kept(content)
    write_params(changed)
    return kept


def write_params(content: str) -> None:
    """Replace params.yaml, with its mode, where it is."""
    file = params.PATH.resolve()
    with replacing(file) as temporary:
        temporary.write_bytes(content.encode())
        shutil.copymode(file, temporary)


def tables_in(folder: str) -> list[str]:
    """Return the tables of the pipeline in a folder, sorted; none for a file."""
    if not Path(folder).is_dir():
        return []
    return sorted(out for stage in stages().values() for out in stage.outs if Path(folder) in [*Path(out).parents])


def is_tracked(path: str) -> bool:
    """Return whether git or DVC tracks the data, or a stage writes them."""
    above = [Path(path), *Path(path).parents]
    by_dvc = any(Path(f"{folder}.dvc").is_file() for folder in above if folder.name)
    outs = {out for stage in stages().values() for out in stage.outs}
    tracked = git.run("--literal-pathspecs", "ls-files", "--error-unmatch", "--", path)
    return by_dvc or any(folder.as_posix() in outs for folder in above) or tracked.returncode == 0


def _kept(content: str) -> str | None:
    """Store the text in git, unless git has it; returns its hash. Raises ParamsError if git can't store it."""
    hashed = git.run("hash-object", "--stdin", feed=content).stdout.strip()
    if hashed and git.answer("cat-file", "-e", hashed) is not None:
        return None
    kept = git.run("hash-object", "-w", "--stdin", feed=content)
    if kept.returncode:
        raise ParamsError(
            f"{params.PATH}: git can't save the present file: `git init`, or write section {NAME} by hand"
        )
    return kept.stdout.strip()
