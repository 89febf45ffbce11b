"""Preferences between two candidates' answers: requests in both orders, and the table: one row per (id, pair)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from goldmeter.asking.requests import Request, replies
from goldmeter.errors import ParamsError, unknown
from goldmeter.judging.other_names import accepted, other_names
from goldmeter.judging.settings import Judge, check_reads
from goldmeter.judging.statuses import ANSWERED, FAILED, filtered_rows, sampled_rows
from goldmeter.ledger.entries import Entry
from goldmeter.ledger.verdicts import Verdicts
from goldmeter.metrics.base import FILTERED, NO_RESPONSE, NOT_SAMPLED
from goldmeter.metrics.judged import texts_of
from goldmeter.metrics.preference import TIE, VERDICTS, Preference
from goldmeter.pipeline.tables import Parts, about

TABLE = "preference"
IDENTICAL = "identical"
STATUSES = (ANSWERED, IDENTICAL, FAILED, NO_RESPONSE, FILTERED, NOT_SAMPLED)
SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("id", "candidate_a", "candidate_b", "verdict", "preference_status")),
        *((name, pa.string()) for name in ("verdict_a_first", "verdict_b_first")),
        *((name, pa.string()) for name in ("reason_a_first", "reason_b_first", "problem")),
    ]
)
# Ids whose requests and replies are in memory at once.
BLOCK_IDS = 1_000
Row = Mapping[str, Any]


class Compared(NamedTuple):
    """Two answers to one input.

    requests: with the answer of `a` first, then with that of `b` first; empty if they are not asked about. problem: why
    the requests can't be made.
    """

    id: str
    a: str
    b: str
    status: str
    requests: tuple[Request, ...] = ()
    problem: str | None = None


def request_blocks(part: pa.Table, options: Judge) -> Iterator[list[Request]]:
    """Yield the requests about the pairs of a part of data/normalize, some ids at a time."""
    for block in _blocks(part, options):
        yield [request for one in block for request in one.requests]


def about_pairs(parts: Iterable[pa.Table], options: Judge) -> Iterator[list[Request]]:
    """Yield the requests about the pairs of all parts, some ids at a time; none if nothing is compared."""
    if options.preference:
        yield from (requests for part in parts for requests in request_blocks(part, options))


def preference_entries(part: pa.Table, options: Judge, ledger: Verdicts) -> Iterator[dict[str, Entry]]:
    """Yield the ledger's entries for the pairs of a part, by key, block by block."""
    return (replies(requests, ledger) for requests in request_blocks(part, options))


def preference_table(part: pa.Table, options: Judge, ledger: Verdicts) -> pa.Table:
    """Build the table of one part from the ledger: one row per id and pair of candidates that both have a row."""
    rows: list[dict[str, str | None]] = []
    for block in _blocks(part, options):
        entries = replies((request for one in block for request in one.requests), ledger)
        rows += [_row(one, entries) for one in block]
    return pa.Table.from_pylist(rows, SCHEMA)


def preference_problems(table: pa.Table) -> Counter[str]:
    """Count the pairs that were to be asked about and lack a verdict, by problem."""
    failed = table["problem"].filter(pc.equal(table["preference_status"], FAILED))
    return Counter(map(str, failed.to_pylist()))


def preference_counts(table: pa.Table) -> dict[str, float]:
    """Count the pairs asked about, those that failed, and how many may fail; empty if nothing is compared."""
    if not (facts := about(table.schema)):
        return {}
    failed = preference_problems(table).total()
    asked = failed + int(pc.sum(pc.equal(table["preference_status"], ANSWERED)).as_py() or 0)
    allowed = round(facts["max_unmeasured"] * asked, 6)
    return {"pairs_asked": asked, "pairs_failed": failed, "pairs_failed_allowed": allowed}


def require_candidates(parts: Parts, options: Judge) -> None:
    """Check the names of the pairs against the data.

    Raises:
        ParamsError: A name is no candidate, or there is a single candidate.
    """
    if options.preference is None:
        return
    names: set[str] = set()
    for part in parts.read(["candidate"]):
        names.update(part["candidate"].unique().to_pylist())
    check_names(options.preference.pairs, sorted(names))


def check_names(pairs: str | Iterable[tuple[str, str]], names: Sequence[str]) -> None:
    """Check the names of pairs; raises as `require_candidates`."""
    path = "judge.preference.pairs"
    if isinstance(pairs, str):
        if len(names) < 2:  # noqa: PLR2004 (a pair)
            raise ParamsError(f"{path}: {len(names)} candidates; a preference is one between two or more")
        return
    for name in dict.fromkeys(name for pair in pairs for name in pair):
        if name not in names:
            raise ParamsError(f"{path}: {unknown('candidate', name, names)}")


def check_preference(sections: Mapping[str, Any]) -> None:
    """Check what `judge.preference` names against the section `dataset`, before anything runs.

    Args:
        sections: Every section of params.yaml by name, validated.

    Raises:
        ParamsError: A name is no candidate, or the prompt reads what the data do not have.
    """
    chosen, dataset = sections["judge"].preference, sections["dataset"]
    if chosen is None:
        return
    named = [*(dataset.long.only if dataset.long else dataset.named)]
    if named or not dataset.long:
        check_names(chosen.pairs, named)
    reads = [*chosen.question.reads, *(["contexts"] if chosen.question.reads_contexts else [])]
    check_reads(chosen.question, reads, dataset, "judge.preference.prompt")


def _blocks(part: pa.Table, options: Judge) -> Iterator[list[Compared]]:
    """Yield the pairs of a part, some ids at a time."""
    if options.preference is None:
        return
    excluded = {
        status: np.flatnonzero(~keeps).tolist()
        for status, keeps in ((FILTERED, filtered_rows(part, options)), (NOT_SAMPLED, sampled_rows(part, options)))
    }
    status_of = {row: status for status, rows in reversed(excluded.items()) for row in rows}
    # Rows of one id are in one part.
    rows_of: dict[int, list[int]] = {}
    for row, code in enumerate(pc.dictionary_encode(part["id"].combine_chunks()).indices.to_pylist()):
        rows_of.setdefault(code, []).append(row)
    ids = [*rows_of.values()]
    for start in range(0, len(ids), BLOCK_IDS):
        chosen = ids[start : start + BLOCK_IDS]
        every = [row for rows in chosen for row in rows]
        texts = dict(zip(every, part.take(every).to_pylist(), strict=True))
        yield [one for rows in chosen for one in _pairs({row: texts[row] for row in rows}, status_of, options)]


def _pairs(rows: Mapping[int, Row], status_of: Mapping[int, str], options: Judge) -> Iterator[Compared]:
    """Yield the pairs of one id; rows: by their number in the part."""
    if options.preference is None:
        return
    by_candidate = {row["candidate"]: number for number, row in rows.items()}
    pairs = options.preference.pairs
    chosen = combinations(sorted(by_candidate), 2) if isinstance(pairs, str) else pairs
    for a, b in chosen:
        if a in by_candidate and b in by_candidate:
            numbers = by_candidate[a], by_candidate[b]
            status = next((status_of[number] for number in numbers if number in status_of), None)
            yield _compared(rows[numbers[0]], rows[numbers[1]], status, options, options.preference.question)


def _compared(a: Row, b: Row, status: str | None, options: Judge, question: Preference) -> Compared:
    of = Compared(a["id"], a["candidate"], b["candidate"], status or ANSWERED)
    if status:
        return of
    lacking = [row["candidate"] for row in (a, b) if row["response"] is None]
    if lacking:
        return of._replace(status=NO_RESPONSE, problem=f"no response of {' and '.join(lacking)}")
    if a["response"].strip() == b["response"].strip():
        return of._replace(status=IDENTICAL)
    references = accepted(texts_of(a["references"]), other_names(options.aliases))
    try:
        requests = tuple(
            _request(question.fields_of(first, second, references), question, options)
            for first, second in ((a, b), (b, a))
        )
    except ValueError as problem:
        return of._replace(status=FAILED, problem=str(problem))
    return of._replace(requests=requests)


def _request(fields: str, question: Preference, options: Judge) -> Request:
    server, address = options.server_key
    return Request(server, address, options.model, question, fields, options.temperature, options.seed, 0)


def _row(one: Compared, entries: Mapping[str, Entry]) -> dict[str, str | None]:
    row: dict[str, str | None] = {
        "id": one.id,
        "candidate_a": one.a,
        "candidate_b": one.b,
        "preference_status": one.status,
    }
    if one.status == IDENTICAL:
        return row | {"verdict": TIE}
    if not one.requests:
        return row | {"problem": one.problem}
    found = [entries[request.key] for request in one.requests]
    verdicts = [_side(entry["verdict"], shown) for entry, shown in zip(found, ("ab", "ba"), strict=True)]
    for name, entry, verdict in zip(("a_first", "b_first"), found, verdicts, strict=True):
        row |= {f"verdict_{name}": verdict, f"reason_{name}": entry["reason"]}
    if None in verdicts:
        problem = next(entry["problem"] for entry in found if entry["verdict"] is None)
        return row | {"preference_status": FAILED, "problem": problem}
    return row | {"verdict": verdicts[0] if verdicts[0] == verdicts[1] else TIE}


def _side(verdict: float | None, shown: str) -> str | None:
    """The side that a verdict prefers, a or b, or a tie; shown: the sides in the order in which they were shown."""
    if verdict is None:
        return None
    said = VERDICTS[int(verdict)]
    return said if said == TIE else shown[VERDICTS.index(said)]
