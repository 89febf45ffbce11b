"""Writes inspect.eval and inspect.json.gz beside it; needs inspect_ai==0.3.285 and no network."""

import gzip
import sys
import tempfile
import types
from pathlib import Path

# Inspect counts the tokens of a mock model by tiktoken, which downloads its words.
words = types.SimpleNamespace(encode=lambda text, **_: text.split())
tiktoken = types.ModuleType("tiktoken")
tiktoken.get_encoding = tiktoken.encoding_for_model = lambda *_: words
sys.modules["tiktoken"] = tiktoken

from inspect_ai import Task, eval  # noqa: A004, E402
from inspect_ai.dataset import Sample  # noqa: E402
from inspect_ai.model import ModelOutput, get_model  # noqa: E402
from inspect_ai.scorer import includes, match  # noqa: E402
from inspect_ai.solver import generate, solver  # noqa: E402
from without_paths import without_paths, zip_without_paths  # noqa: E402

HERE = Path(__file__).parent
LONG = "Long questions are kept apart from the messages. " * 4


@solver
def fails_once():
    async def solve(state, _):
        if state.sample_id == "q2" and state.epoch == 1:
            raise ValueError("server went away")
        return state

    return solve


def write(log_format, epochs):
    samples = [
        Sample(id=f"q{i}", input=f"{LONG * (i == 1)}What is {i} + {i}?", target=str(2 * i), metadata={"topic": "sums"})
        for i in range(3)
    ]
    task = Task(dataset=samples, solver=[fails_once(), generate()], scorer=[match(), includes()], name="sums")
    outputs = (ModelOutput.from_content("mockllm/model", f"The answer is {i}") for i in range(0, 100, 2))
    with tempfile.TemporaryDirectory() as folder:
        eval(
            task,
            model=get_model("mockllm/model", custom_outputs=outputs),
            log_format=log_format,
            log_dir=folder,
            epochs=epochs,
            fail_on_error=False,
            display="none",
            max_samples=1,
        )
        return next(Path(folder).glob(f"*.{log_format}")).read_bytes()


(HERE / "inspect.eval").write_bytes(zip_without_paths(write("eval", 2)))
(HERE / "inspect.json.gz").write_bytes(gzip.compress(without_paths(write("json", 1)), mtime=0))
