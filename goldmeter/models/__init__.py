"""Models that stages call: encoders, clients of chat and decision models, the offline judge."""
