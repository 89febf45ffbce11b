"""Compare what two checkouts computed: `python -m scripts.same_numbers BEFORE AFTER`; exit 1 when a number differs.

Two files are the same when their bytes are, or when they differ only in the hash of the offline judge's code, which is
part of its signature (`code:` and 12 hexadecimal digits), and would differ after any edit of that code.
"""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq

OUTPUTS = ("data/[!.]*/**/*", "reports/metrics.json", "reports/summary.json", "reports/plots/*")
INPUTS = ("data/examples",)
LINEAGE = re.compile(rb"code:[0-9a-f]{12}")


def main(arguments: Sequence[str]) -> int:
    """Print a line for each file; returns 1 when one differs or stands in one folder only."""
    before, after = map(Path, arguments)
    names = sorted({*_outputs(before), *_outputs(after)})
    verdicts = {name: _compared(before / name, after / name) for name in names}
    for name, verdict in verdicts.items():
        print(f"{verdict:<36}{name}")
    different = [name for name, verdict in verdicts.items() if not verdict.startswith("identical")]
    print(f"{len(names)} files, {len(different)} different")
    return 1 if different or not names else 0


def _outputs(folder: Path) -> list[str]:
    found = (path for pattern in OUTPUTS for path in folder.glob(pattern) if path.is_file())
    names = (path.relative_to(folder).as_posix() for path in found)
    return [name for name in names if not name.startswith(INPUTS) and not name.endswith(".gitignore")]


def _compared(before: Path, after: Path) -> str:
    if not (before.exists() and after.exists()):
        return "in one folder only"
    if before.read_bytes() == after.read_bytes():
        return "identical"
    return "identical but for the code's hash" if _content(before) == _content(after) else "DIFFERENT"


def _content(path: Path) -> object:
    """What a file says, without the hash of code."""
    if path.suffix != ".parquet":
        return LINEAGE.sub(b"code:", path.read_bytes())
    table = pq.read_table(path)
    metadata = {key: LINEAGE.sub(b"code:", value) for key, value in (table.schema.metadata or {}).items()}
    columns = [LINEAGE.sub(b"code:", str(column.to_pylist()).encode()) for column in table.columns]
    return table.schema.remove_metadata().to_string(), metadata, columns


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
