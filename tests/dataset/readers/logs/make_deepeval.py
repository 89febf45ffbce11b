"""Writes deepeval.json beside it; needs deepeval==4.3.1 and no network."""

import os
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
FOLDER = tempfile.mkdtemp()
os.environ |= {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "DEEPEVAL_RESULTS_FOLDER": FOLDER, "OPENAI_API_KEY": "none"}
os.chdir(FOLDER)

from deepeval import evaluate  # noqa: E402
from deepeval.evaluate.configs import AsyncConfig, ErrorConfig  # noqa: E402
from deepeval.metrics import BaseMetric  # noqa: E402
from deepeval.test_case import LLMTestCase  # noqa: E402
from without_paths import without_paths  # noqa: E402


class Exact(BaseMetric):
    async_mode = False
    evaluation_model = None
    threshold = 0.5

    def measure(self, case, *_, **__):
        if case.name == "third":
            raise ValueError("server went away")
        self.score = float(case.actual_output == case.expected_output)
        self.success = self.score >= self.threshold
        return self.score

    async def a_measure(self, case, *_, **__):
        return self.measure(case)

    def is_successful(self):
        return self.success

    @property
    def __name__(self):
        return "Exact"


cases = [
    LLMTestCase(
        name=name,
        input=f"What is {number} + {number}?",
        actual_output=answer,
        expected_output=str(2 * number),
        retrieval_context=["Sums."],
        additional_metadata={"topic": "maths"},
    )
    for name, number, answer in [("first", 1, "2"), ("second", 2, "5"), ("third", 3, "6")]
]
evaluate(
    cases,
    [Exact()],
    hyperparameters={"model": "tiny"},
    async_config=AsyncConfig(run_async=False),
    error_config=ErrorConfig(ignore_errors=True),
)
(HERE / "deepeval.json").write_bytes(without_paths(next(Path(FOLDER).glob("test_run_*.json")).read_bytes()))
