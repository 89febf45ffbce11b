from hashlib import sha256

from tasks.models.offline import compiling, descent, row_features
from tasks.models.offline.trees import FILE


def test_machine_code_is_as_old_as_the_newest_source_of_the_package():
    """A kernel calls those of other modules: its own source alone would keep what they were."""
    contents = [path.read_bytes() for path in sorted(FILE.parent.glob("*.py"))]
    stamps = {kernel._cache._cache_file._source_stamp for kernel in (row_features.described, descent.added)}

    assert stamps == {compiling.sources()} == {sha256(b"\0".join(contents)).hexdigest()}
