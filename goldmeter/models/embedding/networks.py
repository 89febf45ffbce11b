"""Networks of encoders: the bundled model in torch alone, faster linear layers, and networks compiled by OpenVINO.

Source: Devlin et al. 2019, BERT; mean over the tokens, length 1. The bundled model has the bits of
sentence-transformers, whose import takes 6 s more.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, simplefilter

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.functional import embedding, gelu, layer_norm, linear, normalize, scaled_dot_product_attention

from goldmeter.errors import ModelError

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


class BundledNetwork(nn.Module):
    """A BERT of one folder, for batches of texts with as many tokens, so that no mask is needed."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        config: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        self.layers: int = config["num_hidden_layers"]
        self.heads: int = config["num_attention_heads"]
        self.epsilon: float = config["layer_norm_eps"]
        self.weights = load_file(folder / "model.safetensors")
        names = [name.removesuffix(".weight") for name in self.weights if name.startswith("encoder.")]
        products = [name for name in names if not name.endswith((".bias", "LayerNorm"))]
        self.linears = nn.ModuleDict({_key(name): self._linear(name) for name in products})

    def _linear(self, name: str) -> nn.Linear:
        weight, bias = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        layer = nn.Linear(weight.shape[1], weight.shape[0])
        layer.weight, layer.bias = nn.Parameter(weight), nn.Parameter(bias)
        return layer

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the vectors of texts; tokens: shape (n, length), int64, special ones included."""
        words = embedding(tokens, self.weights["embeddings.word_embeddings.weight"])
        kinds = embedding(torch.zeros_like(tokens), self.weights["embeddings.token_type_embeddings.weight"])
        places = self.weights["embeddings.position_embeddings.weight"][: tokens.shape[1]]
        hidden = self._normalized(words + kinds + places, "embeddings.LayerNorm")
        for number in range(self.layers):
            layer = f"encoder.layer.{number}"
            attended = self._product(
                self._attention(hidden, f"{layer}.attention.self"), f"{layer}.attention.output.dense"
            )
            hidden = self._normalized(attended + hidden, f"{layer}.attention.output.LayerNorm")
            inner = gelu(self._product(hidden, f"{layer}.intermediate.dense"))
            hidden = self._normalized(
                self._product(inner, f"{layer}.output.dense") + hidden, f"{layer}.output.LayerNorm"
            )
        return normalize(hidden.sum(1) / tokens.shape[1], p=2, dim=-1)

    def _attention(self, hidden: Tensor, name: str) -> Tensor:
        shape = (*hidden.shape[:-1], self.heads, -1)
        query, key, value = (
            self._product(hidden, f"{name}.{part}").view(shape).transpose(1, 2) for part in ("query", "key", "value")
        )
        return scaled_dot_product_attention(query, key, value).transpose(1, 2).contiguous().reshape(hidden.shape)

    def _product(self, values: Tensor, name: str) -> Tensor:
        product: Tensor = self.linears[_key(name)](values)
        return product

    def _normalized(self, values: Tensor, name: str) -> Tensor:
        weight, bias = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        return layer_norm(values, weight.shape, weight, bias, self.epsilon)


def tokens_of(encodings: Sequence[Sequence[int]], window: int) -> Tensor:
    """Return the tokens of texts, shape (n, length), of long ones the first, and the last, which is special."""
    return torch.tensor([[*ids[: window - 1], ids[-1]] if len(ids) > window else [*ids] for ids in encodings])


def _key(name: str) -> str:
    return name.replace(".", "_")


# Private API, written for torch 2.13.0: the operators that torch's compiler emits for packed weights. torch has no
# public name for them, and its public products sum in another order, so the vectors in every ledger would change.


def set_linears(network: nn.Module, dtype: torch.dtype) -> None:
    """Let every linear layer of an fp32 network multiply at a precision, and all else be done in fp32.

    On a CPU the weights are laid out for it once, where torch's build and the processor can: same weights, same
    precision, other order of summation. What is more, in fp32 a row of the product is then the same to the last bit
    whatever the other rows; in bf16 some processors (AMX) round otherwise for other numbers of rows. Layers of classes
    of their own stay as they are.
    """
    fast = dtype in packable()
    for layer in network.modules():
        if type(layer) is not nn.Linear or layer.weight.dtype != torch.float32:
            continue
        if fast and layer.weight.is_cpu:
            layer.forward = _packed(layer, dtype)  # type: ignore[method-assign, assignment]
        elif dtype != torch.float32:
            layer.forward = _rounded(layer, dtype)  # type: ignore[method-assign, assignment]


def packable() -> set[torch.dtype]:
    """The precisions whose products oneDNN makes faster here; none where torch was built without it, or for ARM."""
    if not (torch.backends.mkldnn.is_available() and torch.backends.mkl.is_available()):  # type: ignore[no-untyped-call]
        return set()
    bf16 = torch.ops.mkldnn._is_mkldnn_bf16_supported()  # noqa: SLF001  # see above
    return {torch.float32, torch.bfloat16} if bf16 else {torch.float32}


def _packed(layer: nn.Linear, dtype: torch.dtype) -> Callable[[Tensor], Tensor]:
    """The layer's product with weights that are laid out for oneDNN once."""
    multiply = torch.ops.mkldnn._linear_pointwise  # noqa: SLF001  # see above
    weight, bias = _parameters(layer, dtype)
    packed = torch.ops.mkldnn._reorder_linear_weight(weight, None)  # noqa: SLF001  # see above

    def forward(input: Tensor) -> Tensor:  # noqa: A002, as torch names it
        product: Tensor = multiply(input.to(dtype), packed, bias, "none", [], "")
        return product.to(input.dtype)

    return forward


def _rounded(layer: nn.Linear, dtype: torch.dtype) -> Callable[[Tensor], Tensor]:
    weight, bias = _parameters(layer, dtype)

    def forward(input: Tensor) -> Tensor:  # noqa: A002, as torch names it
        return linear(input.to(dtype), weight, bias).to(input.dtype)

    return forward


def _parameters(layer: nn.Linear, dtype: torch.dtype) -> tuple[Tensor, Tensor | None]:
    return layer.weight.detach().to(dtype), None if layer.bias is None else layer.bias.detach().to(dtype)


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
