"""The settings as Markdown, for docs/reference/params.md."""

from goldmeter.reference.settings import sections

__all__ = ["sections"]
