"""The metrics as Markdown, for README and docs/reference/metrics.md."""

from goldmeter.reference.metrics import details, options, overview, tokenizers

__all__ = ["details", "options", "overview", "tokenizers"]
