"""Argument names of other toolkits, such as `prediction` and `ground_truth`, as aliases of ours."""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, TypeVar

Result = TypeVar("Result")
ALIASES = {
    **dict.fromkeys(["actual_output", "prediction", "predictions", "output", "answer"], "response"),
    **dict.fromkeys(["reference", "ground_truth", "expected_output", "expected_text"], "references"),
    **dict.fromkeys(["query", "question", "prompt"], "input"),
}


def accepts_aliases(**parameters: str) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Let a function accept the aliases of its arguments; one given under two names raises TypeError.

    Args:
        **parameters: Column → the function's parameter for it.
    """
    names = parameters | {alias: parameters[column] for alias, column in ALIASES.items() if column in parameters}

    def decorate(function: Callable[..., Result]) -> Callable[..., Result]:
        order = list(signature(function).parameters)

        @wraps(function)
        def accepting(*args: Any, **kwargs: Any) -> Result:
            names_used = dict(zip(order, order[: len(args)], strict=False))
            named: dict[str, Any] = {}
            for name, value in kwargs.items():
                parameter = names.get(name, name)
                first = names_used.setdefault(parameter, name)
                if first != name:
                    raise TypeError(f"{function.__name__}: {first} and {name} are the same argument; give one of them")
                named[parameter] = value
            return function(*args, **named)

        return accepting

    return decorate
