"""Metrics scored by a judge: one module each, with its prompt beside it."""
