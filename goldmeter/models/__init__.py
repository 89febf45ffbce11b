"""Models that stages call: encoders, the chat client, the offline judge."""
