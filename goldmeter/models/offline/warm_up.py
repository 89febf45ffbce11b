"""Preload for forked processes: importing it judges one row, which compiles kernels and loads model and word list."""

from goldmeter.models.offline.verdict import judge

judge(["a?"], [["a warm-up"]], ["A warm-up."])
