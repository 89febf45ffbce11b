"""What `--json` prints: one object on standard output; docs/reference/json.md has the fields of each command."""

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from datetime import datetime
from pathlib import Path
from typing import Any

from goldmeter.console.arguments import Parser
from goldmeter.console.terminal import write_markup

# Raised when a field is renamed, removed or means something else; new fields leave it.
SCHEMA = 1


def add_json(parser: Parser) -> None:
    """Add the option."""
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def print_json(document: Mapping[str, Any]) -> None:
    """Print a result; a NamedTuple in it is an object, a path or a time a text."""
    write_markup(json.dumps({"schema": SCHEMA} | _values(document), indent=1, allow_nan=False) + "\n")


@contextmanager
def texts_to_stderr(*, is_json: bool) -> Iterator[None]:
    """Keep standard output for the object, if there will be one."""
    with redirect_stdout(sys.stderr if is_json else sys.stdout):
        yield


def _values(value: Any) -> Any:
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {name: _values(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [*map(_values, value)]
    return value.isoformat() if isinstance(value, datetime) else str(value) if isinstance(value, Path) else value
