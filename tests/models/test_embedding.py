"""Encoders: the golden vectors, what names a model, what order and batches may change, and what is refused."""

import json
import os
import subprocess
import sys
import threading
import types
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from goldmeter.errors import ModelError
from goldmeter.models.embedding import local, remote
from goldmeter.models.embedding.batches import batches, batches_of_one_size
from goldmeter.models.embedding.encoders import Embedding, open_encoder, vector_facts, vector_keys
from goldmeter.models.embedding.local import BUNDLED, BUNDLED_SHA256, LocalEncoder, TokenCounts, model_files
from tests import hostile_texts

SECTION = {
    "provider": "local",
    "model": BUNDLED,
    "base_url": None,
    "server": None,
    "api_key_env": None,
    "precision": "fp32",
    "long": "truncate",
    "batch_tokens": 8192,
}


def section(**options):
    return Embedding(**SECTION | options)


@pytest.fixture(scope="session")
def encoder():
    return LocalEncoder()


@pytest.fixture(scope="session")
def plain():
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(model_files(BUNDLED).folder), device="cpu")


@pytest.fixture
def copy(tmp_path):
    """A folder with links to the bundled model's files, to be changed by the test."""
    folder = tmp_path / "model"
    source = model_files(BUNDLED).folder
    for path in source.rglob("*"):
        if path.is_file():
            link = folder / path.relative_to(source)
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(path)
    return folder


def rewrite(path, text):
    path.unlink()
    path.write_text(text, encoding="utf-8")


def test_the_golden_cosines(encoder):
    texts = ["the quick brown fox jumps over the lazy dog", "brown fox", "lazy dog", "dancing giraffe"]

    fox, *phrases = encoder.encode(texts).astype(np.float64)

    assert [fox @ phrase for phrase in phrases] == pytest.approx([0.6240063, 0.5937520, 0.2875657], abs=1e-6)


def test_vectors_are_float32_and_of_length_1(encoder):
    vectors = encoder.encode(["Paris", "東京タワー", "🎉", "!!!"])

    assert (vectors.shape, vectors.dtype) == ((4, 384), np.float32)
    assert np.linalg.norm(vectors.astype(np.float64), axis=1) == pytest.approx(np.ones(4), abs=1e-6)


def test_no_text_gives_no_vector(encoder):
    assert len(encoder.encode([])) == 0


@pytest.mark.long
def test_vectors_do_not_depend_on_the_order_of_texts(encoder):
    texts = [f"Answer {i}: " + "very " * (i % 7) + "likely Paris" for i in range(60)]
    shuffled = texts[::-2] + texts[::2]

    vectors = dict(zip(shuffled, encoder.encode(shuffled), strict=True))

    assert np.array_equal(encoder.encode(texts), [vectors[text] for text in texts])


@pytest.mark.long
def test_vectors_hardly_depend_on_the_batches(encoder):
    texts = [f"Answer {i}: " + "very " * (i % 7) + "likely Paris" for i in range(60)]

    small = LocalEncoder(batch_tokens=64).encode(texts)

    assert np.abs(small - encoder.encode(texts)).max() < 1e-6


@pytest.mark.long
@pytest.mark.parametrize(("precision", "dtype"), [("fp32", "float32"), ("bf16", "bfloat16")])
def test_a_vector_is_the_same_whatever_else_is_embedded_in_fp32_to_the_last_bit(precision, dtype):
    from goldmeter.models.embedding.networks import packable

    if f"torch.{dtype}" not in map(str, packable()):
        pytest.skip(f"torch's own products, which {dtype} takes here, depend on the number of rows")
    encoder = LocalEncoder(precision=precision)
    texts = [f"Answer {i}: " + "very " * (i % 7) + "likely Paris" for i in range(60)]

    alone = [encoder.encode([text])[0] for text in texts[:9]]

    together = encoder.encode(texts)[:9]

    assert np.abs(together - alone).max() <= (0 if precision == "fp32" else 5e-3)


@pytest.mark.long
@pytest.mark.parametrize(("precision", "change"), [("fp32", 1e-6), ("bf16", 5e-3)])
def test_vectors_are_those_of_plain_sentence_transformers(plain, precision, change):
    texts = [
        "",
        "Paris",
        "東京タワー",
        "I don't know.",
        *("very " * i + "likely Paris" for i in [*range(0, 300, 60), 299]),
    ]
    texts += [f"{city}, where {n} people live" for n in range(3) for city in ("Ulm", "New York", "Győr")]

    vectors = LocalEncoder(precision=precision).encode(texts).astype(np.float64)

    expected = plain.encode(texts).astype(np.float64)
    assert np.linalg.norm(expected, axis=1) == pytest.approx(np.ones(len(texts)), abs=1e-6)
    assert np.abs(vectors @ vectors.T - expected @ expected.T).max() <= change


@pytest.mark.long
@pytest.mark.parametrize(("precision", "change"), [("fp32", 1e-6), ("bf16", 5e-3)])
def test_a_processor_without_packed_products_gives_the_same_precision(encoder, precision, change, monkeypatch):
    monkeypatch.setattr("goldmeter.models.embedding.networks.packable", set)
    texts = ["Paris", "东京", *("very " * i + "likely Paris" for i in [*range(0, 300, 60), 299])]

    vectors = LocalEncoder(precision=precision).encode(texts).astype(np.float64)

    expected = encoder.encode(texts).astype(np.float64)
    assert np.abs(vectors @ vectors.T - expected @ expected.T).max() <= change
    assert (np.abs(vectors - expected).max() > 1e-5) == (precision == "bf16")


@pytest.mark.long
@pytest.mark.parametrize("architecture", ["t5", "distilbert"])
def test_other_architectures_give_the_vectors_of_plain_sentence_transformers(architecture, tmp_path):
    from sentence_transformers import SentenceTransformer

    write_model(tmp_path, architecture)
    texts = ["Paris", "paris in spring", "It is Rome.", *("very " * i + "likely" for i in range(40))]

    vectors = LocalEncoder(str(tmp_path)).encode(texts)

    expected = SentenceTransformer(str(tmp_path), device="cpu").encode(texts)
    assert vectors.shape == (43, 5)
    assert len(np.unique(vectors, axis=0)) == 24  # beyond 20 times "very" the window cuts
    assert np.abs(vectors - expected).max() < 1e-6


def write_model(folder, architecture):
    """A small model with random weights, a layer after the pooling, and a prompt before each text."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling, Transformer
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(model_files(BUNDLED).folder)
    sizes = {
        "t5": {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_heads": 4, "feed_forward_proj": "gated-gelu"},
        "distilbert": {"dim": 32, "hidden_dim": 64, "n_heads": 4, "n_layers": 2},
    }
    config = AutoConfig.for_model(architecture, vocab_size=len(tokenizer), **sizes[architecture])
    AutoModel.from_config(config).save_pretrained(folder / "base")
    tokenizer.save_pretrained(folder / "base")
    transformer = Transformer(str(folder / "base"), max_seq_length=24)
    modules = [transformer, Pooling(32, "cls"), Dense(32, 5, bias=False), Normalize()]
    model = SentenceTransformer(modules=modules, prompts={"query": "query: "}, default_prompt_name="query")
    model.save(str(folder), create_model_card=False)


def test_batches_of_one_size_are_canonical_and_keep_to_the_budget():
    texts, sizes = ["a", "b", "long", "longer still", "c", "empty"], [3, 3, 10, 90, 3, 0]

    cut = batches_of_one_size(texts, sizes, budget=8)

    assert [[texts[i] for i in batch] for batch in cut] == [["empty"], ["c", "b"], ["a"], ["long"], ["longer still"]]


def test_batches_are_canonical_and_keep_to_the_budget():
    texts, sizes = ["a", "b", "long", "longer still", "c"], [3, 3, 10, 90, 3]

    cut = batches(texts, sizes, budget=20, limit=2)

    assert [texts[i] for batch in cut for i in batch] == ["c", "b", "a", "long", "longer still"]
    assert [len(batch) for batch in cut] == [2, 2, 1]


def test_bf16_is_close_to_fp32(encoder):
    texts = ["Paris is the capital of France.", "The capital of France is Paris."]

    rounded = LocalEncoder(precision="bf16").encode(texts)

    assert rounded.dtype == np.float32
    assert 0 < np.abs(rounded - encoder.encode(texts)).max() < 0.02
    assert np.linalg.norm(rounded.astype(np.float64), axis=1) == pytest.approx([1, 1], abs=1e-6)


def test_tokens_are_counted_with_the_special_ones_and_uncut(encoder):
    assert encoder.count_tokens(["paris", "paris " * 300]) == [3, 302]
    assert encoder.window == 256


def test_truncate_reads_the_beginning(encoder):
    beginning = "paris " * 254

    vectors = encoder.encode([beginning + "rome " * 46, beginning])

    assert np.abs(vectors[0] - vectors[1]).max() < 1e-6


def test_mean_of_windows_reads_everything(encoder):
    first, second, short = "paris " * 254, "rome " * 46, "berlin"

    whole, same = LocalEncoder(long="mean_of_windows").encode([first + second, short])

    parts = encoder.encode([first, second]).astype(np.float64)
    mean = 256 * parts[0] + 48 * parts[1]
    assert whole == pytest.approx(mean / np.linalg.norm(mean), abs=1e-6)
    assert same == pytest.approx(encoder.encode([short])[0], abs=1e-6)


def test_windows_are_cut_between_words():
    encoder = LocalEncoder(long="mean_of_windows")
    text = "internationalization of antidisestablishmentarianism " * 40

    windows = encoder._windows(text)

    assert len(windows) > 1
    assert " ".join(windows).split() == text.split()
    assert max(encoder.count_tokens(windows)) <= encoder.window


def test_the_bundled_model_is_named_by_its_published_weights():
    files = model_files(BUNDLED)

    assert files.weights == BUNDLED_SHA256 == "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    assert model_files("sentence-transformers/all-MiniLM-L6-v2") == files
    assert vector_facts(section(), open_encoder(section())) == {
        "weights": f"53aa51172d14/{files.setup[:12]}",
        "precision": "fp32",
        "long": "truncate",
    }


def test_bundled_weights_that_were_tampered_with_are_refused(copy, monkeypatch):
    weights = copy / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.unlink()
    weights.write_bytes(content)
    monkeypatch.setattr(local, "_bundled", lambda: copy)

    with pytest.raises(ModelError, match=r"not the published ones\n  sha256 expected: 53aa5117"):
        LocalEncoder()


def test_another_window_is_another_model(copy):
    rewrite(copy / "sentence_bert_config.json", '{"max_seq_length": 16, "do_lower_case": false}')

    short = LocalEncoder(str(copy))

    assert short.window == 16
    assert short.identity != LocalEncoder().identity


def test_the_key_of_a_vector_holds_model_precision_and_text():
    encoder = open_encoder(section())
    keys = {
        vector_keys(section(), encoder, ["Paris"])[0],
        vector_keys(section(), encoder, ["paris"])[0],
        vector_keys(section(precision="bf16"), encoder, ["Paris"])[0],
        vector_keys(section(long="mean_of_windows"), encoder, ["Paris"])[0],
        vector_keys(section(), types.SimpleNamespace(identity="openai:x"), ["Paris"])[0],
    }

    assert len(keys) == 5
    assert {len(key) for key in keys} == {32}
    assert vector_keys(section(batch_tokens=64), encoder, ["Paris"])[0] in keys


def test_a_model_that_is_nowhere_is_an_error_that_says_what_was_tried(tmp_path):
    with pytest.raises(ModelError) as caught:
        open_encoder(section(model=str(tmp_path / "nothing")))
    assert "all-MiniLM-L6-v2" in str(caught.value)
    assert f"{tmp_path / 'nothing'} is none" in str(caught.value)


def test_a_hub_id_is_not_fetched(monkeypatch, tmp_path):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)

    with pytest.raises(ModelError, match=r"hub's id intfloat/e5-small: not in the local cache.*HF_HUB_OFFLINE=0"):
        open_encoder(section(model="intfloat/e5-small"))


def test_a_hub_id_in_the_cache_is_found(copy, monkeypatch, tmp_path):
    revision = "0" * 40
    repository = tmp_path / "models--org--model"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text(revision)
    (repository / "snapshots").mkdir()
    copy.rename(repository / "snapshots" / revision)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)

    assert LocalEncoder("org/model").identity == LocalEncoder().identity


def test_a_folder_that_is_no_model_is_refused(tmp_path):
    with pytest.raises(ModelError, match=r"has no modules.json: not a sentence-transformers model"):
        LocalEncoder(str(tmp_path))


def test_pickled_weights_are_not_loaded(copy):
    (copy / "model.safetensors").rename(copy / "pytorch_model.bin")

    with pytest.raises(ModelError, match=r"no \*.safetensors; other weights can hold code"):
        LocalEncoder(str(copy))


def test_a_model_with_code_of_its_own_is_refused(copy):
    module = {"idx": 0, "name": "0", "path": "", "type": "custom_st.Transformer"}
    rewrite(copy / "modules.json", json.dumps([module]))

    with pytest.raises(ModelError, match=r"wants code of its own \(custom_st.Transformer\)"):
        LocalEncoder(str(copy))


def test_broken_weights_are_an_error_that_names_the_folder(copy):
    rewrite(copy / "model.safetensors", "no weights")

    with pytest.raises(ModelError, match=r"model can't be loaded"):
        LocalEncoder(str(copy)).encode(["Paris"])


def test_opening_and_counting_import_no_torch():
    code = (
        "import sys; from goldmeter.models.embedding.local import LocalEncoder; e = LocalEncoder(); "
        "e.identity; e.window;"
        "assert e.count_tokens(['Paris']) == [3]; print({'torch', 'sentence_transformers'} & set(sys.modules))"
    )

    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, cwd=Path.cwd())

    assert (done.returncode, done.stdout) == (0, "set()\n"), done.stderr


def test_options_that_a_provider_has_not_are_refused():
    for wrong in ({"precision": "bf16"}, {"long": "mean_of_windows"}):
        with pytest.raises(ValidationError, match="provider openai takes only precision fp32 and long truncate"):
            section(provider="openai", **wrong)
    with pytest.raises(ValidationError, match="takes no base_url"):
        section(base_url="http://127.0.0.1")


@pytest.mark.parametrize("url", ["localhost:11434/v1", "ftp://host/v1", "http://", "http://me:pw@host", "http://a:b"])
def test_an_address_that_is_none_is_refused(url):
    with pytest.raises(ValidationError, match="expected http://host/v1"):
        section(provider="openai", base_url=url)


class Server(ThreadingHTTPServer):
    """An OpenAI-compatible server of embeddings; `answer` makes the reply from the request's texts."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked, self.keys, self.paths = [], [], []
        self.answer = lambda texts: (200, embeddings(texts))
        self.url = f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(body["input"])
        self.server.keys.append(self.headers["Authorization"])
        self.server.paths.append((self.path, body["model"]))
        status, reply = self.server.answer(body["input"])
        content = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


def embeddings(texts):
    """Vectors (length, 1, 0), the last text's first."""
    data = [{"object": "embedding", "index": i, "embedding": [len(text), 1, 0]} for i, text in enumerate(texts)]
    return {"object": "list", "model": "m", "data": data[::-1], "usage": {"prompt_tokens": 1, "total_tokens": 1}}


@pytest.fixture
def server():
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def openai(server, **options):
    known = {"provider": "openai", "model": "text-embedding-3-small", "base_url": server.url, "api_key_env": "A_KEY"}
    return open_encoder(section(**known | options))


def test_a_server_embeds_in_batches(server, monkeypatch):
    monkeypatch.setenv("A_KEY", "sk-secret")
    texts = ["x" * (30 * i) for i in range(1, 11)]

    vectors = openai(server, batch_tokens=200).encode(texts)

    lengths = np.array([30.0 * i for i in range(1, 11)])
    assert vectors[:, 0] == pytest.approx(lengths / np.hypot(lengths, 1), abs=1e-6)
    assert len(server.asked) > 1
    assert sorted(text for batch in server.asked for text in batch) == sorted(texts)
    assert set(server.keys) == {"Bearer sk-secret"}
    assert set(server.paths) == {("/v1/embeddings", "text-embedding-3-small")}


def test_a_server_is_known_by_its_model_and_counts_no_tokens(server):
    encoder = openai(server)

    assert encoder.identity == f"openai:text-embedding-3-small@{server.url.removeprefix('http://')}"
    assert openai(server, base_url=None).identity == "openai:text-embedding-3-small"
    assert encoder.count_tokens(["a", "b"]) == [None, None]
    assert server.asked == []


def test_a_server_that_wants_no_key_gets_none_of_ours(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-you")

    openai(server, api_key_env=None).encode(["a"])

    assert "sk-not-for-you" not in str(server.keys)


def test_a_key_that_is_not_set_is_an_error(server, monkeypatch):
    monkeypatch.delenv("A_KEY", raising=False)

    with pytest.raises(ModelError, match=r"embed.api_key_env: the environment variable A_KEY is not set"):
        openai(server).encode(["a"])
    assert server.asked == []


def test_a_key_with_a_line_break_is_sent_without_it_and_one_with_other_letters_is_refused(server, monkeypatch):
    monkeypatch.setenv("A_KEY", "sk-secret\n")
    openai(server).encode(["a"])
    monkeypatch.setenv("A_KEY", "sk-\u00fcber-secret")

    with pytest.raises(ModelError, match="the environment variable A_KEY is not a key") as caught:
        openai(server).encode(["a"])
    assert "secret" not in str(caught.value)
    assert server.keys == ["Bearer sk-secret"]


def test_no_error_shows_the_key(server, monkeypatch):
    monkeypatch.setenv("A_KEY", "sk-secret")
    server.answer = lambda _: (401, {"error": {"message": "Incorrect API key provided: sk-secret"}})

    with pytest.raises(ModelError, match=r"text-embedding-3-small at http://127.0.0.1:\d+/v1 answered 401") as caught:
        openai(server).encode(["a"])
    assert "sk-secret" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_a_server_that_is_not_there_is_an_error(server, monkeypatch):
    monkeypatch.setattr(remote, "RETRIES", 0)
    encoder = openai(server, base_url="http://127.0.0.1:9/v1", api_key_env=None)

    with pytest.raises(ModelError, match=r"at http://127.0.0.1:9/v1 did not answer"):
        encoder.encode(["a"])


class Fake:
    """What LangChain calls Embeddings."""

    def embed_documents(self, texts):
        return [[float(len(text)), 0.0] for text in texts]


def test_an_embeddings_object_is_found_by_its_dotted_path(monkeypatch):
    module = types.ModuleType("fake_embeddings")
    module.Fake, module.made, module.text = Fake, Fake(), "no"
    monkeypatch.setitem(sys.modules, "fake_embeddings", module)

    for name in ("Fake", "made"):
        encoder = open_encoder(section(provider="langchain", model=f"fake_embeddings.{name}"))
        assert encoder.encode(["a", "bb"]).tolist() == [[1.0, 0.0], [1.0, 0.0]]
        assert encoder.identity == f"langchain:fake_embeddings.{name}"


@pytest.mark.parametrize("path", ["no_such_module.x", "json.nothing", "name", "json.JSONDecoder"])
def test_a_path_to_no_embeddings_is_an_error(path):
    with pytest.raises(ModelError, match=r"embed\.model: "):
        open_encoder(section(provider="langchain", model=path)).encode(["a"])


class Locked(Fake):
    """What wants a key."""

    def __init__(self):
        raise ValueError(f"OPENAI_API_KEY must be set,\nnot {os.environ['OPENAI_API_KEY']}")


def test_embeddings_that_cannot_be_made_say_why_and_no_secret(monkeypatch):
    module = types.ModuleType("locked_embeddings")
    module.Locked = Locked
    monkeypatch.setitem(sys.modules, "locked_embeddings", module)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-mine-alone")
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "must")  # no secret, whatever its name

    for name, said in [
        ("locked_embeddings.Locked", r"ValueError: OPENAI_API_KEY must be set, not \*\*\*; set what it asks for"),
        ("json.loads", r"TypeError: loads\(\) missing 1 required .*; set what it asks for"),
    ]:
        encoder = open_encoder(section(provider="langchain", model=name))
        with pytest.raises(ModelError, match=rf"^embed\.model: {name} can't be called without arguments: {said}"):
            encoder.encode(["a"])


def test_a_signature_says_what_is_done_in_bf16() -> None:
    assert vector_facts(section(precision="bf16"), open_encoder(section()))["precision"] == "bf16-linear"


def test_the_bundled_model_has_the_bits_of_sentence_transformers():
    texts = ["", "Paris", "Oslo is the capital of Norway.", "東京 é", "a word " * 300, "one " * 254]
    direct, other = LocalEncoder(), LocalEncoder()
    other._encode_batch = lambda batch: other._network.encode(batch, show_progress_bar=False)

    assert direct.encode(texts).tobytes() == other.encode(texts).tobytes()


def test_the_bundled_model_needs_no_sentence_transformers():
    code = "from goldmeter.models.embedding.local import LocalEncoder; LocalEncoder().encode(['a']); import sys"
    code += "; print({'sentence_transformers', 'transformers', 'sklearn'} & set(sys.modules))"

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


PIECES = ["[SEP]", "[sep]", "[", "SEP", "]", "\x00", "\x0b", "\x7f", "\r\n", "\t", "_", "don't", "é", "Ⅷ", "東", "#"]
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
ASCII = st.text(st.characters(max_codepoint=127), max_size=60)


@pytest.fixture(scope="module")
def counts():
    return TokenCounts(model_files(BUNDLED).folder / "tokenizer.json")


def tokenized(counts, texts):
    return [len(counts.tokenizer.encode(text).ids) for text in texts]


@given(st.lists(st.one_of(TEXT, ASCII, st.lists(st.one_of(st.sampled_from(PIECES), ASCII)).map("".join))))
@example(["", " ", "a" * 100, "a" * 101, "x" * 100_000, "1,000.50 $", "[MASK]ed", "[M ASK]", "a\x00b", "a\tb"])
def test_words_have_the_tokens_of_their_text(counts, texts):
    assert counts.of(texts) == tokenized(counts, texts)


def test_hostile_texts_have_the_tokens_of_their_tokenizer(counts):
    texts = [text for text in hostile_texts.TEXTS if len(text) < 10_000]

    assert counts.of(texts) == tokenized(counts, texts)


def test_words_are_forgotten_when_there_are_too_many(counts, monkeypatch):
    monkeypatch.setattr("goldmeter.models.embedding.local.WORDS", 3)
    texts = [f"word{i} of {i * 7919}" for i in range(50)]

    assert [counts.of([text])[0] for text in texts] == tokenized(counts, texts)


def test_a_tokenizer_of_another_kind_counts_itself(tmp_path):
    described = json.loads((model_files(BUNDLED).folder / "tokenizer.json").read_text())
    described["pre_tokenizer"] = {"type": "WhitespaceSplit"}
    (tmp_path / "tokenizer.json").write_text(json.dumps(described))
    counts = TokenCounts(tmp_path / "tokenizer.json")

    long_word = "a" * 60 + "-" + "a" * 60

    assert counts.of([long_word]) == tokenized(counts, [long_word]) == [3]  # unknown, as one word
