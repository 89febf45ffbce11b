"""The bundled model in torch alone, with the bits of sentence-transformers, whose import takes 6 s more.

Source: Devlin et al. 2019, BERT; mean over the tokens, length 1.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.functional import embedding, gelu, layer_norm, normalize, scaled_dot_product_attention


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
