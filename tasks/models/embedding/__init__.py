"""Encoders of texts as vectors: the bundled model, another local one, or a server."""
