"""What a stage reads is compared with dvc.lock: one flipped bit stops the next stage with the file's name."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from goldmeter.errors import ContractError, DataError
from goldmeter.pipeline import contents
from goldmeter.pipeline.dvc_yaml import stages
from goldmeter.pipeline.yaml import load_yaml
from goldmeter.runner import run
from tests.small_project import ROOT, ROWS, edit, files, make, only_words, write

REPORT = Path("reports/validation/normalize.json")


@pytest.fixture(autouse=True)
def run_by_dvc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DVC_STAGE", "any")


def run_and_lock(*names: str) -> None:
    """Run stages, and write what they read and wrote to dvc.lock, as DVC does."""
    from dvc.utils.serialize import dump_yaml

    locked = load_yaml(Path("dvc.lock"))["stages"] if Path("dvc.lock").exists() else {}
    for name in names:
        run(name)
        entry = stages()[name]
        locked[name] = {
            key: [
                {"path": path, "hash": "md5", "md5": contents.dvc_hash(Path(path))}
                for path in paths
                if Path(path).exists()
            ]
            for key, paths in (("deps", entry.deps), ("outs", entry.outs))
        }
        dump_yaml("dvc.lock", {"schema": "2.0", "stages": locked})


def flip(path: Path, bit: int) -> None:
    content = bytearray(path.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)


def some_bits(path: Path, number: int = 40) -> Iterator[int]:
    size = 8 * path.stat().st_size
    return iter([0, size - 1, *np.random.default_rng(0).choice(size, number).tolist()])


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the tables of two stages in four parts and their dvc.lock, to be copied."""
    folder = tmp_path_factory.mktemp("normalized")
    make(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        edit(lambda p: (only_words(p), p["load"].update(part_rows=6)))
        run_and_lock("load", "normalize")
    return folder


@pytest.fixture
def normalized(project: Path, template: Path) -> Path:
    shutil.copytree(template, project, dirs_exist_ok=True)
    return project


@pytest.mark.usefixtures("normalized")
@pytest.mark.parametrize("path", [Path("data/normalize/part-00002.parquet"), REPORT])
def test_every_flipped_bit_is_found(path: Path) -> None:
    out = str(path if path == REPORT else path.parent)
    for bit in some_bits(path):
        flip(path, bit)
        with pytest.raises(DataError, match=rf"^{out}: damaged.*tasks verify"):
            contents.require_whole([out])
        flip(path, bit)

    contents.require_whole([out])


@pytest.mark.usefixtures("normalized")
def test_a_stage_refuses_a_damaged_part_unless_it_is_told_not_to_look(monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path("data/normalize/part-00001.parquet")
    before = path.read_bytes()
    path.write_bytes(before.replace(b"goldmeter", b"goldmetes"))  # the footer, which no page checksum covers

    with pytest.raises(DataError, match=r"data/normalize: damaged"):
        run("lexical")

    assert not Path("data/lexical").exists()
    edit(lambda p: p["run"].update(verify=False))
    run("lexical")
    edit(lambda p: p["run"].update(verify=True))
    monkeypatch.delenv("DVC_STAGE")  # run by hand
    run("lexical")


@pytest.mark.usefixtures("normalized")
def test_files_are_named_where_dvc_has_a_list_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    hashed = contents.dvc_hash(Path("data/normalize"))
    listed = [{"md5": contents.md5_of(path), "relpath": path.name} for path in sorted(Path("data/normalize").iterdir())]
    copy = Path("cache", hashed[:2], hashed[2:])
    copy.parent.mkdir(parents=True)
    copy.write_text(json.dumps(listed))
    monkeypatch.setattr(contents, "cache_folder", lambda _: Path("cache"))
    flip(Path("data/normalize/part-00000.parquet"), 80)
    Path("data/normalize/part-00001.parquet").rename("data/normalize/part-00009.parquet")

    assert contents.damages("data/normalize", hashed) == [
        "data/normalize/part-00000.parquet: damaged, its content is not what was written",
        "data/normalize/part-00001.parquet: missing",
        "data/normalize/part-00009.parquet: not of this table: its stage has not written it",
    ]
    with pytest.raises(DataError, match=r"^data/normalize/part-00000.parquet: damaged.*\(and 2 more\)"):
        contents.require_whole(["data/normalize"])
    flip(copy, 3)
    assert contents.damages("data/normalize", hashed) == [
        "data/normalize: damaged, its content is not what was written"
    ]


@pytest.mark.usefixtures("normalized")
def test_a_dvc_lock_that_dvc_is_writing_for_another_stage_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Path("dvc.lock").read_text()
    md5 = contents.dvc_hash(Path("data/normalize"))
    states = ["", whole[: whole.rindex(md5) + 20], whole, whole]
    monkeypatch.setattr(contents, "_text", lambda _: states.pop(0))

    contents.require_whole(["data/normalize"])

    assert states == []


def test_the_lines_of_dvc_lock_are_read_as_its_yaml() -> None:
    listed = load_yaml(ROOT / "dvc.lock")["stages"]

    lock = contents._parse((ROOT / "dvc.lock").read_text("utf-8"))

    assert lock.outs == {out["path"]: out["md5"] for stage in listed.values() for out in stage["outs"]}
    assert lock.deps == {
        out["path"]: {dep["path"]: dep["md5"] for dep in stage["deps"]}
        for stage in listed.values()
        for out in stage["outs"]
    }


@pytest.mark.long
@pytest.mark.usefixtures("project")
def test_a_flipped_bit_of_a_manifest_or_of_a_part_in_storage_stops_the_next_stage(tmp_path: Path) -> None:
    (tmp_path / "storage").mkdir()
    edit(lambda p: p["run"].update(storage=str(tmp_path / "storage")))
    run_and_lock("load", "normalize")
    manifest = Path("data/normalize/manifest.json")
    sound, expected = manifest.read_bytes(), files("data/normalize")

    for bit in some_bits(manifest, 30):
        flip(manifest, bit)
        with pytest.raises(DataError, match=r"data/normalize: damaged"):
            run("lexical")
        manifest.write_bytes(sound)

    part = tmp_path / "storage" / json.loads(sound)["parts"][0]["path"]
    for bit in some_bits(part, 10):
        flip(part, bit)
        with pytest.raises(DataError, match=f"{part.name}: damaged"):
            run("lexical")
        flip(part, bit)
    assert files("data/normalize") == expected


@pytest.fixture
def of_two_runs(normalized: Path) -> Path:
    """The tables of load of one run beside those of normalize and lexical of an earlier one."""
    run_and_lock("lexical")
    write(normalized, ROWS[:-1])
    run_and_lock("load")
    return normalized


@pytest.mark.usefixtures("of_two_runs")
def test_a_table_made_from_another_than_is_there_is_named_by_the_stage_that_reads_it() -> None:
    with pytest.raises(DataError, match=r"^data/normalize: of another run than data/load, .*`dvc repro` brings"):
        run("lexical")
    with pytest.raises(DataError, match=r"of another run than data/load"):
        contents.require_one_run(["data/load", "data/lexical"])

    run_and_lock("normalize")
    with pytest.raises(DataError, match=r"^data/lexical: of another run than data/normalize"):
        contents.require_one_run(["data/load", "data/lexical"])

    run_and_lock("lexical")
    contents.require_one_run(["data/load", "data/lexical"])


@pytest.mark.usefixtures("of_two_runs")
def test_the_same_content_is_of_the_same_run_and_verify_skips_the_check(project: Path) -> None:
    edit(lambda params: params["run"].update(verify=False))
    run("lexical")
    edit(lambda params: params["run"].update(verify=True))

    write(project, ROWS)
    run_and_lock("load")
    run("lexical")


@pytest.mark.usefixtures("of_two_runs")
def test_a_stage_that_fails_leaves_tables_that_can_still_be_checked(project: Path) -> None:
    run_and_lock("normalize")
    edit(lambda params: params["load"].update(max_rejected=0.0))
    write(project, [*ROWS, ROWS[0]])

    with pytest.raises(ContractError):
        run("load")

    assert not json.loads(Path("reports/validation/load.json").read_text())["success"]
    contents.require_whole(["data/load", "data/load_rejected", "data/normalize"])
    contents.require_one_run(["data/load", "data/normalize"])


def test_what_dvc_lock_states_and_is_not_there_is_missing(tmp_path: Path) -> None:
    out = "reports/metrics.json"
    lock = f"schema: '2.0'\nstages:\n  aggregate:\n    outs:\n    - path: {out}\n      md5: {'0' * 32}\n"
    (tmp_path / "dvc.lock").write_text(lock, encoding="utf-8")

    with pytest.raises(DataError, match=rf"^{out}: missing; "):
        contents.problem_if_newer(out, tmp_path)
