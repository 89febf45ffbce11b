"""How often are a model's answers right, and how sure is that? The library; `tasks` and `flows` are the project."""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from goldmeter.comparison import compare
    from goldmeter.metrics import accuracy, score, scores

__all__ = ["accuracy", "compare", "score", "scores"]

# No library that is imported below may send telemetry or contact a model hub. Torch's threads wait asleep: other stages
# use the cores.
for _name, _value in {
    "DO_NOT_TRACK": "1",
    "DVC_NO_ANALYTICS": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_OFFLINE": "1",
    "GX_ANALYTICS_ENABLED": "false",
    "TOKENIZERS_PARALLELISM": "false",
    "OMP_WAIT_POLICY": "PASSIVE",
}.items():
    os.environ.setdefault(_name, _value)

# Public name → its module, which is imported when the name is asked for: some take a second.
_PUBLIC = {
    "accuracy": "goldmeter.metrics",
    "compare": "goldmeter.comparison",
    "score": "goldmeter.metrics",
    "scores": "goldmeter.metrics",
}


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PUBLIC[name]), name)
