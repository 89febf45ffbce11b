"""Estimates, intervals, tests and sample sizes: arrays in, small immutable results out."""

from goldmeter.statistics.agreement import agreement
from goldmeter.statistics.clusters import FewClusters
from goldmeter.statistics.corpus import FewRows
from goldmeter.statistics.correlation import correlations
from goldmeter.statistics.cross_fit import cross_fitted
from goldmeter.statistics.designed import (
    DesignedDifference,
    DesignedLabels,
    designed_difference,
    designed_mean,
    variance_over_rows,
)
from goldmeter.statistics.estimate import Estimate, Method
from goldmeter.statistics.mean import mean_interval
from goldmeter.statistics.multiplicity import sidak
from goldmeter.statistics.paired import PairedDifference, mcnemar_midp, paired_difference
from goldmeter.statistics.power import required_rows
from goldmeter.statistics.ppi import PpiEstimate, ppi_mean
from goldmeter.statistics.repeated import VarianceSplit, pass_all, pass_at, question_interval, variance_split
from goldmeter.statistics.sequential import DriftState, alpha_spending, drift_detector
from goldmeter.statistics.threshold import FittedThreshold, threshold_from_labels
from goldmeter.statistics.transported import (
    BiasModel,
    LabelledEstimate,
    bias_model,
    bias_scale,
    people_difference,
    people_rate,
)
from goldmeter.statistics.wilson import score_interval

__all__ = [
    "BiasModel", "DesignedDifference", "DesignedLabels", "DriftState", "Estimate", "FewClusters", "FewRows",
    "FittedThreshold", "LabelledEstimate", "Method", "PairedDifference", "PpiEstimate", "VarianceSplit",
    "agreement", "alpha_spending", "bias_model", "bias_scale", "correlations", "cross_fitted",
    "designed_difference", "designed_mean", "drift_detector", "mcnemar_midp", "mean_interval", "paired_difference",
    "pass_all", "pass_at", "people_difference", "people_rate", "ppi_mean", "question_interval", "required_rows",
    "score_interval", "sidak", "threshold_from_labels", "variance_over_rows", "variance_split",
]  # fmt: skip
