"""Comparison of two systems on the same rows: what differs, by how much, how sure that is, and which rows changed."""
