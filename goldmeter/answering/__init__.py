"""Candidates with a model: questions become requests, and replies become data/answer."""
