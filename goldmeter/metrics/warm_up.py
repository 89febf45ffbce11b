"""Preload for forked processes: importing it compiles kernels and loads tables by scoring one pair with each metric."""

from contextlib import suppress

from goldmeter.errors import GoldmeterError
from goldmeter.metrics.catalogue import configure, names
from goldmeter.metrics.pairs import Pairs
from goldmeter.text.normalization import normalize

for _name in names("lexical"):
    with suppress(GoldmeterError):  # the stage reports the error if it uses the metric
        configure("lexical", _name, {}).stats(Pairs.of(["a warm-up."], ["a warm-up."]))

normalize("a warm-up.")  # finds the characters that it deletes
