"""Metrics of your own that a judge decides by more than a prompt: one module each, its prompt beside it."""
