"""Metrics of your own that compare vectors of texts: one module each, named as in section `semantic` of params.yaml."""
