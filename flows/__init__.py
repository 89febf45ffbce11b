"""When it is computed: Prefect flows over the stages of dvc.yaml. The only importer of prefect."""

import os

# Set before prefect is imported anywhere, and inherited by its server and by dvc: none of them calls home.
for _name, _value in {
    "DO_NOT_TRACK": "1",
    "DVC_NO_ANALYTICS": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
}.items():
    os.environ.setdefault(_name, _value)
