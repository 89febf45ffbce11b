"""Processes of a flow: timeouts, locks, the Prefect server, and the end of all that a flow started."""
