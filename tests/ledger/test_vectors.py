"""The store of vectors: content-named Arrow segments, and evidence in key order that is the same for everybody."""

import pickle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.errors import LedgerError
from goldmeter.ledger.vector_file import key_array
from goldmeter.ledger.vectors import VectorEvidence, Vectors

A, B, C, ZERO = b"a" * 32, b"b" * 32, b"c" * 31 + b"\0", b"\0" * 32


def floats(*rows: list[float]) -> np.ndarray:
    return np.array(rows, np.float32)


def stored(path: Path, **entries: list[float]) -> Vectors:
    vectors = Vectors(path)
    vectors.add([name.encode() * 32 for name in entries], floats(*entries.values()))
    return vectors


def written(vectors: Vectors, keys: list[bytes], folder: Path) -> bytes:
    vectors.use(keys)
    vectors.write_evidence(folder)
    return (folder / "vectors.arrow").read_bytes()


def test_vectors_come_back_in_the_order_asked_for(tmp_path: Path) -> None:
    vectors = Vectors(tmp_path)
    vectors.add([B, A], floats([1, 2], [3, 4]))
    vectors.add([C, ZERO], floats([5, 6], [7, 8]))

    for store in (vectors, Vectors(tmp_path)):
        assert store.known([A, b"x" * 32, C]).tolist() == [True, False, True]
        assert store.lookup([C, A, B, A, ZERO]).tolist() == [[5, 6], [3, 4], [1, 2], [3, 4], [7, 8]]


def test_keys_come_as_bytes_arrow_or_numpy() -> None:
    arrow = pa.array([A, ZERO, C], pa.binary(32))
    numbers = np.frombuffer(A + ZERO + C, np.uint8).reshape(3, 32)

    for keys in ([A, ZERO, C], arrow, pa.chunked_array([arrow[:1], arrow[1:]]), numbers, arrow[0:3]):
        assert key_array(keys).tobytes() == A + ZERO + C
    assert key_array(arrow[1:2]).tobytes() == ZERO
    assert len(key_array([])) == len(key_array(pa.array([], pa.binary(32)))) == 0


@pytest.mark.parametrize("keys", [[b"short"], pa.array([A, None], pa.binary(32)), pa.array(["text"])])
def test_other_keys_are_refused(keys: object) -> None:
    with pytest.raises(ValueError, match="keys are 32 bytes"):
        key_array(keys)  # type: ignore[arg-type]


def test_a_missing_key_is_named(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match=rf"1 vectors are not there.*{A.hex()}"):
        stored(tmp_path, b=[1.0]).lookup([A, B])


@pytest.mark.parametrize(
    "vectors",
    [
        floats([1]),
        np.ones((2, 2)),
        floats([1], [np.nan]),
        np.ones(2, np.float32),
        np.ones((2, 1, 1), "f4"),
        floats([1, 0], [0, 0]),
        np.ones((2, 0), "f4"),
    ],
)
def test_vectors_that_do_not_fit_are_refused(tmp_path: Path, vectors: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"shape|finite|zero"):
        Vectors(tmp_path).add([A, B], vectors)


def changed(path: Path, old: list[float], new: list[float]) -> None:
    content = path.read_bytes()
    assert content.count(floats(old).tobytes()) == 1
    path.write_bytes(content.replace(floats(old).tobytes(), floats(new).tobytes()))


def test_the_same_data_give_the_same_evidence(tmp_path: Path) -> None:
    one = stored(tmp_path / "one", a=[1.0, 0.0], b=[0.0, 1.0], x=[9.0, 9.0])
    two = stored(tmp_path / "two", b=[0.0, 1.0])
    two.add([A], floats([1, 0]))

    first = written(one, [B, A, B], tmp_path / "e1")
    second = written(two, [A, B], tmp_path / "e2")

    assert first == second
    evidence = VectorEvidence(tmp_path / "e1")
    assert evidence.keys.tobytes() == A + B
    assert evidence.dimension == 2
    assert evidence.lookup([B]).tolist() == [[0, 1]]
    assert evidence.take(np.array([1, 0])).tolist() == [[0, 1], [1, 0]]
    assert pickle.loads(pickle.dumps(evidence)).lookup([A]).tolist() == [[1, 0]]  # noqa: S301  (our own)
    with pytest.raises(LedgerError, match="1 vectors"):
        evidence.lookup([C])


def test_evidence_has_the_documented_schema(tmp_path: Path) -> None:
    written(stored(tmp_path / "s", a=[1.0, 0.0, 2.0]), [A], tmp_path)

    schema = pa.ipc.open_file(tmp_path / "vectors.arrow").schema

    assert schema.names == ["key", "vector"]
    assert schema.field("key").type == pa.binary(32)
    assert schema.field("vector").type == pa.list_(pa.float32(), 3)


def test_evidence_of_nothing_can_be_read(tmp_path: Path) -> None:
    written(Vectors(tmp_path / "s"), [], tmp_path)

    assert len(VectorEvidence(tmp_path).keys) == 0
    assert Vectors(tmp_path / "other").take_in(tmp_path) == 0


def test_evidence_is_written_in_batches(tmp_path: Path) -> None:
    count = 65_536 + 5
    keys = np.arange(count, dtype=">u8").repeat(4).view(np.uint8).reshape(count, 32)
    vectors = Vectors(tmp_path / "s")
    vectors.add(keys, np.arange(1, count + 1, dtype=np.float32).reshape(-1, 1))
    written(vectors, keys, tmp_path)

    reader = pa.ipc.open_file(tmp_path / "vectors.arrow")

    assert [reader.get_batch(i).num_rows for i in range(reader.num_record_batches)] == [65_536, 5]
    assert VectorEvidence(tmp_path).lookup(keys[[65_540, 3]]).ravel().tolist() == [65_541, 4]
    other = Vectors(tmp_path / "other")
    assert other.take_in(tmp_path) == count
    assert other.lookup(keys[[65_540, 3]]).ravel().tolist() == [65_541, 4]


def test_taking_in_adds_what_is_new_once(tmp_path: Path) -> None:
    written(stored(tmp_path / "one", a=[1.0], b=[2.0]), [A, B], tmp_path)
    two = stored(tmp_path / "two", b=[2.0])

    assert [two.take_in(tmp_path), two.take_in(tmp_path)] == [1, 0]
    assert two.disagreements == 0
    assert Vectors(tmp_path / "two").lookup([A, B]).tolist() == [[1], [2]]


def test_where_they_disagree_the_evidence_wins_else_the_smaller_sha256(tmp_path: Path) -> None:
    winners = set()
    for here, there in (("one", "two"), ("two", "one")):
        values = {"one": 1.0, "two": 2.0}
        written(stored(tmp_path / here / "x", a=[values[there]]), [A], tmp_path / here)
        vectors = stored(tmp_path / here / "s", a=[values[here]], b=[3.0])

        vectors.take_in(tmp_path / here)
        assert vectors.disagreements == 1
        assert vectors.lookup([A, B]).tolist() == [[values[there]], [3.0]]
        assert vectors.take_in(tmp_path / here) == 0
        winners.add(Vectors(tmp_path / here / "s").lookup([A]).item())

    assert len(winners) == 1


def test_damaged_evidence_is_named(tmp_path: Path) -> None:
    (tmp_path / "vectors.arrow").write_bytes(b"ARROW1 and nothing else")

    with pytest.raises(LedgerError, match=r"vectors\.arrow"):
        Vectors(tmp_path / "s").take_in(tmp_path)


def test_evidence_without_its_hash_is_named(tmp_path: Path) -> None:
    written(stored(tmp_path / "one", a=[1.0]), [A], tmp_path)
    (tmp_path / "vectors.sha256").unlink()

    with pytest.raises(LedgerError, match=r"vectors\.arrow, or vectors\.sha256 beside it: damaged"):
        Vectors(tmp_path / "two").take_in(tmp_path)


def test_a_damaged_vector_is_unknown_and_healed_from_the_evidence(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with stored(tmp_path / "s", a=[1.0, 2.0], b=[5.0, 6.0]) as vectors:
        written(vectors, [A, B], tmp_path)
    changed(tmp_path / "s/vectors.sqlite", [1, 2], [1, 3])

    with Vectors(tmp_path / "s") as damaged:
        assert damaged.known([B, A, C]).tolist() == [True, False, False]
        assert f"vectors.sqlite, table entries, key {A.hex()}: damaged" in caplog.text
        assert damaged.lookup([B]).tolist() == [[5, 6]]
        assert damaged.take_in(tmp_path) == 1
        assert damaged.disagreements == 0
    with Vectors(tmp_path / "s") as healed:
        assert healed.lookup([A]).tolist() == [[1, 2]]


def test_models_of_two_dimensions_live_in_one_store(tmp_path: Path) -> None:
    stored(tmp_path, a=[1.0, 2.0])
    both = stored(tmp_path, b=[1.0])

    assert both.lookup([A]).shape == (1, 2)
    assert both.lookup([B]).shape == (1, 1)
    with pytest.raises(LedgerError, match="dimension"):
        both.lookup([A, B])


@given(st.dictionaries(st.binary(min_size=32, max_size=32), st.integers(-9, 9), min_size=1, max_size=20), st.data())
def test_any_keys_come_back_however_they_were_added(
    tmp_path_factory: pytest.TempPathFactory, entries: dict[bytes, int], data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("any")
    vectors, keys = Vectors(folder / "s"), list(entries)
    cut = data.draw(st.integers(0, len(keys)))
    for part in (keys[:cut], keys[cut:]):
        vectors.add(part, np.array([[entries[key], 1] for key in part], np.float32).reshape(-1, 2))
    written(vectors, keys, folder)

    asked = data.draw(st.lists(st.sampled_from(keys), min_size=1))

    for source in (vectors, Vectors(folder / "s"), VectorEvidence(folder)):
        assert source.lookup(asked)[:, 0].tolist() == [entries[key] for key in asked]
    assert VectorEvidence(folder).keys.tobytes() == b"".join(sorted(keys))


@given(bit=st.integers(0, 8 * 60_000))
def test_a_flipped_bit_in_evidence_stops_the_run_and_never_enters_the_store(
    tmp_path_factory: pytest.TempPathFactory, bit: int
) -> None:
    folder = tmp_path_factory.mktemp("evidence")
    written(stored(folder / "of", a=[1, 2], b=[3, 4]), [A, B], folder / "evidence")
    path = folder / "evidence/vectors.arrow"
    content = bytearray(path.read_bytes())
    content[bit // 8 % len(content)] ^= 1 << bit % 8
    path.write_bytes(content)
    fresh = Vectors(folder / "fresh")

    with pytest.raises(LedgerError, match=r"vectors\.arrow, or .* damaged.*Remove it, then `dvc checkout`"):
        fresh.take_in(folder / "evidence")

    assert not fresh.known([A, B]).any()
