"""Choose answers for people to label, with the width that their labels will give, and take the labels back."""
