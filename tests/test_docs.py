"""README and docs/ hang together: links, commands, paths of params.yaml, and the reference that code makes."""

import doctest
import re
import shlex
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.metrics.catalogue import metric_class
from goldmeter.pipeline import params as stated_params
from goldmeter.pipeline.defaults import PATH
from goldmeter.pipeline.dvc_yaml import stages
from goldmeter.pipeline.yaml import load_yaml, parse_yaml
from goldmeter.reference import allowed, markdown
from goldmeter.reference import command as reference_command
from scripts.reference import commands, files
from tests.documents import PAGES, README, anchors, blocks, links, without_blocks
from tests.documents import commands as commands_of
from tests.small_project import ROOT, settings

EVERY_BLOCK = [(page, block) for page in PAGES for block in blocks(page)]
COMMANDS = sorted({each.line for _, block in EVERY_BLOCK if block.kind == "console" for each in commands_of(block)})
INLINE = sorted({each for page in PAGES for each in re.findall(r"`((?:python -m|make) [^`]+)`", without_blocks(page))})
REFERENCE = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "docs/reference").glob("*.md")}


parser_of = cache(commands.parser_of)


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


def test_every_link_leads_somewhere() -> None:
    every = [(page, path, anchor) for page in PAGES for path, anchor in links(page)]

    assert [f"{named(page)}: {path}#{anchor}" for page, path, anchor in every if not leads_to(page, path, anchor)] == []


def leads_to(page: Path, path: str, anchor: str) -> bool:
    target = (page.parent / path).resolve() if path else page
    return target.exists() and (not anchor or anchor in anchors(target))


def test_every_link_for_language_models_leads_to_a_page() -> None:
    text = (ROOT / "llms.txt").read_text(encoding="utf-8")
    pages = {named(page) for page in PAGES} | {"goldmeter/project/files/AGENTS.md"}

    assert set(re.findall(r"\]\(([^)]+)\)", text)) <= pages
    assert text.count("](") > 5


def test_every_page_is_reached_from_the_readme() -> None:
    found, todo = {README}, [README]
    while todo:
        page = todo.pop()
        near = {(page.parent / path).resolve() for path, _ in links(page) if path.endswith(".md")} - found
        found |= near
        todo += near

    assert set(PAGES) - found == set()


def test_every_message_that_is_explained_is_one_of_ours() -> None:
    tables = (ROOT / "docs/how-to/troubleshooting.md").read_text(encoding="utf-8").split("<!-- errors -->")[1:]
    messages = [message for table in tables for message in re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)]
    sources = [path for name in ("goldmeter", "tasks", "flows") for path in (ROOT / name).rglob("*.py")]
    code = "".join(path.read_text(encoding="utf-8") for path in sources)

    assert len(messages) > 20
    assert [message for message in messages if message not in code] == []


def test_every_command_names_what_there_is() -> None:
    assert [line for line in COMMANDS + INLINE if not names_what_there_is(shlex.split(line, comments=True))] == []


def names_what_there_is(words: list[str]) -> bool:
    if words[0] == "make":
        return f"| `make {words[1]}` |" in REFERENCE["commands"]
    if words[:2] != ["python", "-m"]:
        return True
    given = {word.partition("=")[0] for word in words[3:] if word.startswith("--")}
    return find_spec(words[2]) is not None and given <= {"--list", *options(words[2], words[3:])}


def options(module: str, words: list[str]) -> set[str]:
    """The options of the command and of the subcommands that the words name."""
    if module == "flows" or (module.startswith(("benchmarks", "scripts")) and "offline_judge" not in module):
        return {"--rows"} if module == "benchmarks" else set()
    parser = parser_of(module)
    found = {option for action in parser.arguments for option in action.option_strings}
    for word in words:
        if word in parser.commands:
            _, parser = parser.commands[word]
            found |= {option for action in parser.arguments for option in action.option_strings}
    return found


def test_every_path_of_params_that_is_named_exists() -> None:
    path = re.compile(rf"`({'|'.join(stated_params.models())})((?:\.\w+)+)[`:=]")
    found = [(page, *each) for page in PAGES for each in path.findall(without_blocks(page))]

    wrong = [f"{named(page)}: {first}{rest}" for page, first, rest in found if not is_param(first, rest[1:].split("."))]
    assert wrong == []


def is_param(section: str, steps: list[str]) -> bool:
    if section in {"lexical", "semantic"}:
        return set(steps[1:]) <= set(metric_class(section, steps[0]).model_fields)
    if (section, steps[0]) in {("run", "retries"), ("run", "timeouts"), ("run", "judge")}:  # by stage, by model
        steps = steps[:2] if steps[0] == "judge" else steps[:1]
    return f"| `{'.'.join([section, *steps])}` |" in REFERENCE["params"]


def test_settings_in_the_documentation_are_accepted() -> None:
    content = settings()
    # A metric that the reader writes is tested where it is written.
    texts = [block.text for _, block in EVERY_BLOCK if block.kind == "yaml" and "lexical" not in block.mark]

    for name, options in (section for text in texts for section in parse_yaml(text).items()):
        model = stated_params.models()[name]
        stated_params.section(model, content | {name: _changed(content[name], options)}, name)


def _changed(section: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """A section of params.yaml with other options, also of run.judge; all else is taken whole."""
    inner = {"judge": section["judge"] | options["judge"]} if {"judge"} <= {*section} & {*options} else {}
    return section | options | inner


def test_python_in_the_documentation_parses() -> None:
    for page, block in EVERY_BLOCK:
        if block.kind == "python":
            compile(block.text, named(page), "exec")


@pytest.mark.parametrize("name", ["metrics", "params"])
def test_every_option_has_a_meaning(name: str) -> None:
    rows = [line for line in REFERENCE[name].splitlines() if re.match(r"\| `[\w.]+` \|.*\|$", line)]
    silent = [line for line in rows if line.endswith("| – |") and "its options" not in line and line.count(" | ") == 3]

    assert rows
    assert [line.split("`")[1] for line in silent] == []


def test_every_stage_and_every_table_is_in_the_reference() -> None:
    for stage in stages().values():
        assert f"\n| `{stage.name}` | " in REFERENCE["files"]
        assert all(f"`data/{table}`" in REFERENCE["files"] for table in stage.tables_written)


def test_the_readme_lists_what_ci_may_install() -> None:
    installed = re.findall(r"apt-get install (.*)", (ROOT / ".ci/run").read_text(encoding="utf-8"))
    packages = [word for line in installed for word in line.split() if not word.startswith("-")]

    assert packages
    assert all(f"`{package}`" in README.read_text(encoding="utf-8") for package in packages)


def test_params_are_read_as_yaml_reads_them() -> None:
    found, raw = reference_command.stated(PATH.read_text(encoding="utf-8")), load_yaml(PATH)

    for path, line in found.items():
        value: Any = raw
        for step in path.split("."):
            value = value[step]
        if not isinstance(value, dict) or line.value:
            assert parse_yaml(line.value or "null") == value


@given(cells=st.lists(st.text(), min_size=1, max_size=4))
def test_no_text_breaks_out_of_its_cell(cells: list[str]) -> None:
    head, line, *rows = markdown.table([str(i) for i in range(len(cells))], [cells]).split("\n")

    assert len(rows) == 1
    assert len(re.findall(r"(?<!\\)\|", rows[0])) == len(re.findall(r"\|", head)) == line.count("|")
    assert "<" not in "".join(rows[0].split("`")[::2])


def test_examples_of_the_generator() -> None:
    modules = (allowed, commands, files, markdown, reference_command)

    assert sum(doctest.testmod(module).failed for module in modules) == 0
