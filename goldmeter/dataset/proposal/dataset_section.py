"""Section `dataset` in params.yaml and the files that it names, as commands change them."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from goldmeter.dataset.proposal.section import NAME, rewritten
from goldmeter.dataset.settings import Dataset
from goldmeter.errors import ParamsError
from goldmeter.pipeline import git, params
from goldmeter.pipeline.dvc_yaml import stages
from goldmeter.pipeline.files import replacing


def write_dataset(options: Mapping[str, Any], section: Mapping[str, str]) -> str | None:
    """Change the section in params.yaml; returns git's hash of the former file, if git did not have it.

    Args:
        options: Its values, which are checked first.
        section: The lines of each option that is to be stated.
    """
    params.raw()  # raises if it is missing, or is no YAML
    params.section(Dataset, {NAME: dict(options)}, NAME)
    file = params.PATH.resolve()
    content = file.read_bytes().decode()
    changed = rewritten(content, section)
    if changed == content:
        return None
    kept = _kept(content)
    write_params(changed)
    return kept


def write_params(content: str) -> None:
    """Replace params.yaml, with its mode, where it is."""
    file = params.PATH.resolve()
    with replacing(file) as temporary:
        temporary.write_bytes(content.encode())
        shutil.copymode(file, temporary)


def tables_in(folder: str) -> list[str]:
    """Return the tables of the pipeline in a folder, sorted; none for a file."""
    if not Path(folder).is_dir():
        return []
    return sorted(out for stage in stages().values() for out in stage.outs if Path(folder) in [*Path(out).parents])


def is_tracked(path: str) -> bool:
    """Return whether git or DVC tracks the data, or a stage writes them."""
    above = [Path(path), *Path(path).parents]
    by_dvc = any(Path(f"{folder}.dvc").is_file() for folder in above if folder.name)
    outs = {out for stage in stages().values() for out in stage.outs}
    tracked = git.run("--literal-pathspecs", "ls-files", "--error-unmatch", "--", path)
    return by_dvc or any(folder.as_posix() in outs for folder in above) or tracked.returncode == 0


def _kept(content: str) -> str | None:
    """Store the text in git, unless git has it; returns its hash. Raises ParamsError if git can't store it."""
    hashed = git.run("hash-object", "--stdin", feed=content).stdout.strip()
    if hashed and git.answer("cat-file", "-e", hashed) is not None:
        return None
    kept = git.run("hash-object", "-w", "--stdin", feed=content)
    if kept.returncode:
        raise ParamsError(
            f"{params.PATH}: git can't save the present file: `git init`, or write section {NAME} by hand"
        )
    return kept.stdout.strip()
