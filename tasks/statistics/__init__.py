"""Estimates of a rate or a mean, each with an interval that covers: arrays in, small frozen results out."""

from tasks.statistics.clusters import FewClusters
from tasks.statistics.corpus import FewRows, corpus_interval
from tasks.statistics.estimate import Estimate
from tasks.statistics.mean import mean_interval
from tasks.statistics.score import score_interval

__all__ = ["Estimate", "FewClusters", "FewRows", "corpus_interval", "mean_interval", "score_interval"]
