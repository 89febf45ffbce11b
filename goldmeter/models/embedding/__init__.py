"""Encoders that turn texts into vectors: the bundled model, another local one, or a server."""
