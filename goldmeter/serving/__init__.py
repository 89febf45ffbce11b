"""Scheduled runs: the Prefect flow, the run in a git worktree of its own, and the report of its outcome."""
