"""The store of verdicts: durable at once, readable after any death, and the same evidence for the same data."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from goldmeter import ledger
from goldmeter.errors import LedgerError
from goldmeter.ledger.entries import Entry, Usage, line_of, parse
from goldmeter.ledger.verdicts import VerdictEvidence, Verdicts


def entry(name: str, reason: str | None = "same", raw: str | None = "{}", verdict: float | None = 1.0) -> Entry:
    return Entry(
        key=name[0] * 64,
        metric="meaning_match",
        prompt="p",
        draw=0,
        raw=raw,
        verdict=verdict,
        reason=reason,
        problem=None if verdict is not None else "timeout",
        model="m-1",
        tokens={"prompt": 10, "completion": 3},
        latency=0.25,
        attempts=1,
    )


def evidence_of(verdicts: Verdicts, keys: str, folder: Path) -> bytes:
    verdicts.use(key * 64 for key in keys)
    verdicts.write_evidence(folder)
    return (folder / "verdicts.jsonl").read_bytes()


def test_an_entry_comes_back_from_another_process_view_of_the_store(tmp_path: Path) -> None:
    with Verdicts(tmp_path) as writer:
        writer.add([entry("a")])

    assert Verdicts(tmp_path).get(["a" * 64, "b" * 64]) == {"a" * 64: entry("a")}


def test_a_verdict_counts_before_its_writer_is_done(tmp_path: Path) -> None:
    writer = Verdicts(tmp_path)
    writer.add([entry("a")])

    reader = Verdicts(tmp_path)
    writer.add([entry("b")])
    writer.close()

    assert set(reader.get(["a" * 64])) == {"a" * 64}
    assert set(Verdicts(tmp_path).get(["a" * 64, "b" * 64])) == {"a" * 64, "b" * 64}


def test_every_flipped_bit_of_a_line_is_found() -> None:
    line = line_of(entry("a"))

    for bit in range(8 * len(line)):
        flipped = bytearray(line)
        flipped[bit // 8] ^= 1 << bit % 8
        with pytest.raises((ValueError, TypeError, KeyError)):
            parse(bytes(flipped))


def test_evidence_is_what_is_used_in_key_order_once(tmp_path: Path) -> None:
    verdicts = Verdicts(tmp_path / "store")
    verdicts.add([entry("c"), entry("a"), entry("b")])

    written = evidence_of(verdicts, "cac", tmp_path / "evidence")

    assert written == line_of(entry("a")) + line_of(entry("c"))


def test_evidence_alone_gives_the_same_evidence_again(tmp_path: Path) -> None:
    verdicts = Verdicts(tmp_path / "store")
    verdicts.add([entry("c"), entry("a", raw=None, verdict=None)])
    written = evidence_of(verdicts, "ac", tmp_path / "evidence")

    other = Verdicts(tmp_path / "other")

    assert other.take_in(tmp_path / "evidence") == 1
    assert evidence_of(other, "ac", tmp_path / "again") == written


def test_taking_in_twice_adds_nothing(tmp_path: Path) -> None:
    verdicts = Verdicts(tmp_path / "store")
    verdicts.add([entry("a")])
    evidence_of(verdicts, "a", tmp_path / "evidence")
    other = Verdicts(tmp_path / "other")

    assert [other.take_in(tmp_path / "evidence"), other.take_in(tmp_path / "evidence")] == [1, 0]
    assert Verdicts(tmp_path / "other").take_in(tmp_path / "evidence") == 0


def test_where_they_disagree_the_evidence_wins_and_it_is_counted(tmp_path: Path) -> None:
    for store, reason in (("one", "mine"), ("two", "theirs")):
        with Verdicts(tmp_path / store) as writer:
            writer.add([entry("a", reason)])
            evidence_of(writer, "a", tmp_path / f"{store}-evidence")

    for first, second in (("one", "two"), ("two", "one")):
        verdicts = Verdicts(tmp_path / first)
        verdicts.take_in(tmp_path / f"{second}-evidence")
        winner = {"one": "mine", "two": "theirs"}[second]
        assert verdicts.get(["a" * 64])["a" * 64]["reason"] == winner
        assert verdicts.disagreements == 1


def test_without_evidence_the_smaller_sha256_wins_in_every_store(tmp_path: Path) -> None:
    for store, order in (("one", ["x", "y"]), ("two", ["y", "x"])):
        for reason in order:
            with Verdicts(tmp_path / store) as writer:
                writer.add([entry("a", reason)])

    winners = {Verdicts(tmp_path / store).get(["a" * 64])["a" * 64]["reason"] for store in ("one", "two")}

    assert len(winners) == 1


def test_in_a_store_an_answer_beats_a_reply_that_could_not_be_parsed(tmp_path: Path) -> None:
    for reason in ("v", "w", "x", "y", "z"):
        garbled = entry("a", None, raw=reason, verdict=None)
        for order in ([garbled, entry("a", reason)], [entry("a", reason), garbled]):
            store = tmp_path / f"{reason}{order[0]['raw']}"
            for each in order:
                with Verdicts(store) as writer:
                    writer.add([each])

            assert Verdicts(store).get(["a" * 64])["a" * 64]["verdict"] == 1.0


def test_an_entry_without_a_reply_is_evidence_but_no_part_of_the_store(tmp_path: Path) -> None:
    failed = entry("a", None, raw=None, verdict=None)
    verdicts = Verdicts(tmp_path / "store")
    verdicts.add([failed])

    assert verdicts.get(["a" * 64]) == {"a" * 64: failed}
    with Verdicts(tmp_path / "store") as stored:
        assert stored.get(["a" * 64]) == {}
    evidence_of(verdicts, "a", tmp_path / "evidence")
    again = Verdicts(tmp_path / "store")
    again.take_in(tmp_path / "evidence")
    assert again.get(["a" * 64]) == {"a" * 64: failed}


def test_a_later_answer_replaces_the_failure_of_the_evidence(tmp_path: Path) -> None:
    verdicts = Verdicts(tmp_path / "store")
    verdicts.add([entry("a", None, raw=None, verdict=None)])
    verdicts.add([entry("a", "answered")])

    assert verdicts.get(["a" * 64])["a" * 64]["reason"] == "answered"


@pytest.mark.parametrize("line", [b"{", b"[]\n", b'{"key":"a"}\n', b'{"raw":null}\n', b'{"key":"a","raw":NaN}\n'])
def test_damaged_evidence_is_named_with_its_line(tmp_path: Path, line: bytes) -> None:
    (tmp_path / "verdicts.jsonl").write_bytes(line_of(entry("a")) + line)

    with pytest.raises(LedgerError, match=r"verdicts\.jsonl, line 2: .*\n.*dvc checkout"):
        Verdicts(tmp_path / "store").take_in(tmp_path)


def test_evidence_of_an_unknown_verdict_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match=r"a{32}… is used"):
        evidence_of(Verdicts(tmp_path / "store"), "a", tmp_path)


def test_a_store_that_cannot_be_made_names_the_variable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(LedgerError, match="GOLDMETER_LEDGER"):
        Verdicts(tmp_path / "file" / "judge")


@given(reason=st.text(), raw=st.text(st.characters(codec=None)))
@example(reason='a\nb\r\nc\x00\u2028\u2029\x85"},{"key":"\\', raw='a\nb\r\nc\x00\u2028\u2029\x85\ud83d"},{"key":"\\')
def test_any_text_comes_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, reason: str, raw: str) -> None:
    folder = tmp_path_factory.mktemp("any")
    with Verdicts(folder / "store") as verdicts:
        verdicts.add([entry("a", reason, raw)])
        evidence_of(verdicts, "a", folder / "evidence")
    other = Verdicts(folder / "other")
    other.take_in(folder / "evidence")

    for each in (Verdicts(folder / "store"), other):
        assert each.get(["a" * 64]) == {"a" * 64: entry("a", reason, raw)}


WRITER = """
import sys
from pathlib import Path
from goldmeter.ledger.verdicts import Verdicts
verdicts = Verdicts(Path(sys.argv[1]))
for number in range(1_000_000):
    key = f"{number:032d}" * 2
    verdicts.add([dict(key=key, metric="m", prompt="p", draw=0, raw="x" * 5000, verdict=1.0, reason="", problem=None,
                       model="m", tokens=None, latency=0.0, attempts=1)])
    print(number, flush=True)
"""


def test_nothing_acknowledged_is_lost_by_sigkill(tmp_path: Path) -> None:
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert writer.stdout
    acknowledged = [int(writer.stdout.readline()) for _ in range(7)]
    os.kill(writer.pid, signal.SIGKILL)
    acknowledged += [int(line) for line in writer.stdout.read().split("\n")[:-1]]
    writer.wait()

    keys = [f"{number:032d}" * 2 for number in acknowledged]

    assert sorted(Verdicts(tmp_path).get(keys)) == keys


def test_the_root_is_in_the_git_folder_that_all_worktrees_share(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GOLDMETER_LEDGER", raising=False)
    git = ["git", "-c", "user.name=n", "-c", "user.email=e"]
    subprocess.run([*git, "init", "-q", tmp_path / "main"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "one"], cwd=tmp_path / "main", check=True)
    subprocess.run([*git, "worktree", "add", "-q", tmp_path / "side"], cwd=tmp_path / "main", check=True)

    roots = []
    for folder in ("main", "side"):
        monkeypatch.chdir(tmp_path / folder)
        roots.append(ledger.root())

    assert roots == [tmp_path / "main" / ".git" / "goldmeter" / "ledger"] * 2


def test_the_root_is_in_the_repository_around_the_folder_whichever_one_the_environment_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("project", "other"):
        subprocess.run(["git", "init", "-q", tmp_path / name], check=True)
    monkeypatch.delenv("GOLDMETER_LEDGER", raising=False)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    monkeypatch.chdir(tmp_path / "project")

    assert ledger.root() == tmp_path / "project" / ".git" / "goldmeter" / "ledger"


def test_the_root_is_in_the_working_folder_where_git_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GOLDMETER_LEDGER", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    assert ledger.root() == tmp_path / ".goldmeter" / "ledger"


def test_the_root_outside_git_and_by_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.delenv("GOLDMETER_LEDGER", raising=False)
    assert ledger.root() == tmp_path / ".goldmeter" / "ledger"

    monkeypatch.setenv("GOLDMETER_LEDGER", str(tmp_path / "mine"))
    assert ledger.root() == tmp_path / "mine"


def test_evidence_says_what_each_verdict_took(tmp_path: Path) -> None:
    with Verdicts(tmp_path / "store") as verdicts:
        verdicts.add(
            [entry("b") | {"attempts": 3}, entry("a", raw=None, verdict=None) | {"tokens": None, "model": None}]
        )
        evidence_of(verdicts, "ab", tmp_path / "evidence")

    assert VerdictEvidence(tmp_path / "evidence").usage() == Usage(2, 4, 1, 0, 10, 3, frozenset({"m-1"}))


@pytest.mark.parametrize(
    "line", [b"[]", b"{}", b"{", b'"x"', b"\xff", line_of(entry("a") | {"tokens": {"prompt": 1}})[:-1]]
)
def test_what_verdicts_took_is_not_read_from_a_damaged_line(tmp_path: Path, line: bytes) -> None:
    (tmp_path / "verdicts.jsonl").write_bytes(line_of(entry("a")) + line + b"\n")

    with pytest.raises(LedgerError, match=r"verdicts\.jsonl, line 2: .*\n.*dvc checkout"):
        VerdictEvidence(tmp_path).usage()
