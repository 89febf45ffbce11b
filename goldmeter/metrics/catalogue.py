"""Find metrics: a family is a folder beside this file, a metric is a module in it with one Metric class.

A project adds metrics of its own in `tasks/metrics/<family>/`.
"""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from goldmeter.errors import ParamsError, unknown
from goldmeter.metrics.base import Metric
from goldmeter.pipeline.settings import explain
from goldmeter.pipeline.stage import own_module

_HERE = Path(__file__).parent
# The metrics of the project in the current folder.
_OWN = Path("tasks", "metrics")
AnyMetric = TypeVar("AnyMetric", bound=Metric)
# Names that users give, and those that a column of the project has.
NAME = re.compile(r"[a-z][a-z0-9_]*")
RESERVED = re.compile(
    r"id|candidate|label|offline_match|in_domain|domain_reason|judged_by|preference|(judge|score)_.*"
    r"|.*_(result|reason|details|stats)"
)


# What other toolkits call the embedding model of a metric → where it is stated here.
_EMBEDDING = {
    "embedding_provider": "embed.provider",
    **dict.fromkeys(["model_name", "embedding_model", "model"], "embed.model"),
}


def families() -> list[str]:
    """Return the names of the families, sorted."""
    return sorted(folder.name for folder in _HERE.iterdir() if _modules(folder))


def names(family: str) -> list[str]:
    """Return the names of a family's metrics, sorted. Modules whose name begins with an underscore are not metrics.

    Raises:
        ParamsError: Unknown family.
    """
    if family not in families():
        raise ParamsError(unknown("family", family, families()))
    return sorted({*_modules(_HERE / family), *_modules(_OWN / family)})


def family_of(name: str) -> str:
    """Return the family of a metric.

    Raises:
        ParamsError: Unknown metric.
    """
    family_by_metric = {metric: family for family in families() for metric in names(family)}
    if name not in family_by_metric:
        raise ParamsError(unknown("metric", name, sorted(family_by_metric)))
    return family_by_metric[name]


def metric_class(family: str, name: str) -> type[Metric]:
    """Return the Metric class of a metric's module.

    Raises:
        ParamsError: Unknown family or metric, or one of the project that can't be imported, has the name of another one
            or does not define exactly one Metric class.
    """
    if name not in names(family):
        raise ParamsError(f"{family}.{name}: {unknown('metric', name, names(family))}")
    is_own = name in _modules(_OWN / family)
    if is_own and any(name in _modules(_HERE / each) for each in families()):
        raise ParamsError(f"{_OWN / family / name}.py: goldmeter has a metric of this name; rename the file")
    package = ".".join(_OWN.parts) if is_own else "goldmeter.metrics"
    module = (own_module if is_own else importlib.import_module)(f"{package}.{family}.{name}")
    classes = [
        cls
        for _, cls in inspect.getmembers(module, inspect.isclass)
        if issubclass(cls, Metric) and cls.__module__ == module.__name__
    ]
    if len(classes) != 1:
        problem = f"{module.__name__} defines {len(classes)} Metric classes; a metric's module defines one"
        raise ParamsError(problem) if is_own else TypeError(problem)
    return classes[0]


def configure(family: str, name: str, options: Mapping[str, Any] | None, section: str | None = None) -> Metric:
    """Return the metric with its options from params.yaml.

    Args:
        family: Its family.
        name: A metric, or a name of the user's for the one that option `metric` states.
        options: Its options.
        section: The path of the section that lists the metric; None: the family.

    Raises:
        ParamsError: A wrong name or option; the message names its path.
    """
    path = f"{section or family}.{name}"
    given = options if isinstance(options, Mapping) else {}
    if family == "semantic" and (moved := [option for option in given if option in _EMBEDDING]):
        raise ParamsError(
            f"{path}.{moved[0]}: no option of a metric, as one model embeds all texts: {_EMBEDDING[moved[0]]} in "
            "params.yaml states it; score and scores use the bundled model"
        )
    metric = given.get("metric")
    if metric is None or metric == name:
        return validated(metric_class(family, name), {**given, "metric": None} if given else options, path)
    if metric not in names(family):
        raise ParamsError(f"{path}.metric: {unknown('metric', str(metric), names(family))}")
    check_own_name(name, path)
    return validated(metric_class(family, metric), options, path, {"name": name})


def check_own_name(name: str, path: str) -> None:
    """Check a name that the user gives to a metric.

    Raises:
        ParamsError: It is no word, or that of a metric or of a column of the project's own.
    """
    known = {metric for family in families() for metric in names(family)}
    if not NAME.fullmatch(name) or name in known or RESERVED.fullmatch(name):
        raise ParamsError(
            f"{path}: choose another name: a lower-case word with digits or _, that is no metric or column of the "
            "project's own"
        )


def check_columns(metrics: Mapping[str, Metric]) -> None:
    """Check that no two metrics have a column in common.

    Args:
        metrics: Path in params.yaml → metric.

    Raises:
        ParamsError: Two have.
    """
    owners: dict[str, str] = {}
    for path, metric in metrics.items():
        for column in metric.columns:
            if (other := owners.setdefault(column, path)) != path:
                raise ParamsError(f"{path}: {other} has the column {column} too; choose another name")


def validated(cls: type[AnyMetric], options: Any, path: str, context: Any = None) -> AnyMetric:
    """Return the metric of a class with options from params.yaml.

    Raises:
        ParamsError: A wrong option; the message names its path.
    """
    if not isinstance(options, Mapping | None):
        raise ParamsError(f"{path}: expected options, such as {{threshold: 0.5}}, not {options!r}")
    try:
        return cls.model_validate(dict(options or {}), context=context)
    except ValidationError as error:
        raise ParamsError(explain(error, cls, path)) from None


def declaring(family: str, declared: str) -> list[str]:
    """Return the names of a family's metrics whose class declares this to be true, such as `is_correctness`, sorted."""
    return [name for name in names(family) if getattr(metric_class(family, name), declared)]


def _modules(folder: Path) -> tuple[str, ...]:
    try:
        return _modules_at(folder.absolute(), folder.stat().st_mtime_ns)
    except (FileNotFoundError, NotADirectoryError):
        return ()


@cache
def _modules_at(folder: Path, changed: int) -> tuple[str, ...]:  # noqa: ARG001 (a new file changes the time)
    """Names of the modules in a folder; reading it takes a millisecond."""
    modules = pkgutil.iter_modules([str(folder)])
    return tuple(module.name for module in modules if not module.name.startswith("_"))


@cache
def correctness_verdict() -> str:
    """Return its name: the one metric of family `judge` that declares `is_correctness`.

    Raises:
        TypeError: None or several declare it.
    """
    found = declaring("judge", "is_correctness")
    if len(found) != 1:
        raise TypeError(f"metrics of family judge that declare is_correctness: {found}; expected one")
    return found[0]
