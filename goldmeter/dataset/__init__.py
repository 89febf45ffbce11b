"""The user's records: settings, sources, mapping, table."""
