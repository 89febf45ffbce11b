"""Loops over the bytes of records that numba compiles: one kernel per module, as in `tasks.text.kernels`."""
