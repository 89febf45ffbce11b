"""Sentences are made of facts and never read again: no code searches or splits a field that is prose."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PROSE = {
    "method", "methods", "reason", "reasons", "sentence", "sentences", "refusal", "note", "verdict", "advice", "by",
    "why", "says", "caution", "cautions", "warning", "warnings",
}  # fmt: skip
"""Names of fields, attributes and variables that hold sentences, or words made for people."""
READS = {"startswith", "endswith", "split", "rsplit", "partition", "rpartition"}
TEMPLATES = "goldmeter/models/offline/verdict.py"
"""Its sentences are templates that it fills in itself."""
FILES = sorted(
    path for root in ("goldmeter", "tasks", "flows") for path in Path(root).rglob("*.py") if str(path) != TEMPLATES
)


def is_prose(expression: ast.expr) -> bool:
    match expression:
        case ast.Attribute(attr=name) | ast.Name(id=name) | ast.Subscript(slice=ast.Constant(value=name)):
            return name in PROSE
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=name), *_]):
            return name in PROSE
        case ast.Call(func=ast.Name(id="str"), args=[inside]):
            return is_prose(inside)
        case ast.BoolOp(values=values):
            return any(map(is_prose, values))
    return False


def reads(source: str) -> Iterator[str]:
    """What reads prose in a source text; splitting at white space, to fold it, is not reading."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr=name), args=[_, *_]) if name in READS:
                if is_prose(value):
                    yield ast.unparse(node)
            case ast.Compare(ops=ops, comparators=compared):
                if any(isinstance(one, ast.In | ast.NotIn) for one in ops) and any(map(is_prose, compared)):
                    yield ast.unparse(node)


@pytest.mark.parametrize(
    "source",
    [
        'measure["difference"]["method"].startswith("designed")',
        'headline["by"].startswith("human labels and ")',
        '(entry.get("note") or "").split("; ")',
        '"measured differently" in refused["reason"]',
        "refused.reason.partition('; ')",
        'str(refused.refusal).endswith("no interval")',
        "x not in sentence",
    ],
)
def test_reading_is_found(source: str) -> None:
    assert len([*reads(source)]) == 1


def test_no_code_reads_a_sentence() -> None:
    found = [f"{path}: {read}" for path in FILES for read in reads(path.read_text(encoding="utf-8"))]

    assert not found
