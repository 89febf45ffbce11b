"""What the numbers were measured on: processor, memory, versions of what is compared."""

import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil

COMPARED = (
    "nltk", "rouge-score", "rapidfuzz", "sentence-transformers", "torch",
    "numba", "numpy", "pyarrow", "pandas", "great-expectations", "dvc",
)  # fmt: skip
NATIVE_BF16 = ("avx512_bf16", "amx_bf16", "bf16")
"""Flags of processors that multiply bfloat16 themselves (x86; the last one: Arm)."""
GIB = 2**30


def facts() -> dict[str, Any]:
    """The machine and the versions of the libraries compared."""
    return {
        "cpu": _said("model name") or platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / GIB, 1),
        "native_bf16": native_bf16(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": {name: version(name) for name in COMPARED},
    }


def native_bf16() -> bool:
    """Whether the processor says that it multiplies bfloat16 itself; False where it says nothing."""
    flags = (_said("flags") or _said("Features")).split()
    return any(flag in flags for flag in NATIVE_BF16)


def _said(name: str) -> str:
    """What Linux says of the first core; empty elsewhere."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.partition(":")[0].strip() == name), "")
