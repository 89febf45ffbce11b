"""Distinct texts on disk: what several parts hold, merged by ranges of keys, in the order of encoding."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.models.embedding import distinct_texts
from goldmeter.models.embedding.distinct_texts import DistinctTexts, TextsWriter, keys_of, merged, write_part_texts
from goldmeter.pipeline.hashing import sha256

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


def collected(parts: list[list[str]], folder: Path, known: set[str], tokens: dict[str, int | None]) -> DistinctTexts:
    """What the files of these parts come to; some texts have a vector."""
    files = [
        write_part_texts(folder / f"{number}.arrow", [*map(sha256, part)], [tokens[text] for text in part], part, 1)
        for number, part in enumerate(parts)
    ]
    with TextsWriter(folder) as writer:
        for texts in merged(files):
            writer.add(texts, np.array([text in known for text in texts.strings], np.bool_))
        return writer.finish()


@given(st.data())
def test_each_text_stands_once_in_key_order_and_those_to_encode_by_tokens_first(tmp_path_factory, data):
    parts = data.draw(st.lists(st.lists(TEXT, unique=True, max_size=20), max_size=5))
    distinct = {text for part in parts for text in part}
    known = {text for text in distinct if data.draw(st.booleans())}
    tokens = dict.fromkeys(distinct) if data.draw(st.booleans()) else {text: len(text) % 3 + 1 for text in distinct}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distinct_texts, "TEXTS_AT_ONCE", data.draw(st.integers(1, 20)))
        texts = collected(parts, tmp_path_factory.mktemp("texts"), known, tokens)

    in_order = sorted(distinct, key=sha256)
    assert [bytes(key) for key in texts.all["key"].to_pylist()] == [sha256(text) for text in in_order]
    assert keys_of(texts.all).tobytes() == b"".join(map(sha256, in_order))
    assert texts.all["tokens"].to_pylist() == [tokens[text] for text in in_order]
    to_encode = sorted(distinct - known, key=lambda text: (tokens[text] or 0, sha256(text)))
    assert (len(texts), texts.missing) == (len(distinct), len(to_encode))
    assert texts.tokens_to_encode().tolist() == [tokens[text] or 0 for text in to_encode]
    start = data.draw(st.integers(0, len(to_encode)))
    chunk = texts.to_encode(start, start + 7)
    assert chunk.strings == to_encode[start : start + 7]
    assert chunk.keys.tobytes() == b"".join(map(sha256, chunk.strings))


def test_long_texts_are_merged_a_few_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(distinct_texts, "BYTES_AT_ONCE", 400_000)
    texts = [str(i).zfill(100_000) for i in range(20)]
    files = [write_part_texts(tmp_path / "0", [*map(sha256, texts)], [1] * 20, texts, 1)]

    ranges = [len(each.keys) for each in merged(files)]

    assert (len(ranges), sum(ranges), max(ranges) < 10) == (6, 20, True)
