"""Files of records, one module for each format."""
