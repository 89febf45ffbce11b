"""Files of verdicts: indexes never change an answer, damage is noticed, and unchanged evidence is the same file."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.errors import LedgerError
from tasks.ledger import journal, stored_verdicts
from tasks.ledger import verdicts as module
from tasks.ledger.entries import RANK, Entry, Usage, checksum, flags_of, line_of, parse
from tasks.ledger.entry_index import EntryIndex
from tasks.ledger.short_keys import KeySet, short_keys
from tasks.ledger.verdict_evidence import VerdictEvidence
from tasks.ledger.verdicts import Verdicts
from tests.ledger.test_verdicts import entry

# Keys of three first bytes.
KEYS = [f"{first}{rest}" * 32 for first, rest in ("00", "01", "a0", "a1", "ff")]


def verdict(key: str, reason: str = "same", **changed: Any) -> Entry:
    return Entry(**(entry("a", reason) | {"key": key} | changed))  # type: ignore[typeddict-item]


@pytest.fixture
def buckets(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than two entries are 256 files."""
    monkeypatch.setattr(module, "MOST_IN_ONE_FILE", 2)


def written(folder: Path, entries: Sequence[Entry], name: str = "evidence", before: Path | None = None) -> Path:
    """The evidence of entries, from a store of their own."""
    with Verdicts(folder / f"{name} store") as ledger:
        if before:
            ledger.take_in(before)
        ledger.add(entries)
        ledger.use(each["key"] for each in entries)
        ledger.write_evidence(folder / name)
    return folder / name


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_an_index_that_another_process_replaces_hides_no_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evidence = written(tmp_path, [verdict(key) for key in KEYS])
    written(tmp_path, [verdict("77" * 32)], "other")
    [other] = (tmp_path / "other store").glob("[0-9a-f]*.jsonl")
    real = stored_verdicts.replacing

    @contextmanager
    def replaced(path: Path) -> Iterator[Path]:
        with real(path) as temporary:
            yield temporary
        with real(path) as temporary:
            EntryIndex.of_file(other).save(temporary)

    monkeypatch.setattr(stored_verdicts, "replacing", replaced)
    with Verdicts(tmp_path / "store") as ledger:
        assert ledger.take_in(evidence) == len(KEYS)
        assert {*ledger.get(KEYS)} == {*KEYS}


def test_a_journal_that_could_not_be_sealed_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (verdict(key) for key in KEYS[:2])
    with Verdicts(tmp_path) as ledger:
        with monkeypatch.context() as full:
            full.setattr(module, "CHUNK", 1)
            full.setattr(journal, "publish", lambda *_: (_ for _ in ()).throw(LedgerError("no space left")))
            with pytest.raises(LedgerError, match="no space"):
                ledger.add([first])
        ledger.add([second])

    with Verdicts(tmp_path) as again:
        assert {*again.get(KEYS[:2])} == {*KEYS[:2]}


@pytest.mark.usefixtures("buckets")
def test_few_entries_are_one_file_and_more_are_one_for_each_first_byte(tmp_path: Path) -> None:
    few = written(tmp_path, [verdict(key) for key in KEYS[:2]], "few")
    many = written(tmp_path, [verdict(key) for key in KEYS], "many")

    assert [*content(few)] == ["verdicts.jsonl"]
    assert [*content(many)] == [f"verdicts-{name}.{suffix}" for name in ("00", "01", "a0", "a1", "ff")
                                for suffix in ("index", "jsonl")]  # fmt: skip
    assert (many / "verdicts-a0.jsonl").read_bytes() == line_of(verdict("a0" * 32))


@pytest.mark.usefixtures("buckets")
def test_the_bytes_depend_on_the_entries_alone(tmp_path: Path) -> None:
    entries = [verdict(key) for key in KEYS]
    one = written(tmp_path, entries, "one")

    other = written(tmp_path, entries[::-1], "other", before=written(tmp_path, [verdict(KEYS[0])], "few"))

    assert content(one) == content(other)


@pytest.mark.usefixtures("buckets")
def test_only_files_with_a_changed_entry_are_written_again(tmp_path: Path) -> None:
    entries = [verdict(key) for key in KEYS]
    before = written(tmp_path, entries, "before")
    changed = [*entries[:-1], verdict(f"{KEYS[-1][:2]}e{KEYS[-1][3:]}")]

    after = written(tmp_path, changed, "after", before=before)

    same = {name for name in content(after) if (before / name).samefile(after / name)}
    assert {*content(after)} - same == {"verdicts-ff.index", "verdicts-ff.jsonl"}
    assert content(after) == content(written(tmp_path, changed, "afresh"))


@pytest.mark.usefixtures("buckets")
def test_evidence_in_its_place_changes_between_one_file_and_many(tmp_path: Path) -> None:
    entries = [verdict(key) for key in KEYS]
    expected = content(written(tmp_path, entries, "many"))

    for used in (entries[:1], entries, entries, entries[:2]):
        assert VerdictEvidence(written(tmp_path, used, before=tmp_path / "evidence")).usage().verdicts == len(used)
        assert len(used) < len(entries) or content(tmp_path / "evidence") == expected


def test_many_entries_in_one_file_of_an_older_version_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [verdict(key) for key in KEYS]
    old = written(tmp_path, entries, "old")
    monkeypatch.setattr(module, "MOST_IN_ONE_FILE", 2)

    with Verdicts(tmp_path / "store") as ledger:
        assert ledger.take_in(old) == len(entries)
        ledger.use(KEYS)
        ledger.write_evidence(tmp_path / "new")

    assert VerdictEvidence(tmp_path / "new").usage() == VerdictEvidence(old).usage() == Usage.of(entries)
    assert content(tmp_path / "new") == content(written(tmp_path, entries, "afresh"))


@pytest.mark.usefixtures("buckets")
def test_evidence_with_a_changed_verdict_is_not_used_again(tmp_path: Path) -> None:
    entries = [verdict(key) for key in KEYS]
    before = written(tmp_path, entries, "before")
    path = before / "verdicts-a0.jsonl"
    path.write_bytes(path.read_bytes().replace(b"same", b"sane"))

    with pytest.raises(LedgerError, match=r"verdicts-a0\.jsonl: damaged.*\n.*dvc checkout"):
        written(tmp_path, entries, "after", before=before)


def test_damage_of_an_indexed_segment_is_healed_before_an_entry_counts(tmp_path: Path) -> None:
    with Verdicts(tmp_path) as ledger:
        ledger.add([verdict(KEYS[0]), verdict(KEYS[1], "kept")])
    Verdicts(tmp_path)  # writes the index
    (segment,) = tmp_path.glob("*.jsonl")
    segment.write_bytes(segment.read_bytes().replace(b"same", b"sane"))

    ledger = Verdicts(tmp_path)
    ledger.use(KEYS[1:2])

    assert ledger.unanswered(KEYS[:2]).tolist() == [True, False]
    assert ledger.get(KEYS)[KEYS[1]]["reason"] == "kept"
    assert (tmp_path / "damaged" / segment.name).exists()
    ledger.write_evidence(tmp_path / "evidence")
    assert (tmp_path / "evidence/verdicts.jsonl").read_bytes() == line_of(verdict(KEYS[1], "kept"))


def test_an_indexed_segment_that_was_cut_keeps_its_whole_lines(tmp_path: Path) -> None:
    with Verdicts(tmp_path) as ledger:
        ledger.add([verdict(key) for key in KEYS])
    Verdicts(tmp_path)
    (segment,) = tmp_path.glob("*.jsonl")
    segment.write_bytes(segment.read_bytes()[:-9])

    assert Verdicts(tmp_path).unanswered(KEYS).tolist() == [False] * 4 + [True]


@pytest.mark.parametrize("damage", [lambda whole: whole[:-1], lambda whole: whole + b"\0\n"], ids=["cut", "longer"])
def test_a_damaged_segment_with_all_its_lines_is_whole_again(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    with Verdicts(tmp_path) as ledger:
        ledger.add([verdict(key) for key in KEYS])
    (segment,) = tmp_path.glob("*.jsonl")
    whole = segment.read_bytes()
    segment.write_bytes(damage(whole))

    assert Verdicts(tmp_path).get(KEYS) == {key: verdict(key) for key in KEYS}
    assert segment.read_bytes() == whole


def test_a_damaged_verdict_is_taken_from_the_evidence(tmp_path: Path) -> None:
    evidence = written(tmp_path, [verdict(key) for key in KEYS])
    store = tmp_path / "evidence store"
    Verdicts(store)
    (segment,) = store.glob("*.jsonl")
    segment.write_bytes(segment.read_bytes().replace(b"same", b"sane", 2))

    with Verdicts(store) as ledger:
        assert ledger.take_in(evidence) == 2
        assert ledger.disagreements == 0
        assert ledger.get(KEYS) == {key: verdict(key) for key in KEYS}
    assert not Verdicts(store).unanswered(KEYS).any()


@given(st.data())
def test_no_damage_of_a_store_changes_an_answer(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    store = tmp_path_factory.mktemp("damaged")
    for part in (KEYS[:3], KEYS[2:]):
        with Verdicts(store) as ledger:
            ledger.add([verdict(key) for key in part])
        if data.draw(st.booleans()):
            Verdicts(store)
    for path in sorted(path for path in store.iterdir() if path.is_file()):
        damage(path, data)

    for _ in range(2):
        with Verdicts(store) as ledger:
            answered = [key for key, is_open in zip(KEYS, ledger.unanswered(KEYS), strict=True) if not is_open]
            assert ledger.get(KEYS) == {key: verdict(key) for key in answered}


def test_entries_of_a_segment_that_was_moved_away_are_asked_again(tmp_path: Path) -> None:
    for key in KEYS:
        with Verdicts(tmp_path) as ledger:
            ledger.add([verdict(key)])
    Verdicts(tmp_path)
    next(path for path in tmp_path.glob("*.jsonl") if KEYS[2] in path.read_text()).unlink()

    assert Verdicts(tmp_path).unanswered(KEYS).tolist() == [False, False, True, False, False]


@given(st.data())
def test_no_damage_of_an_index_changes_an_answer(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_IN_ONE_FILE", 2)
        evidence = written(folder, [verdict(key) for key in KEYS])
        for path in [*evidence.glob("*.index"), folder / "evidence store/entries.index"]:
            damage(path, data)

        with Verdicts(folder / "evidence store") as ledger:
            assert ledger.take_in(evidence) == ledger.disagreements == 0
            assert ledger.get(KEYS) == {key: verdict(key) for key in KEYS}
            assert not ledger.unanswered(KEYS).any()
            ledger.use(KEYS)
            ledger.write_evidence(folder / "again")

        assert VerdictEvidence(evidence).usage() == Usage.of([verdict(key) for key in KEYS])
        assert content(folder / "again") == content(written(folder, [verdict(key) for key in KEYS], "afresh"))


def damage(path: Path, data: st.DataObject) -> None:
    """Change a byte, cut the file, or remove it."""
    if not path.exists():
        return
    whole = bytearray(path.read_bytes())
    match data.draw(st.sampled_from(["byte", "cut", "none", "removed"])):
        case "byte":
            whole[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
        case "cut":
            del whole[data.draw(st.integers(0, len(whole) - 1)) :]
        case "removed":
            path.unlink()
            return
    path.unlink()  # it may be a hard link
    path.write_bytes(whole)


entries_drawn = st.builds(
    lambda key, reason, reply: verdict(key, reason, **reply),
    st.sampled_from(KEYS[::4]),
    st.sampled_from("xy"),
    st.sampled_from(
        [
            {"raw": "{}", "verdict": 1.0},
            {"raw": "{}", "verdict": 0.0},
            {"raw": "?", "verdict": None},
            {"raw": None, "verdict": None},
            {"raw": None, "verdict": None, "attempts": 0},
        ]
    ),
)
steps = st.one_of(
    st.tuples(st.just("add"), st.lists(entries_drawn, min_size=1, max_size=4)),
    st.tuples(st.sampled_from(["close", "kill", "publish"]), st.none()),
    st.tuples(
        st.sampled_from(["import"]), st.lists(entries_drawn, min_size=1, max_size=5, unique_by=lambda e: e["key"])
    ),
)


class Model:
    """What `Verdicts` documents, as two dicts."""

    def __init__(self) -> None:
        self.stored: dict[str, set[bytes]] = {}
        self.preferred: dict[str, bytes] = {}

    def add(self, line: bytes) -> None:
        each = parse(line)
        if each["raw"] is not None:
            self.stored.setdefault(each["key"], set()).add(line)
        if each["raw"] is None or each["key"] in self.preferred:
            self.preferred[each["key"]] = line

    def take_in(self, lines: Sequence[bytes]) -> tuple[int, int]:
        added = differ = 0
        for line in lines:
            each = parse(line)
            key, best = each["key"], self.best(each["key"])
            if each["raw"] is None:
                if best is None:
                    self.preferred[key] = line
                continue
            self.preferred.pop(key, None)
            worse = best is not None and each["verdict"] is None and parse(best)["verdict"] is not None
            if best not in (None, line) and not worse:
                differ += 1
                self.preferred[key] = line
            added += line not in self.stored.get(key, ())
            self.stored.setdefault(key, set()).add(line)
        return added, differ

    def best(self, key: str) -> bytes | None:
        return min(self.stored.get(key, ()), key=lambda line: (rank(line), checksum(line)), default=None)

    def get(self, key: str) -> bytes | None:
        best, line = self.best(key), self.preferred.get(key)
        return line if line and (best is None or rank(line) <= rank(best)) else best


def rank(line: bytes) -> int:
    return flags_of(parse(line)) & RANK


@given(st.lists(steps, max_size=12), st.sampled_from([1, 3, 50_000]))
def test_any_history_gives_what_plain_dicts_give(
    tmp_path_factory: pytest.TempPathFactory, history: list[Any], chunk: int
) -> None:
    folder = tmp_path_factory.mktemp("history")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_IN_ONE_FILE", 2)
        patch.setattr(module, "CHUNK", chunk)
        model, ledger = Model(), Verdicts(folder / "store")
        for number, (step, entries) in enumerate(history):
            if step == "add":
                ledger.add(entries)
                for each in entries:
                    model.add(line_of(each))
            elif step == "import":
                evidence = evidence_file(folder / f"import {number}", entries)
                differed = ledger.disagreements
                added = ledger.take_in(evidence)
                expected = model.take_in([line_of(each) for each in sorted(entries, key=lambda e: e["key"])])
                assert (added, ledger.disagreements - differed) == expected
            else:
                ledger = reopened(ledger, step, model, folder)
            expected_entries = {key: parse(line) for key in KEYS if (line := model.get(key))}
            assert ledger.get(KEYS) == expected_entries
            for retry_failed in (False, True):
                assert ledger.unanswered(KEYS, retry_failed=retry_failed).tolist() == [
                    key not in expected_entries
                    or not expected_entries[key]["attempts"]
                    or (retry_failed and expected_entries[key]["verdict"] is None)
                    for key in KEYS
                ]
        ledger.close()


def evidence_file(folder: Path, entries: Sequence[Entry]) -> Path:
    folder.mkdir()
    lines = sorted(line_of(each) for each in entries)
    (folder / "verdicts.jsonl").write_bytes(b"".join(lines))
    return folder


def reopened(ledger: Verdicts, step: str, model: Model, folder: Path) -> Verdicts:
    """The store after its process ended: at its end, killed, or when it had published evidence."""
    evidence = folder / "evidence"
    used = [key for key in KEYS if model.get(key)]
    lines = [line for key in KEYS if (line := model.get(key))]
    if step == "publish":
        ledger.use(used)
        ledger.write_evidence(evidence)
    if step == "kill" and ledger._journal:
        os.close(ledger._journal._descriptor)  # the lock goes with it
    elif step != "kill":
        ledger.close()
    model.preferred.clear()
    ledger = Verdicts(folder / "store")
    if step == "publish":
        assert ledger.take_in(evidence) == 0
        model.take_in(lines)
    return ledger


@given(
    st.lists(st.lists(st.binary(min_size=16, max_size=16), max_size=40), max_size=5),
    st.binary(min_size=16, max_size=16),
)
def test_a_set_of_keys_holds_what_was_added(runs: list[list[bytes]], other: bytes) -> None:
    keys = KeySet()
    for run in runs:
        keys.add(short_keys([each.hex() * 2 for each in run]))

    wanted = {each for run in runs for each in run}
    asked = short_keys([each.hex() * 2 for each in [*wanted, other]])
    assert keys.contains(asked).tolist() == [True] * len(wanted) + [other in wanted]
    assert b"".join(keys.bucket(number).tobytes() for number in range(256)) == b"".join(sorted(wanted))


def test_processes_that_write_the_index_at_once_lose_nothing(tmp_path: Path) -> None:
    one, other = Verdicts(tmp_path), Verdicts(tmp_path)
    for ledger, key in ((one, KEYS[0]), (other, KEYS[1])):
        ledger.add([verdict(key)])
    one.close()
    older = Verdicts(tmp_path)
    old_index = (tmp_path / "entries.index").read_bytes()
    other.close()
    Verdicts(tmp_path)
    (tmp_path / "entries.index").write_bytes(old_index)  # a process with an older view writes last

    assert {*Verdicts(tmp_path).get(KEYS[:2])} == {*KEYS[:2]}
    assert {*older.get(KEYS[:2])} == {*KEYS[:2]}


def test_keys_marked_before_and_after_the_index_grows_are_evidence_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CHUNK", 1)
    monkeypatch.setattr(module, "MOST_IN_ONE_FILE", 4)
    with Verdicts(tmp_path / "store") as ledger:
        for key in KEYS[:4]:
            ledger.add([verdict(key)])
            ledger.use([key, *KEYS[:1]])
        ledger.write_evidence(tmp_path / "evidence")

    assert content(tmp_path / "evidence") == {"verdicts.jsonl": b"".join(line_of(verdict(key)) for key in KEYS[:4])}


def test_a_paid_reply_is_not_asked_for_again_because_older_evidence_has_none(tmp_path: Path) -> None:
    asked = verdict(KEYS[0], raw=None, verdict=None, attempts=0)
    evidence = written(tmp_path, [asked])
    with Verdicts(tmp_path / "store") as killed:
        killed.add([verdict(KEYS[0], raw="?", verdict=None)])

    ledger = Verdicts(tmp_path / "store")
    ledger.take_in(evidence)

    assert not ledger.unanswered(KEYS[:1]).any()


def test_an_index_maps_what_it_saved(tmp_path: Path) -> None:
    evidence = evidence_file(tmp_path / "evidence", [verdict(key) for key in KEYS])
    index = EntryIndex.of_file(evidence / "verdicts.jsonl")

    index.save(tmp_path / "index")
    loaded = EntryIndex.load(tmp_path / "index")

    assert loaded is not None
    assert (loaded.files, loaded.usage) == (index.files, index.usage)
    assert all(np.array_equal(loaded.columns[name], index.columns[name]) for name in index.columns)
