"""Flow runs: Prefect's server, names, records, artifacts; and scheduled runs, each in a git worktree of its own."""
