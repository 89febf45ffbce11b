"""The offline judge: a small trained model that says from the texts alone whether an answer is right. No LLM."""

from tasks.offline.age import sources
from tasks.offline.judgement import RIGHT, Judged, judge
from tasks.offline.trees import model_hash

__all__ = ["RIGHT", "Judged", "judge", "model_hash", "sources"]
