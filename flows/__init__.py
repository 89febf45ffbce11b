"""When it is computed: Prefect flows over the stages of dvc.yaml. The only importer of prefect."""

import os
import sys
from types import TracebackType

# Set before prefect is imported anywhere, and inherited by its server and by dvc: none of them calls home.
for _name, _value in {
    "DO_NOT_TRACK": "1",
    "DVC_NO_ANALYTICS": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
}.items():
    os.environ.setdefault(_name, _value)


def _interrupted_at_once(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Ctrl-C while a command's modules are imported, which takes seconds, is told as it is later."""
    if not issubclass(kind, KeyboardInterrupt):
        _before(kind, error, trace)
        return
    from tasks.console.terminal import INTERRUPTED, complain

    complain("interrupted")
    os._exit(INTERRUPTED)  # Python's own exit status for it is 1 where a module was run by its name


_before, sys.excepthook = sys.excepthook, _interrupted_at_once
