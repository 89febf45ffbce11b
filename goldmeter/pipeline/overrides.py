"""Settings given on a command line, such as `gate.margin=0.02`, as `dvc exp run -S` takes them."""

from collections.abc import Sequence
from pathlib import Path

from goldmeter.errors import ParamsError
from goldmeter.pipeline.defaults import defaults

# What lists names that the user chooses: without the defaults, one entry more would be the only one.
_LISTS = ("lexical", "semantic", "judge.metrics", "run.retries", "run.timeouts")
# Signs of Hydra before a setting: add, add or replace, remove.
_SIGNS = "+~"


def override(path: Path, changes: Sequence[str]) -> None:
    """Write settings into a params.yaml, also those that it leaves to their defaults.

    Args:
        path: The file.
        changes: `NAME=VALUE`, of Hydra's grammar; a list of metrics that is not stated keeps the default ones.

    Raises:
        ParamsError: A change can't be read or has no place; the message begins with it.
    """
    from dvc.exceptions import DvcException
    from dvc.utils.hydra import apply_overrides
    from dvc.utils.serialize import modify_yaml
    from omegaconf.errors import OmegaConfBaseException

    for change in changes:
        try:
            with modify_yaml(str(path)) as content:
                _state_list(content, change.lstrip(_SIGNS).partition("=")[0])
            apply_overrides(path, [change if change[:1] in _SIGNS else f"++{change}"])
        except (DvcException, OmegaConfBaseException) as error:
            cause = error.__cause__ or error
            raise ParamsError(f"{change}: {' '.join(str(cause).split())}") from error


def _state_list(content: dict[str, object], name: str) -> None:
    """State the defaults of the list that a setting is in, unless the file states the list."""
    listed = next((one for one in _LISTS if name.startswith(f"{one}.")), None)
    if listed is None:
        return
    default, inside = defaults(), content
    *above, last = listed.split(".")
    for step in above:
        default = default[step]
        below = inside.get(step)
        if not isinstance(below, dict):
            below = inside[step] = {}
        inside = below
    if inside.get(last) is None:
        inside[last] = default[last]
