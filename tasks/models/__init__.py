"""Models that a stage asks: encoders, the chat client, the bundled judge."""
