from tasks.dataset.kernels.hashes import hashed
from tests.dataset.kernels.texts import laid

MASK = 2**64 - 1


def slow(text):
    word = 0xCBF29CE484222325
    for byte in text.encode():
        word = (word ^ byte) * 0x100000001B3 & MASK
    return (word ^ word >> 32) * 0x9E3779B97F4A7C15 & MASK


def test_it_is_fnv_mixed():
    texts = ["", "a", "b", "ab", "a\0", "é" * 9]

    assert hashed(*laid(texts)).tolist() == [slow(text) for text in texts]


def test_different_texts_have_different_hashes():
    texts = [f"g{number:08d}-c{part}" for number in range(40_000) for part in range(5)]

    assert len(set(hashed(*laid(texts)).tolist())) == len(texts)
