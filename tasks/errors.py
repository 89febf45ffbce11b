"""Errors a user can act on: what, where, what was allowed, what to do."""


class GoldmeterError(ValueError):
    """Base of all: printed as one message without a traceback, exit status 2."""


class ParamsError(GoldmeterError):
    """params.yaml is wrong; the message starts with the full path of the option."""


class DataError(GoldmeterError):
    """Input data can't be read; the message names file and row."""


class ContractError(GoldmeterError):
    """A table breaks its contract and was not written."""


class ModelError(GoldmeterError):
    """A model or its server can't be used; no key is ever in the message."""


class ServerError(ModelError):
    """A model's server can't be reached, or is overloaded: trying again later may do."""


class LedgerError(GoldmeterError):
    """The ledger can't be read or written."""


class VersionError(GoldmeterError):
    """A version that git or DVC should know can't be read; the message starts with its name."""


class ComparisonError(GoldmeterError):
    """Two versions can't be compared."""
