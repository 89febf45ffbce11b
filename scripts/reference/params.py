"""The settings as Markdown, for docs/reference/params.md."""

from goldmeter.reference.command import sections

__all__ = ["sections"]
