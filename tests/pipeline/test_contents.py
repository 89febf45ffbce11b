"""What stages wrote is checked before it is read: one flipped bit stops the next stage with the file's name."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tasks.errors import DataError
from tasks.pipeline import contents
from tasks.pipeline.dvc_yaml import stages
from tasks.runner import run
from tests.small_project import ROWS, edit, files, write

REPORT = Path("reports/validation/normalize.json")


def flip(path: Path, bit: int) -> None:
    content = bytearray(path.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)


def some_bits(path: Path, number: int = 40) -> Iterator[int]:
    size = 8 * path.stat().st_size
    return iter([0, size - 1, *np.random.default_rng(0).choice(size, number).tolist()])


@pytest.fixture
def normalized(project: Path) -> Path:
    edit(lambda p: p["load"].update(part_rows=6))
    for stage in ("load", "normalize"):
        run(stage)
    return project


@pytest.mark.usefixtures("normalized")
def test_whole_outputs_pass() -> None:
    assert contents.damages(["data/load", "data/load_rejected", "data/normalize", str(REPORT)]) == []
    assert len(contents.stated("data/normalize")) == 4


@pytest.mark.usefixtures("normalized")
@pytest.mark.parametrize("path", [Path("data/normalize/part-00002.parquet"), REPORT])
def test_every_flipped_bit_is_found(path: Path) -> None:
    for bit in some_bits(path):
        flip(path, bit)
        with pytest.raises(DataError, match=str(path)):
            contents.require_whole(["data/normalize"])
        flip(path, bit)

    contents.require_whole(["data/normalize"])


@pytest.mark.usefixtures("normalized")
def test_a_stage_refuses_a_damaged_part_unless_it_is_told_not_to_look() -> None:
    path = Path("data/normalize/part-00001.parquet")
    before = path.read_bytes()
    at = before.rindex(b"goldmeter")  # the footer, which no page checksum covers
    path.write_bytes(before[: at + 20] + bytes([before[at + 20] ^ 1]) + before[at + 21 :])

    with pytest.raises(DataError, match=r"part-00001\.parquet: damaged.*tasks verify"):
        run("lexical")

    assert not Path("data/lexical").exists()
    edit(lambda p: p["run"].update(verify=False))
    path.write_bytes(before)
    run("lexical")


@pytest.mark.usefixtures("normalized")
def test_a_missing_and_a_foreign_part_are_found() -> None:
    Path("data/normalize/part-00001.parquet").rename("data/normalize/part-00009.parquet")

    assert contents.damages(["data/normalize"]) == [
        "data/normalize/part-00001.parquet: missing",
        "data/normalize/part-00009.parquet: not of this table: its stage has not written it",
    ]


@pytest.mark.usefixtures("normalized")
def test_a_table_of_an_older_version_is_read_unchecked() -> None:
    report = json.loads(REPORT.read_text())
    del report["files"], report["sha256"]
    REPORT.write_text(json.dumps(report))

    assert contents.damages(["data/normalize", str(REPORT)]) == []
    REPORT.unlink()
    assert contents.damages(["data/normalize", str(REPORT)]) == []


def test_a_stage_that_fails_leaves_tables_that_can_still_be_checked(project: Path) -> None:
    run("load")
    write(project, [*ROWS[:5], *(row | {"references": []} for row in ROWS[5:])])

    with pytest.raises(ValueError, match="not written"):
        run("load")

    assert not json.loads(Path("reports/validation/load.json").read_text())["success"]
    assert len(contents.stated("data/load")) == 1
    assert contents.damages(["data/load", "data/load_rejected"]) == []


@pytest.mark.long
@pytest.mark.usefixtures("project")
def test_a_flipped_bit_of_a_manifest_or_of_a_part_in_storage_stops_the_next_stage(tmp_path: Path) -> None:
    (tmp_path / "storage").mkdir()
    edit(lambda p: p["run"].update(storage=str(tmp_path / "storage")))
    for stage in ("load", "normalize"):
        run(stage)
    manifest = Path("data/normalize/manifest.json")
    sound, expected = manifest.read_bytes(), files("data/normalize")

    for bit in some_bits(manifest, 30):
        if 0 <= bit // 8 - sound.index(b'"md5"') < 44:  # nothing reads it: the path says the same
            continue
        flip(manifest, bit)
        with pytest.raises(ValueError, match=r"manifest|storage|damaged|not found"):
            run("lexical")
        manifest.write_bytes(sound)

    part = tmp_path / "storage" / json.loads(sound)["parts"][0]["path"]
    for bit in some_bits(part, 10):
        flip(part, bit)
        with pytest.raises(DataError, match=f"{part.name}: damaged"):
            run("lexical")
        flip(part, bit)
    assert files("data/normalize") == expected


def test_every_output_that_a_stage_reads_is_stated_by_a_report(project: Path) -> None:  # noqa: ARG001 (dvc.yaml)
    read = {dep for entry in stages().values() for dep in entry.deps if dep.startswith(("data/", "reports/"))}
    made = {out for entry in stages().values() for out in entry.outs}

    assert {dep for dep in read & made if contents.maker_of(dep) is None} == set()


@pytest.mark.parametrize("damage", ['"success": 1e999', '"success": "\\ud800"'])
@pytest.mark.usefixtures("normalized")
def test_a_damaged_report_that_no_json_can_repeat_is_named(damage: str) -> None:
    REPORT.write_text(REPORT.read_text().replace('"success": true', damage))

    with pytest.raises(DataError, match=r"normalize\.json: damaged"):
        contents.require_whole(["data/normalize"])
