"""Preload for forked processes: importing it judges two rows, which compiles kernels and loads model and word list."""

from goldmeter.models.offline.verdict import judge

judge(["a?"] * 2, [["a warm-up"], ["1 km"]], ["A warm-up.", "1 m"])
