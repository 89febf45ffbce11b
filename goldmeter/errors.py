"""Errors a user can act on: what is wrong, where, what is allowed, what to do."""

from collections.abc import Callable, Collection, Iterable
from difflib import get_close_matches

# What the message of a BatchesAtWorkError says, by which a flow tells a stage that is not done from one that failed.
BATCHES_AT_WORK = "batches are at work"


class GoldmeterError(ValueError):
    """Base class: commands print the message without a traceback and exit with status 2."""


class ParamsError(GoldmeterError):
    """params.yaml is wrong; the message starts with the full path of the option."""


class DataError(GoldmeterError):
    """Data or a document can't be read; the message names the file, and the row where there is one."""


class ContractError(GoldmeterError):
    """A table breaks its contract and was not written."""


class ModelError(GoldmeterError):
    """A model or its server can't be used; no key is ever in the message."""


class ServerError(ModelError):
    """A model's server can't be reached, or is overloaded: a later attempt may succeed."""


class BatchesAtWorkError(ServerError):
    """Batches are not done yet: the next run takes their results in."""


class ClusterError(GoldmeterError):
    """The cluster that `run` names can't be used: a later attempt may succeed."""


class StorageError(GoldmeterError):
    """The storage that `run` names does not answer: a later attempt may succeed."""


class LedgerError(GoldmeterError):
    """The ledger can't be read or written."""


class VersionError(GoldmeterError):
    """A version can't be read from git or DVC, or can't be recorded; the message starts with its name."""


class ComparisonError(GoldmeterError):
    """Two versions can't be compared."""


class ExportError(GoldmeterError):
    """Results can't be exported: a candidate is unknown, or the target does not take them."""


def did_you_mean(name: str, allowed: Iterable[str], quote: Callable[[str], str] = str) -> str:
    """Return a question that suggests similar names, to be appended to a message; "" if none is similar.

    quote: how a name is written; the names of data columns may hold anything.

    >>> did_you_mean("blue", ["bleu", "rouge"])
    '; did you mean bleu?'
    """
    similar = " or ".join(map(quote, get_close_matches(name, [*allowed])))
    return f"; did you mean {similar}?" if similar else ""


def unknown(kind: str, name: str, allowed: Collection[str]) -> str:
    """Return the message for a name that does not exist, with similar names and all that are allowed."""
    return f"unknown {kind} {name!r}{did_you_mean(name, allowed) or ';'} allowed: {', '.join(allowed)}"
