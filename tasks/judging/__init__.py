"""From rows to requests for a judge, and from its replies to verdicts."""
