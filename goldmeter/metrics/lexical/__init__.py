"""Metrics that compare strings and tokens: one module each."""
