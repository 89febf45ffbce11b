"""Writes the folder datasets beside it; needs datasets==5.2.0 and no network."""

from pathlib import Path

from datasets import Dataset, DatasetDict

test = Dataset.from_dict({"id": [1, 2, 3], "question": ["1?", "2?", "3?"], "answers": [["one"], ["two", "2"], []]})
DatasetDict({"test": test}).save_to_disk(Path(__file__).parent / "datasets", num_shards={"test": 2})
