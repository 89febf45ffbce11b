"""What a schedule may compare with: a version whose name stands still."""

import re
import subprocess

from tasks.errors import ParamsError
from tasks.schedule import FIXED
from tasks.versions import commit_of

SHORTEST = 7
"""Digits of a commit's id that are taken for one."""
_EXPERIMENT = re.compile(r"refs/exps/[0-9a-f]{2}/[0-9a-f]{38}/(?P<name>.+)")


def check_baseline(name: str, baseline: str) -> str:
    """The commit of a schedule's baseline: a tag, an experiment, or a commit by its id.

    A tag that is moved is a new baseline: what may be spent on false alarms begins anew with it.
    Raises ParamsError when nobody knows it, or it is a branch or another name that moves.
    """
    where = f"schedule.{name}.baseline: {baseline}"
    commit = commit_of(baseline)
    if commit is None:
        raise ParamsError(f"{where}: neither git nor DVC knows such a version; expected {FIXED}")
    if not (_is_id(baseline, commit) or _is_fixed_ref(baseline) or _is_experiment(baseline)):
        raise ParamsError(f"{where}: expected {FIXED}; this names a branch, or a version by its way from another")
    return commit


def _is_id(baseline: str, commit: str) -> bool:
    return len(baseline) >= SHORTEST and commit.startswith(baseline.lower())


def _is_fixed_ref(baseline: str) -> bool:
    full = _git("rev-parse", "--verify", "--quiet", "--symbolic-full-name", "--end-of-options", baseline)
    return full.startswith("refs/tags/") or _EXPERIMENT.fullmatch(full) is not None


def _is_experiment(baseline: str) -> bool:
    """Whether it names an experiment, and nothing that git would take for it first."""
    if _git("rev-parse", "--verify", "--quiet", "--end-of-options", baseline):
        return False
    refs = map(_EXPERIMENT.fullmatch, _git("for-each-ref", "--format=%(refname)", "refs/exps").splitlines())
    return any(ref["name"] == baseline for ref in refs if ref)


def _git(*command: str) -> str:
    """What git answers; empty when it fails."""
    answer = subprocess.run(["git", *command], capture_output=True, text=True, check=False)
    return answer.stdout.strip() if answer.returncode == 0 else ""
