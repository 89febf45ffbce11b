"""Comparison of two versions or candidates: paired rows, differences, changed rows, the release gate."""
