import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from tasks.models.offline import compiling, quick_scorer

CALLEE = """
    from tasks.models.offline.compiling import compiled

    @compiled
    def amount():
        return {amount}
"""
CALLER = """
    from callee import amount
    from tasks.models.offline.compiling import compiled

    @compiled
    def doubled():
        return 2 * amount()
"""
# argument: the hash of the package's sources
RUN = """
    import sys
    from tasks.models.offline import compiling

    compiling.source_hash = lambda: sys.argv[1]
    from caller import doubled

    print(doubled())
"""


@pytest.mark.long
def test_a_kernel_is_compiled_again_after_a_change_in_a_module_that_it_calls(tmp_path):
    def run(amount: int, sources: str) -> str:
        (tmp_path / "callee.py").write_text(dedent(CALLEE).format(amount=amount))
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(Path.cwd())])}
        environment.pop("NUMBA_CACHE_DIR", None)
        command = [sys.executable, "-c", dedent(RUN), sources]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.strip()

    (tmp_path / "caller.py").write_text(dedent(CALLER))

    assert run(1, "a" * 64) == "2"
    assert run(100, "a" * 64) == "2"  # what Numba does by itself: the caller's own source has not changed
    assert run(100, "b" * 64) == "200"


def test_the_cached_files_of_a_kernel_are_named_after_all_sources():
    assert quick_scorer.summed_leaves.__qualname__ == f"summed_leaves_{compiling.source_hash()[:16]}"
