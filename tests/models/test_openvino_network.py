"""OpenVINO as backend: torch's vectors but for rounding, whatever else is embedded; under keys of their own."""

from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest

from goldmeter.errors import ModelError
from goldmeter.models.embedding.encoders import vector_facts, vector_keys
from goldmeter.models.embedding.local import LocalEncoder
from tests.models.test_embedding import section

INSTALLED = find_spec("openvino") is not None
needs_openvino = pytest.mark.skipif(not INSTALLED, reason="openvino is not installed: the extra `openvino`")
TEXTS = [f"Answer {i}: " + "very " * (i % 7) + "likely Paris" for i in range(60)] + ["", "東京タワー", "word " * 400]


@pytest.fixture(scope="module")
def torch_vectors():
    return LocalEncoder().encode(TEXTS)


@needs_openvino
@pytest.mark.parametrize(("precision", "change"), [("fp32", 1e-6), ("bf16", 5e-3)])
def test_vectors_are_those_of_torch_and_independent_of_the_batch(torch_vectors, precision, change):
    encoder = LocalEncoder(precision=precision, backend="openvino")
    try:
        vectors = encoder.encode(TEXTS)
    except ModelError as error:
        pytest.skip(str(error))

    alone = np.concatenate([encoder.encode([text]) for text in TEXTS])

    assert np.abs((vectors * torch_vectors).sum(axis=1, dtype=np.float64) - 1.0).max() < change
    assert np.array_equal(vectors, alone)


def test_keys_and_signatures_say_which_backend_and_those_of_torch_stay():
    encoder, other = LocalEncoder(), section(backend="openvino")

    # The key of this text in ledgers from before there were backends.
    assert vector_keys(section(), encoder, ["Paris"])[0].hex() == (
        "abb7b1bbf98dd39381689443eb8f24c6e332fa1aaf24c79c8ac3ef753945ce88"
    )
    assert vector_keys(other, encoder, ["Paris"]) != vector_keys(section(), encoder, ["Paris"])
    assert [vector_facts(section(backend="openvino", precision=p), encoder)["precision"] for p in ("fp32", "bf16")] == [
        "fp32-openvino",
        "bf16-openvino",
    ]


def test_only_a_local_model_has_a_backend():
    with pytest.raises(ValueError, match="provider openai takes no backend; only local does"):
        section(provider="openai", backend="openvino")


def test_without_openvino_the_command_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "openvino", None)

    with pytest.raises(ModelError, match=r"openvino is not installed: pip install 'goldmeter\[openvino\]'; or set"):
        LocalEncoder(backend="openvino").encode(["Paris"])


def test_a_network_that_gives_other_vectors_is_refused(monkeypatch):
    from goldmeter.models.embedding import networks  # imports torch

    vectors = iter(np.eye(2 * len(networks.PROBES), dtype=np.float32))
    network = SimpleNamespace(encode=lambda *_, **__: next(vectors)[None])
    monkeypatch.setattr(networks, "_compiled", lambda *_: None)

    with pytest.raises(ModelError, match="openvino gives other vectors than torch"):
        networks.compile_network(network, "fp32")
