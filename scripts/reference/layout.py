"""The packages of the project as Markdown, each with the first line of its `__init__` docstring."""

import ast
from pathlib import Path

from scripts.reference.markdown import code, sentence, table

ORDER = (
    "pipeline", "console", "text", "statistics", "models", "ledger", "metrics", "versions", "scores", "asking",
    "dataset", "wording", "answering", "judging", "comparison", "reporting", "monitoring", "exports",
)  # fmt: skip
"""Packages of tasks/ from those that import nothing of ours to those that import most; a test compares the map."""
FLOWS = ("init", "serving", "system")


def packages() -> str:
    """One row a package: where it lies, and what it is for."""
    stages = "`tasks/*.py`", "The nine stages, one module each, the runner that calls them, and the command line."
    rows = [
        *([code(f"tasks/{name}/"), purpose(Path("tasks", name))] for name in ORDER),
        stages,
        [code("flows/"), purpose(Path("flows"))],
        *([code(f"flows/{name}/"), purpose(Path("flows", name))] for name in FLOWS),
        [code("goldmeter/"), purpose(Path("goldmeter"))],
    ]
    return table(["package", "purpose"], rows)


def purpose(package: Path) -> str:
    """The first line of a package's docstring."""
    text = (package / "__init__.py").read_text(encoding="utf-8")
    return sentence((ast.get_docstring(ast.parse(text)) or "").partition("\n")[0])
