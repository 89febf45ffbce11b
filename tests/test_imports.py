"""An import changes nothing in the process but the environment variables that `goldmeter` and `flows` set."""

import json
import os
import subprocess
import sys

import pytest

from tests.small_project import ROOT

# Records who of ours calls a function that changes the process, while every module is imported.
SCRIPT = """
import codecs, json, pkgutil, signal, sys, warnings
from importlib import import_module

calls = []

def recorded(module, name):
    original = getattr(module, name)

    def call(*args, **options):
        caller = sys._getframe(1).f_globals.get("__name__", "")
        if caller.split(".")[0] in ("goldmeter", "tasks", "flows"):
            calls.append(f"{caller}: {module.__name__}.{name}")
        return original(*args, **options)

    setattr(module, name, call)

for module, names in (
    (codecs, ["register", "register_error"]),
    (warnings, ["filterwarnings", "simplefilter", "resetwarnings"]),
    (signal, ["signal"]),
):
    for name in names:
        recorded(module, name)
hook, imported = sys.excepthook, []
for package in ("goldmeter", "tasks", "flows"):
    for found in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
        import_module(found.name)
        imported.append(found.name)
if sys.excepthook is not hook:
    calls.append("sys.excepthook")
print(json.dumps([imported, calls]))
"""


@pytest.mark.long
def test_an_import_installs_no_hook_handler_or_filter() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=True,
    )

    imported, calls = json.loads(done.stdout.splitlines()[-1])
    assert {"goldmeter.console.terminal", "flows.evaluate", "flows.init"} <= {*imported}
    assert calls == []
