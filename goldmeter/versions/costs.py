"""The cost of a run: the ledger entries that it added and that its tables use."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from goldmeter.ledger import REPLIES, open_store
from goldmeter.ledger.entries import Entry, parse
from goldmeter.ledger.vectors import EVIDENCE_FILE as VECTORS
from goldmeter.ledger.verdicts import VerdictEvidence
from goldmeter.pipeline import params
from goldmeter.pipeline.dvc_yaml import LEDGER


class PaidEntries(NamedTuple):
    """The paid entries before a run. newest: kind → the number of the newest row of its store."""

    newest: Mapping[str, int]


def paid_entries() -> PaidEntries:
    """Take the evidence into the stores, and return what they hold then. Raises LedgerError when it is damaged."""
    newest = {}
    for kind in (*REPLIES, *(["embed"] if _pays_for_vectors() else [])):
        with open_store(kind) as store:
            store.take_in(Path(LEDGER, kind))
            newest[kind] = store.newest
    return PaidEntries(newest)


def since(before: PaidEntries) -> float | None:
    """Return the US dollars of the calls since then; None if the tokens or the price of a call are unknown.

    Only replies that are new in the store and used by the tables count: not the calls of another run, and not evidence
    that came with the data. The ledger has no tokens of embedding calls.
    """
    if _pays_for_vectors() and _new_vectors(before):
        return None
    costs = [_cost_of(kind, params.raw(), before) for kind in REPLIES]
    return None if None in costs else sum(filter(None, costs), 0.0)


def _pays_for_vectors() -> bool:
    return str(params.option("embed", "provider")) != "local"


def _cost_of(kind: str, content: Mapping[str, Any], before: PaidEntries) -> float | None:
    """Return the US dollars of the new replies of a kind; None if the tokens or the price of one are unknown."""
    entries = _new_entries(kind, before)
    if not entries:  # a project without new replies may lack the section of their stage
        return 0.0
    by_model = params.run_params().judge.prices
    prices = [by_model.get(model) for model in _models(kind, content)]
    common = prices[0] if prices and all(one == prices[0] for one in prices) else None
    total = 0.0
    for entry in entries:
        # An entry names the model as the server does, which may be another name than that of a price.
        price = common or by_model.get(entry["model"] or "")
        if price is None or not entry["tokens"]:
            return None
        total += price.of_tokens(entry["tokens"], by_batch=bool(entry.get("batch")))
    return total


def _models(kind: str, content: Mapping[str, Any]) -> set[str]:
    """Return the models that are asked for replies of a kind."""
    if kind == "judge":
        return {one.get("model") or params.option(kind, "model") for one in params.option(kind, "panel") or [{}]}
    candidates = (content.get("dataset") or {}).get("candidates") or {}
    return {one["model"] for one in candidates.values() if isinstance(one, dict) and "model" in one}


def _new_entries(kind: str, before: PaidEntries) -> list[Entry]:
    with open_store(kind) as store:
        new = {*store.since(before.newest.get(kind, 0)).values()}
    used = (line for _, line in VerdictEvidence(Path(LEDGER, kind)).lines()) if new else ()
    return [parse(line) for line in used if line in new]


def _new_vectors(before: PaidEntries) -> bool:
    from goldmeter.ledger.vector_file import VectorFile, split

    path = Path(LEDGER, "embed", VECTORS)
    with open_store("embed") as store:
        new = store.since(before.newest.get("embed", 0))
    return bool(new) and path.exists() and not new.keys().isdisjoint(split(VectorFile(path).keys))
