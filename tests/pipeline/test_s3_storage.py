"""Tables whose parts are in S3, on loopback: the bytes of files, and what a user sees when it is gone."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from s3fs import S3FileSystem

from goldmeter.errors import DataError, StorageError
from goldmeter.pipeline.storage import Storage, manifest_of
from goldmeter.pipeline.tables import Parts
from goldmeter.runner import run
from goldmeter.versions import stored_parts
from tests import s3_server
from tests.comparison.repository import git
from tests.small_project import edit, files

pytestmark = pytest.mark.exhaustive
ADDRESS, SECRET = "s3://tables/team", "secret-of-the-storage"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with s3_server.serving("tables") as address:
        yield address


@pytest.fixture(autouse=True)
def _environment(project: Path, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(project))
    monkeypatch.setenv("AWS_ENDPOINT_URL", server)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "id")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    S3FileSystem.clear_instance_cache()  # with the environment of the last test
    set_up(storage=ADDRESS)


def set_up(**options: object) -> None:
    edit(lambda p: (p["load"].update(part_rows=8), p["run"].update({"workers": 1, **options})))


@pytest.mark.parametrize("options", [{}, {"workers": 2, "engine": "dask"}], ids=["this process", "cluster"])
def test_a_table_is_that_of_files(options: dict[str, object]) -> None:
    set_up(storage=None)
    for stage in ("load", "normalize"):
        run(stage)
    expected, reports = files("data/normalize"), files("reports")

    set_up(storage=ADDRESS, **options)
    for stage in ("load", "normalize"):
        run(stage)

    manifest = manifest_of(Path("data/normalize"))
    storage = Storage(manifest.storage)
    assert manifest.storage == ADDRESS
    assert [storage.files.cat_file(storage.locate(part.path)) for part in manifest.parts] == [*expected.values()]
    assert [*files("data/normalize")] == ["data/normalize/manifest.json"]
    assert files("reports") == reports
    assert SECRET not in Path("data/normalize/manifest.json").read_text()
    assert Parts(Path("data/normalize")).whole(["id"]).num_rows == 20


def test_what_no_version_names_is_found_and_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    from dvc.repo import Repo

    git("init", "-q")
    Repo.init().close()
    run("load")
    monkeypatch.setattr(stored_parts, "KEPT_DAYS", -1)
    storage = Storage(ADDRESS)
    extra = storage.locate(storage.put(b"of no version", 1).path)

    found = stored_parts.collect(remove=True)

    assert found.old.files == found.unnamed.files >= 1
    assert not storage.files.exists(extra)
    assert Parts(Path("data/load")).whole(["id"]).num_rows == 20


@pytest.mark.parametrize(
    ("storage", "change", "kind", "said"),
    [
        ("s3://nowhere/team", {}, DataError, "not found"),
        (ADDRESS, {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, StorageError, "Could not connect"),
        (ADDRESS, {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}, DataError, "permission denied"),
    ],
    ids=["no bucket", "no server", "no key"],
)
def test_storage_that_cannot_be_used_is_one_sentence_and_changes_no_table(
    storage: str, change: dict[str, str], kind: type[Exception], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_up(storage=None)
    for stage in ("load", "normalize"):
        run(stage)
    before = files("data")
    set_up(storage=storage)
    for name, value in change.items():
        monkeypatch.setenv(name, value)
    S3FileSystem.clear_instance_cache()

    with pytest.raises(kind) as caught:
        run("normalize")

    message = str(caught.value)
    assert message.startswith(f"storage {storage}/parts/md5/")
    assert said in message
    assert "\n" not in message
    assert SECRET not in message
    assert files("data") == before


def test_a_bucket_that_vanishes_is_one_sentence_and_the_next_run_goes_on(server: str) -> None:
    run("load")
    before = files("data")
    Storage(ADDRESS).files.rm("tables", recursive=True)

    with pytest.raises(DataError, match=r"s3://tables/team/parts/md5/\S+: not found; "):
        run("normalize")
    assert files("data") == before

    s3_server.make_bucket(server, "tables")
    for stage in ("load", "normalize"):
        run(stage)
    assert manifest_of(Path("data/normalize")).rows == 20
