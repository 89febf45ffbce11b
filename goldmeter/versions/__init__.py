"""Versions of the project: commits and experiments, their tables, their evidence, their cost."""
