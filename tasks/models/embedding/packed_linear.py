"""Linear layers: the precision they multiply at, and by oneDNN, faster than torch's own on some processors."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

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
