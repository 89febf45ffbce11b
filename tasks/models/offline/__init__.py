"""The offline judge: a small trained model that says from the texts alone whether an answer is right. No LLM."""

from tasks.models.offline.age import sources
from tasks.models.offline.trees import model_hash
from tasks.models.offline.verdict import RIGHT, Judged, judge

__all__ = ["RIGHT", "Judged", "judge", "model_hash", "sources"]
