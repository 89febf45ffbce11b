"""The packages of the project as Markdown, each with the first line of its `__init__` docstring."""

import ast
from pathlib import Path

from goldmeter.reference.markdown import code, sentence, table

ORDER = (
    "console", "pipeline", "statistics", "text", "ledger", "models", "system", "metrics", "versions", "asking",
    "estimates", "dataset", "wording", "comparison", "judging", "answering", "reporting", "history", "labelling",
    "exports", "project", "reference", "serving",
)  # fmt: skip
"""Packages of goldmeter/ from those that import nothing of ours to those that import most; a test compares the map."""


def packages() -> str:
    """One row a package: where it lies, and what it is for."""
    rows = [
        *([code(f"goldmeter/{name}/"), purpose(Path("goldmeter", name))] for name in ORDER),
        [code("tasks/"), purpose(Path("tasks"))],
        [code("flows/"), purpose(Path("flows"))],
    ]
    return table(["package", "purpose"], rows)


def purpose(package: Path) -> str:
    """The first line of a package's docstring."""
    text = (package / "__init__.py").read_text(encoding="utf-8")
    return sentence((ast.get_docstring(ast.parse(text)) or "").partition("\n")[0])
