"""The commands as Markdown, made of the parsers themselves: the same whatever Python and however wide the terminal."""
# ruff: noqa: SLF001 (argparse has no public name for what a parser takes)

import argparse
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

from scripts.reference.markdown import code, opening, paragraphs, sentence, table

MAKEFILE = Path("Makefile")
_TARGET = re.compile(r"(?P<target>[a-z-]+):[^#=]*(?:# (?P<says>.*))?")


class _FoundError(Exception):
    """Carries a parser out of the main function that made it."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        super().__init__(parser.prog)
        self.parser = parser


def parser_of(module: str) -> argparse.ArgumentParser:
    """The parser that a module's `main` makes; ValueError when it makes none."""

    def caught(parser: argparse.ArgumentParser, *_: object, **__: object) -> None:
        raise _FoundError(parser)

    package = importlib.import_module(module)
    entrance = importlib.import_module(f"{module}.__main__") if hasattr(package, "__path__") else package
    main = getattr(entrance, "main", None)
    if main is None:
        raise ValueError(f"{module}: no main that makes a parser")
    arguments: list[list[str]] = [[]] if inspect.signature(main).parameters else []
    with patch.object(argparse.ArgumentParser, "parse_args", caught):
        try:
            main(*arguments)
        except _FoundError as found:
            return found.parser
    raise ValueError(f"{module}: its main makes no parser")


def command(module: str) -> str:
    """A chapter on one command: its arguments, its subcommands, and what those take."""
    name = f"python -m {module.removesuffix('.__main__')}"
    return "\n\n".join(_chapter(name, parser_of(module), "##"))


def targets(path: Path = MAKEFILE) -> str:
    """One row a target of the Makefile, with what the comment behind it says."""
    found = filter(None, map(_TARGET.fullmatch, path.read_text(encoding="utf-8").splitlines()))
    return table(["target", "does"], [[code(f"make {each['target']}"), opening(each["says"] or "")] for each in found])


def options(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """What a parser takes, without help and subcommands."""
    hidden = (argparse._HelpAction, argparse._SubParsersAction)
    return [each for each in parser._actions if not isinstance(each, hidden) and each.help != argparse.SUPPRESS]


def _chapter(
    name: str, parser: argparse.ArgumentParser, level: str, says: str = "", told: str | None = None
) -> Iterator[str]:
    """A command and its subcommands. says: what the one above says of it; told: the epilog that stands there."""
    yield f"{level} {name}"
    below = _subcommands(parser)
    yield code(" ".join([name, *map(_usage, options(parser)), *(["COMMAND"] if below else [])]))
    yield from map(sentence, filter(None, paragraphs(parser.description or says)))
    if listed := options(parser):
        yield table(["argument", "meaning"], [[code(_name(each)), _help(each)] for each in listed])
    if below:
        yield table(["command", "does"], [[code(each), sentence(does)] for each, _, does in below])
    if parser.epilog != told:
        yield from map(sentence, filter(None, paragraphs(parser.epilog)))
    if examples := getattr(parser, "examples", ()):
        yield "\n".join(["```", *examples, "```"])
    for each, its_parser, does in below:
        if options(its_parser) or _subcommands(its_parser):
            yield from _chapter(f"{name} {each}", its_parser, f"{level}#", does, parser.epilog)


def _subcommands(parser: argparse.ArgumentParser) -> list[tuple[str, argparse.ArgumentParser, str]]:
    """Name, parser and help of each subcommand."""
    return [
        (choice.dest, action.choices[choice.dest], choice.help or "")
        for action in parser._actions
        if isinstance(action, argparse._SubParsersAction)
        for choice in action._choices_actions
    ]


def _usage(action: argparse.Action) -> str:
    text = _name(action).partition(", ")[0]
    if not action.option_strings:
        return {"?": f"[{text}]", "*": f"[{text} …]", "+": f"{text} …"}.get(str(action.nargs), text)
    return text if action.required else f"[{text}]"


def _name(action: argparse.Action) -> str:
    """An option with what it takes, or an argument by its place.

    >>> parser = argparse.ArgumentParser()
    >>> _name(parser.add_argument("--json", nargs="?", metavar="FILE")), _name(parser.add_argument("base"))
    ('--json [FILE]', 'base')
    """
    if not action.option_strings:
        return _metavar(action)
    named = ", ".join(action.option_strings)
    if action.nargs == 0:
        return named
    taken = _metavar(action)
    return f"{named} {f'[{taken}]' if action.nargs == '?' else taken}"


def _metavar(action: argparse.Action) -> str:
    if isinstance(action.metavar, str):
        return action.metavar
    if action.choices:
        return "{" + ",".join(map(str, action.choices)) + "}"
    return action.dest.upper() if action.option_strings else action.dest


def _help(action: argparse.Action) -> str:
    """What the help says, its values filled in."""
    text = (action.help or "").replace("%%", "\0")
    return sentence(re.sub(r"%\((\w+)\)\w", lambda each: str(getattr(action, each[1])), text).replace("\0", "%"))
