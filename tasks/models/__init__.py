"""Models that stages ask: the only way from a stage to a network."""
