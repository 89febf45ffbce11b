"""What data/judge states of the verdicts on rows that a judge was asked about more than once."""

from typing import Any

from tasks.scores.column_facts import VALUE

# Key of the metadata of data/judge: metric → what its repeated verdicts are.
REPEATED = "repeated"


def verdicts_column(metric: str) -> str:
    """Return the column of data/judge with all verdicts of a metric on each row."""
    return f"{metric}_verdicts"


def facts(
    metric: str, column: str, bounds: tuple[float, float] | None, draws: int, *, has_rate: bool, is_binary: bool
) -> dict[str, Any]:
    """Return what data/judge states of the repeated verdicts of a metric, which its column `<metric>_verdicts` holds.

    Args:
        metric: Its name.
        column: Its score column.
        bounds: Of its verdicts; None if they are names.
        draws: Verdicts that make a score.
        has_rate: Whether rows of the column pass or fail.
        is_binary: Whether a verdict is true or false.
    """
    # A single verdict that is true or false passes if it is true: the rate is the mean of the verdicts.
    is_mean = not has_rate or (draws == 1 and is_binary)
    measures = [column] * is_mean + [f"{column}{VALUE}"] * has_rate
    stated = {"column": column, "bounds": bounds, "is_binary": is_binary, "draws": draws, "measures": measures}
    return {metric: stated}
