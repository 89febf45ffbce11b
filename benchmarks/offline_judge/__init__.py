"""Training of the offline judge: human labels, pairs written for the rules, counterfactual pairs, and the model."""
