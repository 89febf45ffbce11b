"""Estimates, intervals, tests and sample sizes: arrays in, small immutable results out."""

from tasks.statistics.agreement import Agreement, agreement
from tasks.statistics.bradley_terry import PairSums, Strength, WinRate, strengths, win_rate
from tasks.statistics.clusters import FewClusters
from tasks.statistics.corpus import FewRows, corpus_interval
from tasks.statistics.correlation import correlations
from tasks.statistics.cross_fit import cross_fitted
from tasks.statistics.designed import DesignedDifference, DesignedLabels, designed_difference, designed_mean
from tasks.statistics.estimate import Estimate, Method
from tasks.statistics.mean import mean_interval
from tasks.statistics.multiplicity import max_t, sidak
from tasks.statistics.paired import (
    PairedDifference,
    corpus_difference,
    corpus_influence,
    mcnemar_midp,
    paired_difference,
)
from tasks.statistics.power import (
    TooManyRowsError,
    detectable_corpus_difference,
    detectable_difference,
    required_rows,
    rows_to_find,
)
from tasks.statistics.ppi import PpiDifference, PpiEstimate, ppi_difference, ppi_mean
from tasks.statistics.repeated import VarianceSplit, pass_all, pass_at, question_interval, variance_split
from tasks.statistics.sequential import DriftState, alpha_spending, drift_detector
from tasks.statistics.threshold import FittedThreshold, threshold_from_labels
from tasks.statistics.transported import BiasModel, bias_model, transported, transported_difference
from tasks.statistics.wilson import score_interval

__all__ = [
    "Agreement", "BiasModel", "DesignedDifference", "DesignedLabels", "DriftState", "Estimate", "FewClusters",
    "FewRows", "FittedThreshold", "Method", "PairSums", "PairedDifference", "PpiDifference", "PpiEstimate", "Strength",
    "TooManyRowsError", "VarianceSplit", "WinRate", "agreement", "alpha_spending",
    "bias_model", "corpus_difference", "corpus_influence", "corpus_interval", "correlations", "cross_fitted",
    "designed_difference", "designed_mean", "detectable_corpus_difference", "detectable_difference",
    "drift_detector", "max_t", "mcnemar_midp", "mean_interval", "paired_difference", "pass_all", "pass_at",
    "ppi_difference", "ppi_mean", "question_interval", "required_rows", "rows_to_find", "score_interval", "sidak",
    "strengths", "threshold_from_labels", "transported", "transported_difference", "variance_split", "win_rate",
]  # fmt: skip
