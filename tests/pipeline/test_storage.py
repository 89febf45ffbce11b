"""Parts in storage: a folder here, S3 in tests/pipeline/test_s3_storage.py."""

import hashlib
import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from goldmeter import runner
from goldmeter.errors import DataError, ParamsError
from goldmeter.pipeline.run import Run
from goldmeter.pipeline.storage import _REMEDY, Manifest, Storage, StoredPart, manifest_of
from goldmeter.pipeline.tables import Parts
from goldmeter.runner import run
from tests.small_project import edit, files, make, only_words, settings

STAGES = ("load", "normalize")


def store(folder: Path | None, part_rows: int = 8) -> None:
    if folder and not folder.exists():
        folder.mkdir()
    edit(lambda p: (p["load"].update(part_rows=part_rows), p["run"].update(storage=folder and str(folder), workers=1)))


def evaluate() -> dict[str, list[pa.Table]]:
    for stage in STAGES:
        run(stage)
    return {stage: list(Parts(Path("data", stage))) for stage in STAGES}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose tables of two stages are in storage, to be copied."""
    folder = tmp_path_factory.mktemp("stored")
    make(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        edit(only_words)
        store(folder / "storage")
        evaluate()
    return folder


@pytest.fixture
def stored(project: Path, template: Path) -> Path:
    """The address of a storage that has the tables of two stages."""
    shutil.copytree(template, project, dirs_exist_ok=True)
    for file in (*project.glob("data/*/manifest.json"), project / "params.yaml"):
        file.write_text(file.read_text().replace(str(template), str(project)))
    return project / "storage"


@pytest.mark.usefixtures("project")
def test_tables_in_storage_are_those_of_the_project(tmp_path: Path) -> None:
    store(None)
    here, in_files = evaluate(), files("data/normalize")
    reports = files("reports")

    store(tmp_path / "storage")
    there = evaluate()

    assert all(one.equals(other) for stage in STAGES for one, other in zip(here[stage], there[stage], strict=True))
    assert [*files("data/normalize")] == ["data/normalize/manifest.json"]
    assert files("reports") == reports
    manifest = manifest_of(Path("data/normalize"))
    assert [Path(manifest.storage, part.path).read_bytes() for part in manifest.parts] == [*in_files.values()]
    assert [part.rows for part in manifest.parts] == [8, 8, 4]
    for part, content in zip(manifest.parts, in_files.values(), strict=True):
        assert part.md5 == hashlib.md5(content, usedforsecurity=False).hexdigest()
        assert part.path == f"parts/md5/{part.md5[:2]}/{part.md5[2:]}"
        assert part.size == len(content)
    assert not [*Path(manifest.storage).rglob("*.tmp")]


@pytest.mark.usefixtures("stored")
def test_a_table_in_storage_is_read_like_one_in_files() -> None:
    table = Parts(Path("data/normalize"))

    assert len(table) == 3
    assert table.sizes == [8, 8, 4]
    assert table.rows == len(table.whole(["id"])) == 20
    assert table.schema.names == table.part(1).schema.names
    assert table.subset(range(1, 3)).whole(["id"])["id"].to_pylist() == [
        *table.part(1)["id"].to_pylist(),
        *table.part(2)["id"].to_pylist(),
    ]
    assert table.take(["id"], [9])[9]["id"] == table.part(1)["id"][1].as_py()


@pytest.mark.usefixtures("stored")
def test_what_is_in_storage_stays_where_it_is_when_the_option_changes() -> None:
    store(None)

    run("lexical")

    assert [*files("data/lexical")] == [f"data/lexical/part-{number:05d}.parquet" for number in range(3)]
    assert [*files("data/normalize")] == ["data/normalize/manifest.json"]


def _remove(part: Path) -> None:
    part.unlink()


def _flip(part: Path) -> None:
    content = bytearray(part.read_bytes())
    content[60] ^= 255  # in the page of the ids
    part.write_bytes(content)


def _empty(part: Path) -> None:
    part.write_bytes(b"")


@pytest.mark.parametrize(("harm", "said"), [(_remove, "not found"), (_flip, "damaged"), (_empty, "damaged")])
def test_a_harmed_part_is_one_sentence_and_changes_no_table(
    stored: Path, harm: Callable[[Path], None], said: str
) -> None:
    path = stored / manifest_of(Path("data/normalize")).parts[2].path
    harm(path)

    with pytest.raises(DataError) as caught:
        run("lexical")

    assert str(caught.value) == f"{path}: {said}; {_REMEDY}"
    assert not Path("data/lexical").exists()
    run("normalize")
    assert Parts(Path("data/normalize")).whole().num_rows == 20


def test_a_storage_that_is_a_file_changes_no_table(stored: Path) -> None:
    before = files("data")
    blocked = stored / "file"
    blocked.touch()
    store(blocked)

    with pytest.raises(
        DataError, match=r"^storage /.*/file/parts/md5/.*: not found .*; create the bucket or folder, or mount it"
    ):
        run("normalize")

    assert files("data") == before


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PermissionError(13, "Permission denied"), "permission denied"),
        (OSError(28, "No space left on device"), "No space left on device"),
    ],
)
def test_a_storage_that_takes_nothing_changes_no_table(
    error: OSError, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = files("data")

    def refuse(*_: object) -> None:
        raise error

    monkeypatch.setattr(Storage, "_write", refuse)

    with pytest.raises(DataError, match=rf"^storage /.*{said}"):
        run("normalize")

    assert files("data") == before


def test_storage_whose_package_is_not_installed_is_one_sentence() -> None:
    with pytest.raises(ParamsError, match=r"run.storage: gs://bucket can't be used: .*gcsfs"):
        Storage("gs://bucket").put(b"", 0)


def test_a_folder_that_is_not_mounted_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"not found .*; create the bucket or folder"):
        Storage(str(tmp_path / "not mounted")).put(b"", 0)

    assert not (tmp_path / "not mounted").exists()


@pytest.mark.usefixtures("stored")
def test_a_column_that_is_not_there_is_no_fault_of_the_storage() -> None:
    with pytest.raises(DataError, match="can't be read as a table: No match for FieldRef"):
        Parts(Path("data/load")).part(0, ["no such"])


@pytest.mark.usefixtures("stored")
def test_all_parts_of_a_run_go_where_the_option_pointed_at_its_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = runner.write_part

    def change_the_option(*arguments: Any) -> None:
        written(*arguments)
        store(tmp_path / "another")

    monkeypatch.setattr(runner, "write_part", change_the_option)

    run("normalize")

    assert manifest_of(Path("data/normalize")).storage != str(tmp_path / "another")
    assert Parts(Path("data/normalize")).whole().num_rows == 20
    assert not [*(tmp_path / "another").iterdir()]


@pytest.mark.parametrize(
    ("address", "is_one"),
    [
        ("/mnt/team/tables", True),
        ("s3://bucket/tables", True),
        ("s3://bucket", True),
        ("abfs://container/tables", True),
        ("sftp://host/tables", False),
        ("https://host/tables?sig=abc", False),
        ("s3://bucket?versionId=1", False),
        ("tables", False),
        ("../tables", False),
        ("s3://key:secret@bucket/tables", False),
        ("bucket:tables", False),
        ("simplecache::s3://bucket", False),
        ("", False),
        ("/", False),
    ],
)
def test_addresses(address: str, is_one: bool) -> None:
    content = settings()["run"] | {"storage": address}

    if is_one:
        assert Run(**content).storage == address
    else:
        with pytest.raises(ValidationError):
            Run(**content)


NAME = f"parts/md5/ab/{'c' * 30}"
PART = MappingProxyType({"path": NAME, "rows": 1, "size": 2, "md5": "abcd"})
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just(dict(PART)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*PART, "format", "x"]), inner),
)
documents = st.fixed_dictionaries(
    {
        "storage": st.sampled_from(["/tables", "s3://b"]) | st.text(),
        "rows": st.integers() | json_values,
        "parts": json_values | st.lists(st.just(dict(PART))),
    }
)


@given(content=st.binary() | (documents | json_values).map(lambda value: json.dumps(value).encode()))
def test_a_manifest_is_read_or_refused(content: bytes) -> None:
    with suppress(DataError):
        manifest = Manifest.parse(content, "manifest.json")
        assert json.loads(manifest.model_dump_json()) == {"format": 1} | json.loads(content)


def test_a_manifest_is_read_as_it_was_written(tmp_path: Path) -> None:
    manifest = Manifest.of("/tables", [StoredPart(**PART)] * 2)

    manifest.write(tmp_path / "manifest.json")

    assert manifest_of(tmp_path) == manifest
    assert manifest.rows == 2


def test_a_part_is_new_when_it_is_written_again(tmp_path: Path) -> None:
    storage = Storage(str(tmp_path))
    path = tmp_path / storage.put(b"content", 1).path
    before = path.stat().st_ino

    storage.put(b"content", 1)

    assert path.stat().st_ino != before


@pytest.mark.parametrize("path", ["../../etc/passwd", "/etc/passwd", "parts/md5/ab/../../../x", f"{NAME}\n"])
def test_parts_are_below_the_storage(path: str) -> None:
    content = {"storage": "/tables", "rows": 1, "parts": [{**PART, "path": path}]}

    with pytest.raises(DataError, match=r"manifest.json: not a manifest of this version: parts.0.path"):
        Manifest.parse(json.dumps(content).encode(), "manifest.json")
