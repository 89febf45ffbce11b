from hashlib import sha256

from hypothesis import given
from hypothesis import strategies as st

from tasks.dataset.kernels.sha256 import LANES, sha256_hex
from tests.dataset.kernels.texts import laid


@given(st.lists(st.text("aé\0", max_size=200), max_size=2 * LANES + 1))
def test_it_is_hashlib_s(texts):
    digits = sha256_hex(*laid(texts)).tobytes().decode()

    assert digits == "".join(sha256(text.encode()).hexdigest() for text in texts)


def test_every_length_up_to_three_blocks():
    texts = ["x" * length for length in range(200)]

    assert sha256_hex(*laid(texts)).tobytes().decode() == "".join(sha256(text.encode()).hexdigest() for text in texts)
