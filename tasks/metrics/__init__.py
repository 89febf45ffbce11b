"""Metrics of your own, by family."""
