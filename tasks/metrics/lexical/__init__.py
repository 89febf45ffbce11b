"""Metrics of your own that compare words: one module each, named as in section `lexical` of params.yaml."""
