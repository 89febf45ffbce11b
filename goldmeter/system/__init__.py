"""Processes that a command starts: their timeouts and locks, and the end of all of them."""
