"""A network compiled by OpenVINO: faster than torch on x86 processors, with one thread per process."""

from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, simplefilter

import numpy as np
import torch
from torch import Tensor, nn

from tasks.errors import ModelError

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

PRECISIONS = {"fp32": "f32", "bf16": "bf16"}
# Compared with torch, a coordinate of a vector of length 1; fp32 differs by 1e-6, bf16 by 1e-2.
TOLERANCE = {"fp32": 1e-4, "bf16": 5e-2}
# Batches that torch and OpenVINO compute for the comparison: of other shapes than the traced one.
PROBES = (["Paris"], ["Paris is a city."] * 3, ["the capital of France, " * 20, "the capital of Spain, " * 20])
TRACED = ["Rome is a city", "Oslo is a city"]
TORCH = "set embed.backend: torch"


def compile_network(network: "SentenceTransformer", precision: str) -> None:
    """Let OpenVINO compute what the network does with tokens; it still makes them itself.

    The vectors of some texts are compared with torch's, because a traced network could depend on the shape traced.

    Raises:
        ModelError: OpenVINO is not installed, can't convert the network, computes other vectors than torch, or does
            not multiply at this precision on this processor.
    """
    expected = [_encoded(network, texts) for texts in PROBES]
    network.forward = _compiled(network, precision)  # type: ignore[method-assign]
    for texts, vectors in zip(PROBES, expected, strict=True):
        difference = float(np.abs(_encoded(network, texts) - vectors).max())
        if not difference <= TOLERANCE[precision]:
            raise ModelError(f"embed.backend: openvino gives other vectors than torch (by {difference:.1g}); {TORCH}")


def _compiled(network: "SentenceTransformer", precision: str) -> Any:
    try:
        import openvino
    except ImportError:
        raise ModelError(
            f"embed.backend: openvino is not installed: pip install 'goldmeter[openvino]'; or {TORCH}"
        ) from None
    example = {name: value for name, value in network.preprocess(TRACED).items() if isinstance(value, Tensor)}
    chosen = PRECISIONS[precision]
    try:
        with catch_warnings():
            simplefilter("ignore")  # of values that become constants: the comparison finds those that matter
            graph = openvino.convert_model(_Ordered(network, [*example]), example_input=(*example.values(),))
        options = {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": chosen}
        compiled = openvino.Core().compile_model(graph, "CPU", options)
        used = compiled.get_property("INFERENCE_PRECISION_HINT").to_string()
    except Exception as error:  # whatever is wrong in the graph, the user is told what to do without
        problem = (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
        raise ModelError(f"embed.backend: openvino can't compile this model: {problem}; {TORCH}") from error
    if used not in {chosen, {"f32": "float32", "bf16": "bfloat16"}[chosen]}:
        raise ModelError(f"embed.precision: openvino has no {precision} on this processor; set fp32, or {TORCH}")
    request = compiled.create_infer_request()

    def forward(features: dict[str, Any], **_: Any) -> dict[str, Any]:
        outputs = request.infer([features[name].numpy() for name in example])
        return {**features, "sentence_embedding": torch.from_numpy(np.array(outputs[0]))}

    return forward


class _Ordered(nn.Module):
    """The network with its features as positional arguments, from tokens to vectors."""

    def __init__(self, network: "SentenceTransformer", names: list[str]) -> None:
        super().__init__()
        self.network, self.names = network.eval(), names

    def forward(self, *features: Tensor) -> Tensor:
        vectors: Tensor = self.network(dict(zip(self.names, features, strict=True)))["sentence_embedding"]
        return vectors


def _encoded(network: "SentenceTransformer", texts: list[str]) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.asarray(network.encode(texts, show_progress_bar=False, convert_to_numpy=True), np.float32)
