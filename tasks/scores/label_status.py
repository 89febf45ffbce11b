"""What data/load says beside a human label: whether it is of the row's answer, and how likely the row was chosen."""

# Column `label_status`. Null: there is no label, or the label file does not say which answer was labelled.
CONFIRMED, STALE = "confirmed", "stale"
# Column of each row's probability to be chosen for labelling, with dataset.labels: designed; null: it was not chosen.
PROBABILITY = "label_probability"
