"""The judge: rows become requests, and replies become verdicts."""
