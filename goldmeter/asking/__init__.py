"""Asking a model behind a server: requests with keys, dispatch, budget, plan, batches, and what the ledger has."""
