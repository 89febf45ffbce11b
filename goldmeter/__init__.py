"""How often are a model's answers right, and how sure is that? The library; `tasks` and `flows` are the project."""

import os

# No library that is imported below may send telemetry or contact a model hub.
for _name, _value in {
    "DO_NOT_TRACK": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_OFFLINE": "1",
    "GX_ANALYTICS_ENABLED": "false",
    "TOKENIZERS_PARALLELISM": "false",
}.items():
    os.environ.setdefault(_name, _value)
