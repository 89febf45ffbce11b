"""Scheduled runs: serving them, and one run in a worktree of its own, with what it decides and tells."""
