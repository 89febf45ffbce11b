"""The meaning of settings and metrics, from models, docstrings and defaults: for docs/reference and for a terminal."""
