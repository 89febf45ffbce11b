"""Score tables: how they are written, read back, summed up, and set beside human labels."""
