"""Processes that run on their own, die with their parent, and never run twice: locks, timeouts, the Prefect server."""
