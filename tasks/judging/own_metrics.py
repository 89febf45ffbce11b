"""Judge metrics of one's own against the rest of params.yaml, before anything runs."""

from collections.abc import Collection, Mapping
from typing import Any

from tasks.errors import ParamsError, did_you_mean
from tasks.judging.settings import PATH
from tasks.metrics.prompted import Prompted


def check_prompts(sections: Mapping[str, Any]) -> None:
    """Check that the data have what prompts read, and that no other metric has the column of one.

    Args:
        sections: Every section of params.yaml by name, validated.

    Raises:
        ParamsError: A prompt reads what section `dataset` does not map; or a column is there twice.
    """
    dataset = sections["dataset"]
    taken = {
        column
        for family in ("lexical", "semantic")
        if family in sections  # a project may be without the stage
        for metric in sections[family].root.values()
        for column in metric.columns
    }
    for metric in sections["judge"].metrics:
        if not isinstance(metric, Prompted):
            continue
        path = f"{PATH}.{metric.name}"
        check_reads(metric, metric.reads, dataset, f"{path}.prompt")
        if twice := taken & {*metric.table_columns}:
            raise ParamsError(f"{path}: another metric has the column {min(twice)}; choose another name")


def check_reads(question: Prompted, reads: Collection[str], dataset: Any, path: str) -> None:
    """Check that the data have what a prompt reads.

    Args:
        question: The question with the prompt.
        reads: What it reads of data/normalize.
        dataset: Section `dataset`.
        path: Where the prompt stands in params.yaml.

    Raises:
        ParamsError: Section `dataset` does not map it.
    """
    for option in ("contexts", "criteria", "slices"):
        if option in reads and not getattr(dataset, option):
            raise ParamsError(f"{path}: {question.prompt} reads {option}, but dataset.{option} names no column")
    for name in question.slices:
        if name not in dataset.slices:
            suggestion, listed = did_you_mean(name, [*dataset.slices]) or ";", ", ".join(dataset.slices)
            raise ParamsError(f"{path}: {question.prompt}: unknown slice {name!r}{suggestion} allowed: {listed}")
