"""What numba compiles: every kernel for one type of each argument."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import goldmeter.text.kernels

KERNELS = sorted(Path(goldmeter.text.kernels.__file__).parent.glob("[a-z]*.py"))
COMPILED = f"""
from importlib import import_module

import pyarrow as pa
from numba.core.dispatcher import Dispatcher

from goldmeter.metrics.catalogue import configure, metric_class, names
from goldmeter.metrics.pairs import Pairs

texts, lists = pa.array(["zero", "a.", None, "x y"]), pa.array([["r"], ["s", "t u"], ["é"], []], pa.list_(pa.string()))
columns = [([], []), ([None], [[]]), ([""], [[""]]), (['"2 東 cars."'], ["auto's."])]
several = [Pairs.of(*each) for each in columns]
several += [Pairs(texts.slice(1, 2), lists.slice(1, 2)), Pairs(texts, lists, normalized=(texts, lists.flatten()))]
for name in names("lexical"):
    for profile in ["default", *metric_class("lexical", name).profiles]:
        for pairs in several:
            configure("lexical", name, {{"profile": profile}}).stats(pairs)
for module in {[f"goldmeter.text.kernels.{path.stem}" for path in KERNELS]}:
    for name, kernel in vars(import_module(module)).items():
        if isinstance(kernel, Dispatcher) and len(kernel.signatures) > 1:
            print(module, name, *kernel.signatures, sep="\\n")
"""


@pytest.mark.exhaustive
@pytest.mark.parametrize("cached", [True, False])
def test_arrays_of_any_text_are_of_one_type_to_a_kernel(cached, tmp_path):
    """Nothing is compiled twice. With a cache only the kernels that Python calls are seen, without one all of them."""
    environment = os.environ | ({} if cached else {"NUMBA_CACHE_DIR": str(tmp_path)})

    done = subprocess.run([sys.executable, "-c", COMPILED], env=environment, capture_output=True, text=True, check=True)

    assert done.stdout == ""
