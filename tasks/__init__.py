"""What is computed: one module per stage, and below them the pure parts (metrics, statistics) and the models."""

import os

# Nothing here, and nothing that is imported from here, may call home or look for a hub.
for _name, _value in {
    "DO_NOT_TRACK": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_OFFLINE": "1",
    "GX_ANALYTICS_ENABLED": "false",
    "TOKENIZERS_PARALLELISM": "false",
}.items():
    os.environ.setdefault(_name, _value)
