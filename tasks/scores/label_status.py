"""Whether a human label is of the row's answer, as the label file says; column `label_status` of data/load."""

# Null: there is no label, or the label file does not say which answer was labelled.
CONFIRMED, STALE = "confirmed", "stale"
