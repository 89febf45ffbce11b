"""Import of the project's own modules: whatever is wrong in them is one sentence."""

from importlib import import_module
from types import ModuleType

from goldmeter.errors import GoldmeterError, ParamsError


def own_module(name: str) -> ModuleType:
    """Import a module of the project, such as `tasks.judge`.

    Raises:
        ParamsError: There is none, or it can't be imported; with the command that helps.
    """
    file = f"{name.replace('.', '/')}.py"
    try:
        return import_module(name)
    except GoldmeterError:
        raise
    except Exception as error:  # noqa: BLE001 (whatever the user's own code raises)
        if isinstance(error, ModuleNotFoundError) and error.name and f"{name}.".startswith(f"{error.name}."):
            raise ParamsError(f"no module {file}; `git checkout {file}` restores it") from None
        of_library = isinstance(error, ImportError) and str(error.name).partition(".")[0] == "goldmeter"
        helps = "`goldmeter upgrade` may know it" if of_library else f"`python -c 'import {name}'` shows where"
        described = " ".join(f"{type(error).__name__}: {error}".split())
        raise ParamsError(f"{file}: can't be imported: {described}; {helps}") from None
