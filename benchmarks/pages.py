"""Pages of docs/: tables in Markdown, and what stands between the marks of a page."""

from collections.abc import Iterable, Sequence


def grid(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown."""
    return "\n".join([_row(heads), "|---" * len(heads) + "|", *map(_row, rows)])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def block(page: str, mark: str) -> str:
    """What stands between the marks `<!-- mark -->` and `<!-- /mark -->`."""
    return page.partition(f"<!-- {mark} -->")[2].partition(f"<!-- /{mark} -->")[0].strip()


def rewritten(page: str, content: str, mark: str) -> str:
    """The page with a content between its marks, if it has them."""
    begin, end = f"<!-- {mark} -->", f"<!-- /{mark} -->"
    head, found, rest = page.partition(begin)
    return f"{head}{begin}\n{content}\n{end}{rest.partition(end)[2]}" if found and end in rest else page
