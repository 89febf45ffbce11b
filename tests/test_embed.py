"""The embed stage: each distinct text once, what the ledger saves, and the contract of its table."""

import subprocess
import sys
import types
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import psutil
import pyarrow as pa
import pytest

from goldmeter.errors import ModelError, ParamsError
from goldmeter.estimates import embedded_texts as stage
from goldmeter.estimates.embedded_texts import SCHEMA, Params, embed
from goldmeter.ledger.vectors import VectorEvidence, Vectors
from goldmeter.models.embedding import distinct_texts
from goldmeter.models.embedding.remote import OpenAIEncoder
from goldmeter.pipeline import validation
from goldmeter.pipeline.dvc_yaml import forget_stages
from goldmeter.pipeline.keys import KeyHashes, hashes_of
from goldmeter.pipeline.progress import quiet
from goldmeter.pipeline.tables import Parts, about, write_part
from goldmeter.pipeline.workers import Processes, crew_of
from goldmeter.pipeline.yaml import dump_yaml, load_yaml
from tasks.__main__ import main
from tasks.embed import counts, expect, require_folder_is_dep
from tests.small_project import ROOT

TEXTS = pa.list_(pa.string())
LOCAL = {
    "provider": "local",
    "model": "all-MiniLM-L6-v2",
    "base_url": None,
    "server": None,
    "api_key_env": None,
    "precision": "fp32",
    "long": "truncate",
    "batch_tokens": 8192,
}


def normalized(responses, references):
    n = len(responses)
    return pa.table(
        {
            "id": pa.array([f"r{i}" for i in range(n)], pa.string()),
            "candidate": pa.array(["a"] * n, pa.string()),
            "input": pa.array([None] * n, pa.string()),
            "response": pa.array(responses, pa.string()),
            "references": pa.array(references, TEXTS),
            "phrases": pa.array([None] * n, TEXTS),
            "response_normalized": pa.array(responses, pa.string()),
            "references_normalized": pa.array(references, TEXTS),
        }
    )


@pytest.fixture
def parts(tmp_path):
    """Writes parts of data/normalize, each from (responses, references)."""

    def write(*rows):
        folder = tmp_path / f"normalize{len(list(tmp_path.glob('normalize*')))}"
        folder.mkdir()
        for number, (responses, references) in enumerate(rows):
            write_part(normalized(responses, references), folder, number)
        return Parts(folder)

    return write


class Embeddings:
    """Notes what it is asked for; fails at the text "stop"."""

    def __init__(self):
        self.asked = []

    def embed_documents(self, texts):
        if "stop" in texts:
            raise KeyboardInterrupt
        self.asked += texts
        return [[float(len(text)), 1.0, 0.0] for text in texts]


@pytest.fixture
def model(monkeypatch):
    """An embeddings object that params can name."""
    module = types.ModuleType("noted_embeddings")
    module.model = Embeddings()
    monkeypatch.setitem(sys.modules, "noted_embeddings", module)
    return module.model


def params(*, semantic=None, **options):
    fake = LOCAL | {"provider": "langchain", "model": "noted_embeddings.model"}
    return Params(embed=fake | options, semantic={"semantic_similarity": {}} if semantic is None else semantic)


def run(rows, params, ledger):
    with TemporaryDirectory() as scratch:
        return [written["embed"] for written in embed(rows, params, ledger, Path(scratch))]


def test_each_distinct_text_is_embedded_once_over_all_parts(parts, model, tmp_path):
    rows = parts((["Paris", "It is Rome", None], [["Paris"], ["Rome"], ["x"]]), ([" ", "Paris"], [["y"], ["Rome"]]))

    [table] = run(rows, params(), Vectors(tmp_path / "store"))

    assert sorted(model.asked) == ["It is Rome", "Paris", "Rome"]
    assert table.schema.equals(SCHEMA)
    assert table["key"].to_pylist() == sorted(table["key"].to_pylist())
    assert table["offset"].to_pylist() == [0, 1, 2]
    assert table["norm"].to_pylist() == pytest.approx([1.0] * 3, abs=1e-6)
    assert (table["tokens"].null_count, table["truncated"].null_count) == (3, 3)


def test_each_metric_is_asked_for_its_texts(parts, model, tmp_path):
    metrics = {
        "semantic_list_contains": {},
        "reference_match": {"references": ["Everywhere"]},
    }

    run(parts((["Paris!"], [["The City"]])), params(semantic=metrics), Vectors(tmp_path / "store"))

    assert sorted(model.asked) == ["Everywhere", "Paris!", "paris", "the city"]


@pytest.mark.usefixtures("model")
def test_the_offset_is_the_row_in_the_evidence(parts, tmp_path):
    ledger = Vectors(tmp_path / "store")
    rows = parts(([f"answer {'x' * i}" for i in range(20)], [["Paris"]] * 20))
    [table] = run(rows, params(), ledger)
    ledger.write_evidence(tmp_path / "evidence")

    evidence = VectorEvidence(tmp_path / "evidence")

    keys, offsets = table["key"].to_pylist(), table["offset"].to_numpy()
    assert np.array_equal(evidence.lookup(keys), evidence.take(offsets))
    assert evidence.dimension == about(table.schema)["dimension"] == 3


def test_vectors_of_another_dimension_than_those_in_the_ledger_are_refused_and_not_stored(parts, model, tmp_path):
    run(parts((["Paris"], [["a"]])), params(), Vectors(tmp_path / "store"))
    before = Vectors(tmp_path / "store").newest
    model.embed_documents = lambda texts: [[1.0, 2.0]] * len(texts)

    with pytest.raises(ModelError, match=r"noted_embeddings.model gave vectors of 2 numbers, its earlier .* 3"):
        run(parts((["Paris", "Rome"], [["a"], ["b"]])), params(), Vectors(tmp_path / "store"))

    assert Vectors(tmp_path / "store").newest == before


@pytest.mark.parametrize(
    "vectors", [[[0.0, 0.0]], [[1e308, 1e308]], [[None, 1.0]], [["1.0"]], [], [1.0], None, [[float("nan")]], [[]]]
)
def test_unusable_vectors_are_named_and_not_stored(parts, model, tmp_path, vectors):
    model.embed_documents = lambda _: vectors

    with pytest.raises(ModelError, match=r"noted_embeddings\.model gave "):
        run(parts((["Paris"], [["Paris"]])), params(), Vectors(tmp_path / "store"))

    assert Vectors(tmp_path / "store").newest == 0


def test_damaged_vectors_are_computed_again(parts, model, tmp_path):
    rows = parts((["Paris", "Rome"], [["a"], ["b"]]))
    with Vectors(tmp_path / "store") as ledger:
        before = run(rows, params(), ledger)
    store = tmp_path / "store/vectors.sqlite"
    store.write_bytes(store.read_bytes().replace(b"\x3f", b"\x3e"))
    model.asked.clear()

    again = run(rows, params(), Vectors(tmp_path / "store"))

    assert again == before
    assert sorted(model.asked) == ["Paris", "Rome", "a", "b"]


def test_what_is_in_the_ledger_is_not_asked_again(parts, model, tmp_path):
    rows = parts((["Paris", "Rome"], [["a"], ["b"]]))
    first = run(rows, params(), Vectors(tmp_path / "store"))
    model.asked.clear()

    again = run(rows, params(), Vectors(tmp_path / "store"))
    one_changed = run(parts((["Paris", "Rome!"], [["a"], ["b"]])), params(), Vectors(tmp_path / "store"))

    assert again[0].equals(first[0], check_metadata=True)
    assert model.asked == ["Rome!"]
    assert one_changed[0].num_rows == 4


@pytest.fixture
def asked(monkeypatch):
    """Texts that servers were asked to embed, by server."""
    texts = {}

    def encode(self, batch):
        texts.setdefault(self.server, []).extend(batch)
        return np.tile(np.array([1.0, 0.0], np.float32), (len(batch), 1))

    monkeypatch.setattr(OpenAIEncoder, "encode", encode)
    return texts


def of_server(name, **options):
    return params(provider="openai", model="e5", base_url=f"http://{name}/v1", **options)


def test_another_server_with_a_model_of_the_same_name_is_asked(parts, asked, tmp_path):
    rows = parts((["Paris"], [["Rome"]]))
    for name in ("one", "other", "one"):
        run(rows, of_server(name), Vectors(tmp_path / "store"))
    for name in ("one", "other"):
        run(rows, of_server(name, server="ours"), Vectors(tmp_path / "store"))

    assert {name: sorted(texts) for name, texts in asked.items()} == {
        name: ["Paris", "Rome"] for name in ("one/v1", "other/v1", "ours")
    }


def test_a_killed_run_loses_one_chunk_at_most(parts, model, tmp_path, monkeypatch):
    monkeypatch.setattr(stage, "ENCODED_AT_ONCE", 1)
    words = [f"word {i}" for i in range(8)]
    with pytest.raises(KeyboardInterrupt):
        run(parts((["stop", *words], [["x"]] * 9)), params(), Vectors(tmp_path / "store"))
    done = [*model.asked]

    run(parts(([*words], [["x"]] * 8)), params(), Vectors(tmp_path / "store"))

    assert sorted(model.asked) == sorted([*words, "x"])
    assert model.asked[: len(done)] == done


def test_progress_is_told_in_texts_and_its_share_in_tokens(parts, tmp_path, monkeypatch):
    monkeypatch.setattr(stage, "ENCODED_AT_ONCE", 2)
    rows = parts((["a", "b b b b b b"], [["a"], ["c"]]))
    told = []

    def progress(what, done, total, *, share=None):
        told.append((what, done, total, share if share is None else round(share, 1)))

    list(stage.embed(rows, params(**LOCAL), Vectors(tmp_path / "store"), tmp_path, progress))

    assert told == [
        ("rows searched", 2, 2, None),
        ("texts", 0, 3, 0.0),
        ("texts", 2, 3, 0.4),  # 6 of 14 tokens
        ("texts", 3, 3, None),
    ]


@pytest.mark.usefixtures("model")
def test_parts_change_no_byte_of_the_file(parts, tmp_path, monkeypatch):
    monkeypatch.setattr(distinct_texts, "TEXTS_AT_ONCE", 10_000)
    responses, references = [f"answer {i}" for i in range(4_000)], [[f"reference {i}"] for i in range(4_000)]
    [whole] = run(parts((responses, references)), params(), Vectors(tmp_path / "a"))
    [again] = run(parts(*[(responses, references)] * 3), params(), Vectors(tmp_path / "b"))

    for number, table in enumerate((whole, again)):
        write_part(table, tmp_path, number)
    one, other = sorted(tmp_path.glob("part-*.parquet"))
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.usefixtures("model")
def test_parts_and_row_order_change_nothing(parts, tmp_path, monkeypatch):
    responses, references = [f"answer {'x' * i}" for i in range(6)], [[f"reference {i}"] for i in range(6)]
    [whole] = run(parts((responses, references)), params(), Vectors(tmp_path / "a"))
    monkeypatch.setattr(stage, "PART_ROWS", 5)

    pieces = run(
        parts((responses[:1:-1], references[:1:-1]), (responses[:2], references[:2])), params(), Vectors(tmp_path / "b")
    )

    assert [piece.num_rows for piece in pieces] == [5, 5, 2]
    assert pa.concat_tables(pieces).equals(whole)


@pytest.mark.exhaustive
def test_processes_give_the_bits_of_one_and_what_an_interrupted_run_left_is_not_encoded_again(
    parts, tmp_path, monkeypatch
):
    monkeypatch.setattr(stage, "ENCODED_AT_ONCE", 64)
    monkeypatch.setattr(stage, "TEXTS_A_WORKER", 100)
    rows = parts(*(([f"answer {i} {'x ' * (i % 50)}" for i in range(start, start + 300)], [["Paris"]] * 300)
                   for start in (0, 200)))  # fmt: skip
    [expected] = run(rows, params(**LOCAL), Vectors(tmp_path / "alone"))
    store, scratch = tmp_path / "store", tmp_path / "scratch"

    def interrupt(what, done, *_, **__):
        if what == "texts" and done == 128:
            server = next(each for each in psutil.Process().children() if each.children())
            server.children()[0].kill()
        if what == "texts" and done == 256:
            raise KeyboardInterrupt

    scratch.mkdir()
    processes = partial(Processes, ["goldmeter.estimates.embedded_texts"])
    with pytest.raises(KeyboardInterrupt), crew_of(processes, 1, most=2) as crew:
        list(embed(rows, params(**LOCAL), Vectors(store), scratch, interrupt, crew))
    stored = Vectors(store).newest
    with crew_of(processes, 2) as crew:
        [written] = embed(rows, params(**LOCAL), ledger := Vectors(store), scratch, quiet, crew)

    assert 256 <= stored < 501
    assert written["embed"].equals(expected, check_metadata=True)
    keys = expected["key"]
    assert np.array_equal(ledger.lookup(keys), Vectors(tmp_path / "alone").lookup(keys))


def test_a_full_disk_leaves_the_ledger_as_it_was(parts, tmp_path, monkeypatch):
    rows, ledger = parts((["Paris", "Rome"], [["a"], ["b"]])), Vectors(tmp_path / "store")
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(distinct_texts, "temporary_in", lambda *_: nullcontext(Path("/dev/full")))

    with pytest.raises(OSError, match="No space left on device"):
        list(embed(rows, params(**LOCAL), ledger, tmp_path / "scratch"))

    assert ledger.newest == 0


@pytest.mark.usefixtures("model")
def test_without_semantic_metrics_the_table_is_empty(parts, tmp_path):
    ledger = Vectors(tmp_path / "store")

    [table] = run(parts((["Paris"], [["Rome"]])), params(semantic={}), ledger)
    ledger.write_evidence(tmp_path / "evidence")

    assert (table.num_rows, table.schema.equals(SCHEMA)) == (0, True)
    assert len(VectorEvidence(tmp_path / "evidence").keys) == 0
    assert broken(table, tmp_path) == []


def test_texts_beyond_the_window_are_counted(parts, tmp_path):
    rows = parts((["paris " * 255, "Paris"], [["Paris"], ["Rome"]]))

    [cut] = run(rows, params(**LOCAL), Vectors(tmp_path / "store"))
    [read] = run(rows, params(**LOCAL | {"long": "mean_of_windows"}), Vectors(tmp_path / "store"))

    assert sorted(cut["tokens"].to_pylist()) == [3, 3, 257]
    assert [each["tokens"] for each in cut.to_pylist() if each["truncated"]] == [257]
    facts = about(cut.schema)
    assert facts.pop("weights").startswith("53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db/")
    assert facts == {
        "provider": "local",
        "model": "all-MiniLM-L6-v2",
        "precision": "fp32",
        "long": "truncate",
        "dimension": 384,
        "window": 256,
        "truncated": 1,
    }
    assert about(read.schema)["truncated"] == 0
    assert not set(cut["key"].to_pylist()) & set(read["key"].to_pylist())
    assert broken(cut, tmp_path) == []


def test_with_a_full_ledger_torch_is_not_imported(parts, tmp_path):
    rows = parts((["Paris"], [["Rome"]]))
    run(rows, params(**LOCAL), Vectors(tmp_path / "store"))
    code = f"""
import sys
from pathlib import Path
from goldmeter.estimates.embedded_texts import Params, embed
from goldmeter.ledger.vectors import Vectors
from goldmeter.pipeline.tables import Parts
params = Params(embed={LOCAL!r}, semantic={{"semantic_similarity": {{}}}})
store, scratch = Path({str(tmp_path / "store")!r}), Path({str(tmp_path)!r})
[written] = embed(Parts(Path({str(rows.folder)!r})), params, Vectors(store), scratch)
print(written["embed"].num_rows, {{"torch", "transformers", "openai"}} & set(sys.modules))
"""

    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, cwd=Path.cwd())

    assert (done.returncode, done.stdout) == (0, "2 set()\n"), done.stderr


def broken(table, folder):
    """The expectations that the table does not meet."""
    contract = expect(params())
    write_part(table, folder, 0)
    hashes = KeyHashes()
    hashes.add(hashes_of(table, ["key"]))
    checks = [
        *validation.check_rows(table, contract.rows),
        *validation.check_unique(Parts(folder), table.num_rows, contract.keys, [hashes.repeated()]),
        *validation.check_counts(contract.counts, counts({"embed": table})),
    ]
    return [each.columns.split(",")[0] for each in checks if each.failed]


def vectors_table(**columns):
    good = {"key": [b"a" * 32, b"b" * 32], "offset": [0, 1], "tokens": [3, None], "truncated": [False, None]}
    return pa.table(good | {"norm": [1.0, 0.9995]} | columns, SCHEMA)


def test_a_sound_table_keeps_its_contract(tmp_path):
    assert broken(vectors_table(), tmp_path) == []


@pytest.mark.parametrize(
    ("columns", "problems"),
    [
        ({"norm": [1.0, 0.99]}, ["norm"]),
        ({"norm": [1.0, None]}, ["norm"]),
        ({"key": [b"a" * 32, b"a" * 32]}, ["key", "out_of_order"]),
        ({"key": [b"b" * 32, b"a" * 32]}, ["out_of_order"]),
        ({"offset": [0, 2]}, ["out_of_order"]),
        ({"tokens": [0, 1]}, ["tokens"]),
    ],
)
def test_a_table_that_breaks_its_contract_is_caught(columns, problems, tmp_path):
    assert broken(vectors_table(**columns), tmp_path) == problems


def test_a_local_model_must_be_a_dep_of_the_stage(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").mkdir()
    (tmp_path / "model/config.json").write_text("{}")
    entry = load_yaml(ROOT / "dvc.yaml")["stages"]["embed"]
    section = params(**LOCAL | {"model": "model"}).embed
    (tmp_path / "dvc.yaml").write_text(dump_yaml({"stages": {"embed": entry}}))
    with pytest.raises(ParamsError, match=r"model is a folder; list it in dvc.yaml among the deps of embed"):
        require_folder_is_dep(section)

    (tmp_path / "dvc.yaml").write_text(dump_yaml({"stages": {"embed": entry | {"deps": [*entry["deps"], "model"]}}}))
    forget_stages()

    require_folder_is_dep(section)
    require_folder_is_dep(params(**LOCAL).embed)


def test_a_plan_counts_the_missing_texts_and_measures_the_pace_of_a_local_model(parts, tmp_path):
    rows = parts((["Paris", "It is Rome", None], [["Paris"], ["Rome"], ["x"]]))
    ledger = Vectors(tmp_path / "store")

    ahead = stage.plan(rows, params(**LOCAL), ledger)

    assert (ahead.model, ahead.texts, ahead.tokens) == ("all-MiniLM-L6-v2", 3, 11)
    assert ahead.seconds > 0
    run(rows, params(**LOCAL), ledger)
    assert stage.plan(rows, params(**LOCAL), ledger) is None


def test_a_plan_asks_no_server(parts, model, tmp_path):
    rows = parts((["Paris"], [["Paris"]]))

    ahead = stage.plan(rows, params(), Vectors(tmp_path / "store"))

    assert str(ahead).startswith("1 text to embed by noted_embeddings.model; once, the ledger keeps the vectors")
    assert model.asked == []


def test_a_plan_without_semantic_metrics_has_no_text(parts, tmp_path):
    rows = parts((["Paris"], [["Paris"]]))

    assert stage.plan(rows, params(semantic={}, **LOCAL), Vectors(tmp_path / "store")) is None


def test_a_long_run_is_told_before_it_starts(parts, tmp_path, monkeypatch, capsys):
    rows = parts((["Paris", "It is Rome"], [["Paris"], ["Rome"]]))
    monkeypatch.setattr(stage, "FEWEST_TO_TELL", 3)

    run(rows, params(**LOCAL), Vectors(tmp_path / "short"))
    short = capsys.readouterr().err
    monkeypatch.setattr(stage, "_expected_seconds", lambda *_: 1800.0)
    run(rows, params(**LOCAL), Vectors(tmp_path / "long"))

    assert short == ""
    assert capsys.readouterr().err == (
        "embed: 3 texts of 11 tokens to embed by all-MiniLM-L6-v2: about 30 minutes, 0 texts a second here; "
        "once, the ledger keeps the vectors. To do without: semantic: {} in params.yaml\n"
    )


@pytest.mark.usefixtures("project")
def test_the_plan_of_the_next_run_needs_no_table(capsys):
    assert main(["embed", "--plan"]) == 0

    assert capsys.readouterr().out.startswith("embed: 30 texts of ")
    assert not Path("data/load").exists()
