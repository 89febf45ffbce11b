"""Propose which column of your data is what, write it to params.yaml, load, and show the result."""
