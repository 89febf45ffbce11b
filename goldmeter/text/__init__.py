"""Texts as arrays: tokenizers, token ids, normalisation, stems, WordNet, kernels."""
