"""Importing this judges a row: kernels, model and word list are then there for forked processes."""

from tasks.models.offline.verdict import judge

judge(["a?"], [["a warm-up"]], ["A warm-up."])
