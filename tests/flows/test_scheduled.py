"""What a scheduled run hands to the night that it starts in the worktree."""

import logging
from pathlib import Path
from textwrap import dedent

import pytest

from flows import scheduled as module

NIGHT = """
    import json, sys
    from pathlib import Path
    from tasks.ledger import root

    Path(sys.argv[3]).write_text(json.dumps({"ok": True, "sentence": str(root())}))
"""


@pytest.mark.parametrize("ledger", ["../ours/ledger", "/shared/ledger", None])
def test_the_ledger_is_the_one_of_the_checkout(
    ledger: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout, tree = tmp_path / "checkout", tmp_path / "deep/inside/tree"
    checkout.mkdir()
    (tree / "flows").mkdir(parents=True)
    (tree / "flows/__init__.py").touch()
    (tree / "flows/nightly.py").write_text(dedent(NIGHT))
    monkeypatch.chdir(checkout)
    monkeypatch.setenv("PYTHONPATH", str(Path(module.__file__).parents[1]))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.delenv("GOLDMETER_LEDGER", raising=False)
    if ledger is not None:
        monkeypatch.setenv("GOLDMETER_LEDGER", ledger)
    monkeypatch.setattr(module, "get_run_logger", lambda: logging.getLogger("test"))

    outcome = module._compute("nightly", tree)

    assert Path(outcome.sentence).resolve() == (checkout / (ledger or ".goldmeter/ledger")).resolve()
