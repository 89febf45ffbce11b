"""What a schedule may compare with: a version whose name stands still."""

import re

from tasks.errors import ParamsError
from tasks.pipeline import git
from tasks.pipeline.schedule import FIXED
from tasks.versions.experiments import NAMESPACE
from tasks.versions.version import commit_of

SHORTEST = 7
"""Digits of a commit's id that are taken for one."""
_EXPERIMENT = re.compile(NAMESPACE + r"/[0-9a-f]{2}/[0-9a-f]{38}/(?P<name>.+)")


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
    full = git.answer("rev-parse", "--verify", "--quiet", "--symbolic-full-name", "--end-of-options", baseline) or ""
    return full.startswith("refs/tags/") or _EXPERIMENT.fullmatch(full) is not None


def _is_experiment(baseline: str) -> bool:
    """Whether it names an experiment, and nothing that git would take for it first."""
    if git.answer("rev-parse", "--verify", "--quiet", "--end-of-options", baseline):
        return False
    refs = git.answer("for-each-ref", "--format=%(refname)", NAMESPACE) or ""
    return any(ref["name"] == baseline for ref in map(_EXPERIMENT.fullmatch, refs.splitlines()) if ref)
