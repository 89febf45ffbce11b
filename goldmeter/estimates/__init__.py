"""Score tables and estimates: columns with their facts, agreement with human labels, reports/metrics.json."""
