"""Metrics that compare strings and tokens: one module each, its one Metric class inside."""
