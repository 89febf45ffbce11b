"""A version is whatever git, DVC or a path names; its tables come from the cache, or else from the remote."""

import json
import shutil
import socket
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.errors import VersionError
from goldmeter.versions.version import Version, commit_of, versions
from tests.comparison import repository
from tests.comparison.repository import NOW, TRIED, V1, V2, git
from tests.raw_server import raw_server


@pytest.fixture
def clone(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a copy and of its remote; the current folder is its project."""
    monkeypatch.chdir(repository.copy(template, tmp_path / "clone"))
    return tmp_path / "clone"


def said(one: Version) -> str:
    """The answers of a version, one sign each."""
    signs = {"right": "+", "something else": ".", None: "-"}
    return "".join(signs[text] for text in one.parts("load").whole(["response"])["response"].to_pylist())


@pytest.mark.usefixtures("clone")
def test_tags_commits_branches_experiments_and_the_workspace_are_versions() -> None:
    full = git("rev-parse", "v1")
    names = ["v1", "v2", "HEAD", "HEAD~1", "main", full, full[:8], "try-1", "workspace"]

    with versions(names) as found:
        told = {one.name: said(one) for one in found}

    assert told == {
        "v1": V1, "v2": V2, "HEAD": V2, "HEAD~1": V1, "main": V2, full: V1, full[:8]: V1, "try-1": TRIED,
        "workspace": NOW,
    }  # fmt: skip


@pytest.mark.usefixtures("clone")
def test_the_files_of_the_workspace_are_left_alone_and_fetched_ones_are_removed() -> None:
    with versions(["v1", "workspace"]) as (tag, here):
        path = tag.path("data/load")
        assert path.exists()
        assert said(here) == NOW

    assert not path.exists()
    assert Path("data/load").exists()
    assert git("status", "--porcelain") == ""


@pytest.mark.usefixtures("clone")
def test_an_out_is_fetched_once() -> None:
    with versions(["v1"]) as [one]:
        one.path("data/load")
        shutil.rmtree(".dvc/cache")
        shutil.rmtree("../remote")

        assert said(one) == V1


def test_tables_that_only_a_remote_has_are_found(clone: Path) -> None:
    shutil.rmtree(".dvc/cache")
    shutil.rmtree("data")

    with versions(["v1", "v2"]) as (older, newer):
        assert (said(older), said(newer)) == (V1, V2)
    assert (clone / "remote").exists()


def test_a_remote_that_is_newer_than_the_version_serves_it_too(clone: Path) -> None:
    config = Path(".dvc/config").read_text(encoding="utf-8")
    Path(".dvc/config").write_text("[core]\n    analytics = false\n", encoding="utf-8")
    git("commit", "-q", "-a", "-m", "without a remote")
    Path(".dvc/config.local").write_text(config, encoding="utf-8")
    shutil.rmtree(".dvc/cache")

    with versions(["HEAD"]) as [one]:
        assert said(one) == V2
    assert (clone / "remote").exists()


def test_tables_that_nobody_has_are_an_error_that_says_who_can_help(clone: Path) -> None:
    shutil.rmtree(".dvc/cache")
    shutil.rmtree(clone / "remote")

    with versions(["v1"]) as [one], pytest.raises(VersionError, match=r"v1: its data/load can't be fetched(.|\n)*push"):
        one.parts("load")


@pytest.mark.usefixtures("clone")
def test_another_reason_than_that_nobody_has_them_is_told_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError("disk I/O error at https://me:secret@host/x")

    monkeypatch.setattr("dvc.api.DVCFileSystem.get", full)

    with versions(["v1"]) as [one], pytest.raises(VersionError) as raised:
        one.parts("load")
    assert str(raised.value) == "v1: its data/load can't be fetched: disk I/O error at https://***@host/x"


@pytest.mark.exhaustive
@pytest.mark.usefixtures("clone")
def test_a_remote_that_does_not_answer_is_named_as_the_reason() -> None:
    shutil.rmtree(".dvc/cache")
    config = Path(".dvc/config")
    place = "url = s3://x\n    endpointurl = http://127.0.0.1:9\n    access_key_id = a\n    secret_access_key = b"
    config.write_text(config.read_text(encoding="utf-8").replace("url = ../../remote", place), encoding="utf-8")

    with versions(["v1"]) as [one], pytest.raises(VersionError, match="Could not connect") as raised:
        one.parts("load")
    assert "dvc push" not in str(raised.value)


@pytest.mark.parametrize(("cut", "head", "share"), [("list", True, 0.5), ("list", False, 0.0), ("part", True, 0.0)])
def test_a_remote_that_is_cut_off_in_the_middle_gives_no_table(cut: str, head: bool, share: float, clone: Path) -> None:
    def send(connection: socket.socket, _: object) -> None:
        method, target, *_ = server.requests[-1].split()
        path = clone / "remote" / target.decode().lstrip("/")
        content = path.read_bytes() if path.is_file() else b""
        status = b"200 OK" if path.is_file() else b"404 Not Found"
        whole = b"HTTP/1.1 %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % (status, len(content))
        if path.is_file() and (path.suffix == ".dir") == (cut == "list") and method != b"HEAD":
            whole, content = whole * head, content[: int(len(content) * share)]
        connection.sendall(whole + (content if method != b"HEAD" else b""))

    shutil.rmtree(".dvc/cache")
    with raw_server(send) as server:
        config = Path(".dvc/config")
        here = config.read_text(encoding="utf-8").replace("url = ../../remote", f"url = {server.url}")
        config.write_text(here, encoding="utf-8")
        with versions(["v1"]) as [one], pytest.raises(VersionError, match=r"^v1: its data/load can't be fetched: "):
            one.parts("load")
        git("checkout", "--quiet", "--", ".dvc/config")

    with versions(["v1"]) as [one]:
        assert said(one) == V1


@pytest.mark.usefixtures("clone")
def test_an_experiment_that_was_never_pushed_is_found_in_the_cache() -> None:
    shutil.rmtree("../remote")

    with versions(["try-1"]) as [one]:
        assert said(one) == TRIED


@pytest.mark.usefixtures("clone")
def test_a_version_has_what_its_lock_says_and_not_what_its_pipeline_plans() -> None:
    planned = "  judge:\n    cmd: echo\n    outs: [data/judge]\n"
    Path("dvc.yaml").write_text(Path("dvc.yaml").read_text(encoding="utf-8") + planned, encoding="utf-8")
    git("commit", "-q", "-a", "-m", "planned")

    with versions(["v0", "HEAD", "workspace"]) as (empty, one, here):
        assert [one.has(out) for out in ("data/load", "data/judge", "params.yaml")] == [True, False, False]
        assert not empty.has("data/load")
        assert here.has("data/load")
        assert not here.has("data/judge")
        assert [one.plans("data/judge"), here.plans("data/judge"), empty.plans("data/judge")] == [True, True, False]
        with pytest.raises(VersionError, match="HEAD: this version has no data/judge: its stage never ran there"):
            one.parts("judge")
        with pytest.raises(VersionError, match=r"v0: this version has no data/load"):
            empty.parts("load")
        with pytest.raises(VersionError, match=r"workspace: no data/judge there\. `dvc repro`"):
            here.parts("judge")


@pytest.mark.usefixtures("clone")
@pytest.mark.parametrize(
    "name", ["nowhere", "--help", "HEAD~99", "", "v1..v2", "v1:dvc.lock", "dvc.yaml", "[red]", "try-2", "v1 ", "@{u}"]
)
def test_what_nobody_knows_is_an_error(name: str) -> None:
    with pytest.raises(VersionError, match="neither git nor DVC knows"), versions([name]):
        pass


@pytest.mark.usefixtures("clone")
def test_a_folder_of_an_earlier_run_is_a_version_and_a_tag_of_its_name_comes_first(tmp_path: Path) -> None:
    shutil.copytree("data", tmp_path / "earlier/data")
    shutil.copytree("data", "v1/data")

    with versions([str(tmp_path / "earlier"), "v1", "./v1"]) as (earlier, tag, folder):
        assert said(earlier) == said(folder) == NOW
        assert said(tag) == V1
        assert (earlier.commit, folder.commit) == (None, None)


@pytest.mark.usefixtures("clone")
@pytest.mark.parametrize("content", [b"stages: \xff\n", b"<<<<<<< ours\na: 1\n=======\na: 1\n>>>>>>> theirs\n"])
def test_a_lock_that_is_none_is_an_error_that_names_the_version(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "earlier").mkdir()
    for folder in (Path(), tmp_path / "earlier"):
        (folder / "dvc.lock").write_bytes(content)
    git("commit", "-qam", "not a lock")

    for name in ("HEAD", str(tmp_path / "earlier")):
        with versions([name]) as [one], pytest.raises(VersionError, match=r": its dvc\.lock can't be read"):
            one.hashes()


def test_outside_of_git_a_folder_is_a_version_and_nothing_else_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    Path("run").mkdir()

    with versions(["run", "workspace"]) as found:
        assert [one.commit for one in found] == [None, None]
    with pytest.raises(VersionError, match="v1: neither git nor DVC knows"), versions(["v1"]):
        pass


def test_a_project_without_git_knows_no_experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    Path(".dvc").mkdir()
    Path(".dvc/config").write_text("[core]\n    no_scm = true\n    analytics = false\n", encoding="utf-8")

    assert commit_of("v1") is None


def test_a_project_in_a_folder_of_a_larger_repository_has_versions_too(
    template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = repository.copy(template, tmp_path / "clone")
    project = tmp_path / "large/parts/project"
    shutil.copytree(copied, project, ignore=shutil.ignore_patterns(".git"))
    shutil.copytree(tmp_path / "clone/remote", tmp_path / "large/parts/remote")
    monkeypatch.chdir(tmp_path / "large")
    for command in ("init -q", "config user.name n", "config user.email e@x", "add -A", "commit -q -m all", "tag all"):
        subprocess.run(["git", *command.split()], check=True)
    monkeypatch.chdir(project)

    shutil.rmtree("../remote")

    with versions(["all"]) as [one]:
        assert said(one) == V2


@pytest.mark.parametrize(("price", "stale"), [(2, False), (3, True), (None, True)])
def test_a_stage_that_depends_on_a_part_of_a_section_is_stale_when_that_part_changed(
    tmp_path: Path, price: int | None, *, stale: bool
) -> None:
    outs = "outs: [{path: reports/index.html, md5: a}]"
    lock = f"stages: {{report: {{params: {{params.yaml: {{run.judge.prices: {{m: 2}}}}}}, {outs}}}}}\n"
    (tmp_path / "dvc.lock").write_text(lock, encoding="utf-8")
    judge = "" if price is None else f"prices: {{m: {price}}}"
    (tmp_path / "params.yaml").write_text(f"run: {{workers: 9, judge: {{{judge}}}}}\n", encoding="utf-8")
    version = Version("run", tmp_path, None)

    if stale:
        with pytest.raises(VersionError, match=r"report was run with another `run\.judge\.prices`"):
            version.require_current(["reports/index.html"])
    else:
        version.require_current(["reports/index.html"])


JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
)
FILES = st.lists(st.fixed_dictionaries({"path": st.just("data/load") | JSON}, optional={"md5": JSON}), max_size=2)
STAGE = st.fixed_dictionaries({}, optional={"deps": FILES | JSON, "outs": FILES | JSON, "params": JSON})


@given(JSON | st.fixed_dictionaries({"stages": st.dictionaries(st.text(max_size=3), STAGE | JSON, max_size=3)}))
def test_a_lock_of_any_shape_is_read_or_named(lock: object) -> None:
    with TemporaryDirectory() as folder:
        Path(folder, "dvc.lock").write_text(json.dumps(lock), encoding="utf-8")
        problems: list[str] = []

        for read in (
            lambda version: version.hashes(),
            lambda version: version.dep_hash("data/load"),
            lambda version: version.require_current(["data/load"]),
        ):
            try:
                read(Version("earlier", Path(folder), None))
            except VersionError as error:
                problems.append(str(error))
    assert all(problem.startswith("earlier: its dvc.lock ") for problem in problems)


def test_a_folder_is_a_version_before_the_first_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    git("init", "-q")
    for folder in (".dvc", "earlier"):
        Path(folder).mkdir()
    Path(".dvc/config").touch()

    with versions(["earlier"]) as (earlier,):
        assert earlier.commit is None
