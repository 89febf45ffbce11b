"""From a log to loaded rows by what `init` proposes, without DVC."""

from pathlib import Path
from typing import Any

from goldmeter.dataset.proposal.given import Chosen
from goldmeter.dataset.proposal.inputs import propose_for
from goldmeter.dataset.settings import Params
from tasks.load import load, source
from tests.small_project import settings

STATED = settings()


def proposed(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The options that are proposed for a file or folder, and the rows that load makes by them."""
    options = dict(propose_for([str(path)], None, Chosen()).options)
    limits = STATED["load"] | {"max_rejected": 1}
    params = Params(dataset=options, load=limits | {"require_references": options["references"] is not None})
    tables = list(load(source(params), params))
    rejected = [row for part in tables for row in part["load_rejected"].to_pylist()]
    assert not rejected
    return options, [row for part in tables for row in part["load"].to_pylist()]
