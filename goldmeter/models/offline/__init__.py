"""The offline judge: a small trained model that decides from the texts whether an answer is right, without an LLM."""

from goldmeter.models.offline.trees import model_hash
from goldmeter.models.offline.verdict import RIGHT, VERSION, Judged, judge, judge_columns

__all__ = ["RIGHT", "VERSION", "Judged", "judge", "judge_columns", "model_hash"]
