"""The user's records: settings, sources, mapping, table; and the proposal of a mapping."""
