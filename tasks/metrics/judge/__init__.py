"""Metrics of the judge family: one file, with its prompt beside it, per metric."""
