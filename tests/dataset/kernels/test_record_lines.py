import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tasks.dataset.kernels.record_lines import starts


@given(
    st.lists(st.sampled_from(["{}", "", " ", "\r", "x y", "\t1"]), max_size=12), st.integers(1, 4), st.integers(1, 9)
)
def test_parts_begin_where_so_many_lines_have_ended(lines, every, block):
    content = "".join(f"{line}\n" for line in lines).encode()
    state, offset, found = np.zeros(3, np.int64), 0, []
    while offset < len(content):
        data = np.frombuffer(content[offset : offset + block], np.uint8)
        offsets, numbers, state = starts(data, state, every)
        found += zip((offsets + offset).tolist(), numbers.tolist(), strict=True)
        offset += block

    visible = [number for number, line in enumerate(lines, 1) if line.strip()]
    last_lines = visible[every - 1 :: every]
    assert found == [(sum(len(line) + 1 for line in lines[:number]), number) for number in last_lines]
    assert state[:2].tolist() == [len(lines), len(visible)]
