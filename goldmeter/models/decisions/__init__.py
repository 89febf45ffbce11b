"""Decision models: statements about a text in, the probability of each out."""
