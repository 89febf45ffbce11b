"""Tokens of many texts: by words where the tokenizer splits texts as BERT's does, else by the tokenizer."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

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
