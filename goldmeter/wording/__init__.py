"""Facts of comparisons and runs as types, and every sentence about a number, made from them."""
