"""Writes the folder lm_eval beside it; needs lm_eval==0.4.13 (torch is not needed) and no network."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from without_paths import without_paths

HERE = Path(__file__).parent
QUESTIONS = [
    {"question": "What is the capital of France?", "answer": ["Paris", "City of Paris"], "topic": "geography"},
    {"question": "What is 2 + 2?", "answer": ["4"], "topic": "maths"},
    {"question": "Who wrote Fidelio?", "answer": ["Beethoven"], "topic": "music"},
]
CHOICES = [
    {"question": "What is the capital of France?", "choices": ["Paris", "Rome"], "gold": 0},
    {"question": "What is 2 + 2?", "choices": ["3", "4"], "gold": 1},
]
TASK = {
    "dataset_path": "json",
    "test_split": "test",
    "doc_to_text": "Q: {{question}}\nA:",
}
METRIC = {"aggregation": "mean", "higher_is_better": True}
ASK = {
    "output_type": "generate_until",
    "doc_to_target": "{{answer}}",
    "generation_kwargs": {"until": ["\n"]},
    "metric_list": [{"metric": "exact_match", **METRIC}],
}
TWICE = {
    "repeats": 2,
    "filter_list": [
        {"name": "first", "filter": [{"function": "take_first"}]},
        {"name": "both", "filter": [{"function": "take_first_k", "k": 2}]},
    ],
}
CHOOSE = {
    "output_type": "multiple_choice",
    "doc_to_choice": "{{choices}}",
    "doc_to_target": "gold",
    "metric_list": [{"metric": "acc", **METRIC}],
}
TASKS = {"ask": (QUESTIONS, ASK), "twice": (QUESTIONS, ASK | TWICE), "choose": (CHOICES, CHOOSE)}

with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    for task, (records, options) in TASKS.items():
        data = folder / f"{task}.jsonl"
        data.write_text("".join(json.dumps(record) + "\n" for record in records))
        files = {"dataset_kwargs": {"data_files": {"test": str(data)}}}
        (folder / f"{task}.yaml").write_text(json.dumps({"task": task, **TASK, **files, **options}))
    where = ["--include_path", name, "--output_path", str(folder / "out")]
    command = [sys.executable, "-m", "lm_eval", "run", "--model", "dummy", "--tasks", ",".join(TASKS), "--log_samples"]
    subprocess.run([*command, *where], check=True, env=os.environ | {"HF_HOME": name, "HF_DATASETS_OFFLINE": "1"})
    for file in (folder / "out").glob("*/*"):
        (HERE / "lm_eval" / file.name).write_bytes(without_paths(file.read_bytes()))
