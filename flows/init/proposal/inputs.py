"""What the user named: a file, a folder of pieces of one table, or files to be joined."""

import os
from collections.abc import Sequence
from pathlib import Path

from flows.init.proposal import labelled
from flows.init.proposal.chosen import Chosen
from flows.init.proposal.joined import propose_joined
from flows.init.proposal.joined_long import long_file, propose_long
from flows.init.proposal.logs import propose_log, tool_of
from flows.init.proposal.parts import Part, are_pieces, read_part
from flows.init.proposal.proposal import Proposal, propose
from flows.init.proposal.sample import has_known_suffix, read_sample
from tasks.dataset.formats.arrow import saved_files
from tasks.errors import DataError, GoldmeterError

# Files of a folder up to which their questions are compared; more are pieces of one table.
MOST_FILES = 60


def propose_for(paths: Sequence[str], pattern: str | None, chosen: Chosen) -> Proposal:
    """Propose a mapping for a file, a folder, or several files.

    Args:
        paths: Of the files, or of the folder.
        pattern: Of a folder: which files, which are then pieces of one table; None: find out.
        chosen: What the user said about columns.

    Raises:
        DataError: If nothing can be proposed.
    """
    if len(paths) > 1:
        folder = _common_folder(paths)
        if all(tool_of(path, pattern) for path in paths):
            return _log_of_folder(folder, paths)
        return _joined(folder, [read_part(Path(folder), Path(path), chosen) for path in paths], chosen)
    (path,) = paths
    if tool := tool_of(path, pattern):
        return propose_log(path, tool)
    if pattern is None and Path(path).is_dir():
        parts, unreadable = _parts(Path(path), chosen)
        if len(parts) > 1 and not are_pieces(parts):
            return _joined(path, parts, chosen, unreadable)
    return propose(path, read_sample(path, pattern), chosen)


def _joined(path: str, parts: Sequence[Part], chosen: Chosen, unreadable: Sequence[str] = ()) -> Proposal:
    parts = labelled.marked(parts)
    long = long_file(parts)
    if long is not None:
        return propose_long(path, long, parts, chosen, unreadable)
    return propose_joined(path, parts, chosen, unreadable)


def _log_of_folder(folder: str, paths: Sequence[str]) -> Proposal:
    """Propose the mapping of several logs, which must be all of a folder.

    Raises:
        DataError: The folder holds other files, or the logs are of several tools.
    """
    tools = sorted({str(tool_of(path, None)) for path in paths})
    others = {path for path in Path(folder).rglob("*") if path.is_file()} - set(map(Path, paths))
    if len(tools) > 1 or others:
        why = f"of several tools: {', '.join(tools)}" if len(tools) > 1 else f"and {folder} holds other files"
        raise DataError(f"{', '.join(paths)}: logs {why}; put the logs of one tool into a folder of their own")
    return propose_log(folder, tools[0])


def _common_folder(paths: Sequence[str]) -> str:
    """The folder that holds all files.

    Raises:
        DataError: One of them is a folder.
    """
    for path in paths:
        if Path(path).is_dir():
            raise DataError(f"{path}: a folder; name one folder, or several files")
    return Path(os.path.commonpath([Path(path).parent for path in paths])).as_posix()


def _parts(folder: Path, chosen: Chosen) -> tuple[list[Part], list[str]]:
    """The files of a folder, and why others can't be read."""
    files = sorted(
        path for path in folder.iterdir() if path.is_file() and path.name[0] != "." and has_known_suffix(path)
    )
    if saved_files(folder) is not None or not 1 < len(files) <= MOST_FILES:
        return [], []
    parts, unreadable = list[Part](), list[str]()
    for file in files:
        try:
            parts.append(read_part(folder, file, chosen))
        except GoldmeterError as error:
            unreadable.append(str(error).splitlines()[0])
    return parts, unreadable
