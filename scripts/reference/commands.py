"""The commands as Markdown, drawn from their parsers: the same for any Python version and terminal width."""

import argparse
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

from goldmeter.console.arguments import Parser
from goldmeter.console.terminal import EXIT_STATUSES, STOPPED_BY_GATE
from goldmeter.reference.markdown import code, opening, paragraphs, sentence, table

MAKEFILE = Path("Makefile")
_TARGET = re.compile(r"(?P<target>[a-z-]+):[^#=]*(?:# (?P<says>.*))?")


def parser_of(module: str) -> Parser:
    """The parser of `python -m module`."""
    file = f"{module}.__main__" if module in {"tasks", "benchmarks.offline_judge"} else module
    parser: Parser = importlib.import_module(file).parser()
    return parser


def command(module: str) -> str:
    """A chapter on one command: its arguments, its subcommands, and what those take."""
    return "\n\n".join(_chapter(f"python -m {module}", parser_of(module), "##"))


def exit_statuses() -> str:
    """One row for each exit status, of all commands."""
    return table(["exit status", "meaning"], [[code(status), opening(says)] for status, says in EXIT_STATUSES.items()])


def targets(path: Path = MAKEFILE) -> str:
    """One row a target of the Makefile, with what the comment behind it says."""
    found = filter(None, map(_TARGET.fullmatch, path.read_text(encoding="utf-8").splitlines()))
    return table(["target", "does"], [[code(f"make {each['target']}"), opening(each["says"] or "")] for each in found])


def _chapter(name: str, parser: Parser, level: str, purpose: str = "", above: str | None = None) -> Iterator[str]:
    """A command and its subcommands.

    Args:
        level: Of the heading, in Markdown.
        purpose: What to say of a command without a description.
        above: The epilog that the command above has printed already.
    """
    yield f"{level} {name}"
    yield code(" ".join([name, *map(_usage, parser.arguments), *(["COMMAND"] if parser.commands else [])]))
    yield from map(sentence, filter(None, paragraphs(parser.description or purpose)))
    if parser.arguments:
        yield table(["argument", "meaning"], [[code(_name(one)), _help(one)] for one in parser.arguments])
    if parser.commands:
        rows = [[code(command), sentence(does)] for command, (does, _) in parser.commands.items()]
        yield table(["command", "does"], rows)
    if parser.gate:
        yield sentence(f"Exit status {STOPPED_BY_GATE}: {parser.gate}")
    if parser.epilog != above:
        yield from map(sentence, filter(None, paragraphs(parser.epilog)))
    if parser.examples:
        yield "\n".join(["```", *parser.examples, "```"])
    for command, (does, its_parser) in parser.commands.items():
        if its_parser.arguments or its_parser.commands:
            yield from _chapter(f"{name} {command}", its_parser, f"{level}#", does, parser.epilog)


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
