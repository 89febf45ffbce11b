"""Which metrics there are: a metric is a module of a family's folder, a family a folder beside this file.

A module whose name begins with an underscore is no metric; every other one defines exactly one Metric class.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from tasks.errors import ParamsError, did_you_mean
from tasks.metrics.base import Metric
from tasks.pipeline.settings import explain

_HERE = Path(__file__).parent


def families() -> list[str]:
    """Names of the families, sorted."""
    return sorted(folder.name for folder in _HERE.iterdir() if any(_modules(folder)))


def names(family: str) -> list[str]:
    """Names of a family's metrics, sorted; ParamsError for an unknown family."""
    if family not in families():
        raise ParamsError(unknown("family", family, families()))
    return sorted(_modules(_HERE / family))


def metric(name: str) -> type[Metric]:
    """The metric of that name in whichever family; ParamsError for an unknown one."""
    return metric_class(family_of(name), name)


def family_of(name: str) -> str:
    """The family that has the metric; ParamsError for an unknown one."""
    found = {metric: family for family in families() for metric in names(family)}
    if name not in found:
        raise ParamsError(unknown("metric", name, sorted(found)))
    return found[name]


def metric_class(family: str, name: str) -> type[Metric]:
    """The one Metric class that the metric's module defines; ParamsError for an unknown family or metric."""
    if name not in names(family):
        raise ParamsError(f"{family}.{name}: {unknown('metric', name, names(family))}")
    module = importlib.import_module(f"tasks.metrics.{family}.{name}")
    classes = [
        cls
        for _, cls in inspect.getmembers(module, inspect.isclass)
        if issubclass(cls, Metric) and cls.__module__ == module.__name__
    ]
    if len(classes) != 1:
        raise TypeError(f"{module.__name__} defines {len(classes)} Metric classes; a metric's module defines one")
    return classes[0]


def configure(family: str, name: str, options: Mapping[str, Any] | None) -> Metric:
    """The metric with its options of params.yaml; ParamsError naming the path of each option that is wrong."""
    cls = metric_class(family, name)
    if not isinstance(options, Mapping | None):
        raise ParamsError(f"{family}.{name}: expected options, such as {{threshold: 0.5}}, not {options!r}")
    try:
        return cls.model_validate(dict(options or {}))
    except ValidationError as error:
        raise ParamsError(explain(error, cls, f"{family}.{name}")) from None


def unknown(kind: str, name: str, allowed: list[str]) -> str:
    """Return the message for a name that does not exist, with similar names and all that are allowed."""
    return f"unknown {kind} {name!r}{did_you_mean(name, allowed) or ';'} allowed: {', '.join(allowed)}"


def _modules(folder: Path) -> Iterable[str]:
    found = pkgutil.iter_modules([str(folder)])
    return (module.name for module in found if not module.name.startswith("_"))
