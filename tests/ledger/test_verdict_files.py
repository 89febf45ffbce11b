"""Files of verdicts: the same entries give the same files, damage is noticed, unchanged evidence is the same file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.errors import LedgerError
from goldmeter.ledger import verdicts as module
from goldmeter.ledger.entries import Entry, line_of, parse, rank_of
from goldmeter.ledger.sqlite_file import checksum
from goldmeter.ledger.verdicts import VerdictEvidence, Verdicts
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


@pytest.mark.usefixtures("buckets")
def test_few_entries_are_one_file_and_more_are_one_for_each_first_byte(tmp_path: Path) -> None:
    few = written(tmp_path, [verdict(key) for key in KEYS[:2]], "few")
    many = written(tmp_path, [verdict(key) for key in KEYS], "many")

    assert [*content(few)] == ["verdicts.jsonl"]
    assert [*content(many)] == [f"verdicts-{name}.jsonl" for name in ("00", "01", "a0", "a1", "ff")]
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
    assert {*content(after)} - same == {"verdicts-ff.jsonl"}
    assert content(after) == content(written(tmp_path, changed, "afresh"))


@pytest.mark.usefixtures("buckets")
def test_evidence_in_its_place_changes_between_one_file_and_many(tmp_path: Path) -> None:
    entries = [verdict(key) for key in KEYS]
    expected = content(written(tmp_path, entries, "many"))

    for used in (entries[:1], entries, entries, entries[:2]):
        assert VerdictEvidence(written(tmp_path, used, before=tmp_path / "evidence")).usage().verdicts == len(used)
        assert len(used) < len(entries) or content(tmp_path / "evidence") == expected


@pytest.mark.usefixtures("buckets")
def test_evidence_with_a_changed_verdict_is_not_used_again(tmp_path: Path) -> None:
    entries = [verdict(key) for key in KEYS]
    before = written(tmp_path, entries, "before")
    path = before / "verdicts-a0.jsonl"
    path.write_bytes(path.read_bytes().replace(b"same", b"sane"))

    with pytest.raises(LedgerError, match=r"verdicts-a0\.jsonl, line 1: .*checksum(.|\n)*dvc checkout"):
        written(tmp_path, entries, "after", before=before)


def test_a_damaged_verdict_is_taken_from_the_evidence(tmp_path: Path) -> None:
    evidence = written(tmp_path, [verdict(key) for key in KEYS])
    store = tmp_path / "evidence store"
    path = store / "verdicts.sqlite"
    path.write_bytes(path.read_bytes().replace(b"same", b"sane", 2))

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
    damage(store / "verdicts.sqlite", data)

    for _ in range(2):
        with Verdicts(store) as ledger:
            answered = [key for key, is_open in zip(KEYS, ledger.unanswered(KEYS), strict=True) if not is_open]
            assert ledger.get(KEYS) == {key: verdict(key) for key in answered}


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
            self.stored.setdefault(key, set()).add(line)
            added += line != best and self.best(key) == line
        return added, differ

    def best(self, key: str) -> bytes | None:
        own = bytes.fromhex(key)
        return min(self.stored.get(key, ()), key=lambda line: (rank_of(line), checksum(own, line)), default=None)

    def get(self, key: str) -> bytes | None:
        best, line = self.best(key), self.preferred.get(key)
        return line if line and (best is None or rank_of(line) <= rank_of(best)) else best


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
    if step != "kill":
        ledger.close()
    model.preferred.clear()
    ledger = Verdicts(folder / "store")
    if step == "publish":
        assert ledger.take_in(evidence) == 0
        model.take_in(lines)
    return ledger


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
