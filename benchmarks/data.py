"""Real answers, and any number of rows made from them; both in the form of data/load, one row per (id, candidate)."""

import os
import string
from collections.abc import Iterator
from itertools import accumulate, chain, cycle, islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from goldmeter.dataset.normalized import Normalize
from goldmeter.dataset.normalized import normalized as normalized_table
from goldmeter.dataset.settings import Params
from goldmeter.dataset.sources import records
from goldmeter.pipeline import params
from tasks.load import load

ROOT = Path(__file__).parents[1]
EVOUNA = Path(os.environ.get("GOLDMETER_EVOUNA") or ROOT.parent / "shared/data/evouna") / "NQ.json"
"""Five systems' answers to Natural Questions (Wang et al. 2023). GOLDMETER_EVOUNA names the folder of the file."""
PARAMS = ROOT / "params.yaml"
SYSTEMS = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")
EVOUNA_MAPPING = {
    "path": str(EVOUNA),
    "exclude": {"improper": True},
    "references": "golden_answer",
    "reference_separator": "/",
    "candidates": {name: {"response": f"answer_{name}", "label": f"judge_{name}"} for name in SYSTEMS},
}

CANDIDATES = tuple(f"c{number}" for number in range(1, 6))
SEED = 0
MISSPELT = 0.03
"""Share of words with a wrong letter, so that the vocabulary grows with the text as that of people does (Heaps)."""
CHUNK = 2_000
SHORTEST_MISSPELT = 4
"""Letters."""
ALPHABETS = 1_000


class TextPairs(NamedTuple):
    """Non-blank responses, and beside each one of its references."""

    responses: list[str]
    references: list[str]

    def sample(self, size: int, start: int = 0) -> "TextPairs":
        """At most `size` pairs from `start` on in one random order, of all candidates and references alike."""
        order = np.random.default_rng(SEED).permutation(len(self.responses))
        chosen = np.sort(order[start : start + size]).tolist()
        return TextPairs(*([texts[i] for i in chosen] for texts in self))


def real_rows() -> tuple[str, pa.Table]:
    """Name and rows of the real data: EVOUNA-NQ where it is there, else the bundled example."""
    sections = real_sections()
    name = "EVOUNA-NQ" if EVOUNA.exists() else "the bundled example"
    given = Params(dataset=sections["dataset"], load=sections["load"])
    tables = load(records(given.dataset.path, given.dataset.pattern), given)
    return name, pa.concat_tables(part["load"] for part in tables)


def real_sections() -> dict[str, Any]:
    """params.yaml as shipped, its `dataset` mapped to the real data."""
    sections = params.effective(params.raw(PARAMS))
    if not EVOUNA.exists():
        return {**sections, "dataset": {**sections["dataset"], "path": str(ROOT / sections["dataset"]["path"])}}
    return {**sections, "dataset": plain(sections["dataset"]) | EVOUNA_MAPPING}


def generated_sections(path: str) -> dict[str, Any]:
    """params.yaml as shipped, its `dataset` mapped to a file of `generate`."""
    sections = params.effective(params.raw(PARAMS))
    mapping = {"path": path, "id": "id", "candidates": {name: {"response": name} for name in CANDIDATES}}
    return {**sections, "dataset": plain(sections["dataset"]) | mapping}


def plain(dataset: dict[str, Any]) -> dict[str, Any]:
    """A mapping of questions and references, with nothing else."""
    return dataset | {
        "id": None, "input": "question", "references": "references", "reference_separator": None, "exclude": {},
        "group": None, "slices": [], "phrases": None, "scores": {},
    }  # fmt: skip


def normalized(rows: pa.Table) -> pa.Table:
    """Rows of data/load as those of data/normalize."""
    return normalized_table(rows, Normalize(**real_sections()["normalize"]))


def text_pairs(rows: pa.Table) -> TextPairs:
    """Every pair of a non-blank response and one of its references."""
    pairs = [
        (response, reference)
        for response, references in zip(rows["response"].to_pylist(), rows["references"].to_pylist(), strict=True)
        if response and response.strip()
        for reference in references
    ]
    return TextPairs([response for response, _ in pairs], [reference for _, reference in pairs])


def write_generated(real: pa.Table, rows: int, path: Path, seed: int = SEED) -> None:
    """A Parquet file with one question, its references and five candidates' answers a record; `rows` answers in all.

    The same seed gives the same records, and fewer rows are the first of more.
    """
    left = rows // len(CANDIDATES)
    with pq.ParquetWriter(path, _SCHEMA) as file:
        for table in generate(real, seed):
            file.write_table(table.slice(0, left))
            left -= table.num_rows
            if left <= 0:
                return


def generate(real: pa.Table, seed: int = SEED) -> Iterator[pa.Table]:
    """Records without end: real questions and references; answers of parts of two real ones.

    An answer begins as the candidate's real answer to the question and goes on as its answer to another one;
    its digits are permuted, and of its words one in 33 is misspelt.
    """
    rng = np.random.default_rng(seed)
    questions = real.filter(pc.equal(real["candidate"], real["candidate"][0]))
    inputs, references = questions["input"].to_pylist(), questions["references"].to_pylist()
    pools = _pools(real)
    number = 0
    while True:
        chosen = rng.integers(len(inputs), size=CHUNK)
        in_turn = zip(CANDIDATES, cycle(pools), strict=False)  # real data may have fewer candidates
        columns = {
            "id": [f"g{number + i:08d}" for i in range(CHUNK)],
            "question": [inputs[i] for i in chosen],
            "references": [references[i] for i in chosen],
            **{name: _answers(pool, chosen, rng) for name, pool in in_turn},
        }
        yield pa.table(columns, _SCHEMA)
        number += CHUNK


_SCHEMA = pa.schema(
    {
        "id": pa.string(),
        "question": pa.string(),
        "references": pa.list_(pa.string()),
        **dict.fromkeys(CANDIDATES, pa.string()),
    }
)


def generated_rows(real: pa.Table, rows: int, seed: int = SEED) -> pa.Table:
    """The first rows of `generate` as the stage load would have them, one per (id, candidate); a multiple of 10,000."""
    batches = islice(generate(real, seed), rows // (CHUNK * len(CANDIDATES)))
    return pa.concat_tables(_answered(batch, name) for batch in batches for name in CANDIDATES)


def _answered(batch: pa.Table, candidate: str) -> pa.Table:
    columns = {
        "id": batch["id"],
        "candidate": pa.array([candidate] * batch.num_rows),
        "input": batch["question"],
        "response": batch[candidate],
        "references": batch["references"],
        "phrases": pa.nulls(batch.num_rows, pa.list_(pa.string())),
    }
    return pa.table(columns)


def _pools(real: pa.Table) -> list[list[list[str]]]:
    """Of each candidate the words of its answer to each question; where it has none, those of another question."""
    pools: dict[str, list[list[str]]] = {}
    for candidate, response in zip(real["candidate"].to_pylist(), real["response"].to_pylist(), strict=True):
        pool = pools.setdefault(candidate, [])
        pool.append((response or "").split() or (pool[-1] if pool else ["none"]))
    return list(pools.values())


def _answers(pool: list[list[str]], chosen: np.ndarray[Any, Any], rng: np.random.Generator) -> list[str]:
    others = rng.integers(len(pool), size=len(chosen))
    cuts, tails = rng.random(len(chosen)), rng.random(len(chosen))
    parts = [
        [*pool[i][: 1 + int(cut * len(pool[i]))], *pool[j][1 + int(tail * len(pool[j])) :]]
        for i, j, cut, tail in zip(chosen, others, cuts, tails, strict=True)
    ]
    words = list(chain.from_iterable(parts))
    _misspell(words, rng)
    ends = accumulate(map(len, parts), initial=0)
    tables = _digit_tables(rng)
    return [
        " ".join(words[start:end]).translate(tables[k])
        for (start, end), k in zip(pairwise(ends), rng.integers(len(tables), size=len(parts)), strict=True)
    ]


def _misspell(words: list[str], rng: np.random.Generator) -> None:
    """Put a wrong letter into some of the words."""
    chosen = np.flatnonzero(rng.random(len(words)) < MISSPELT)
    letters = rng.integers(len(string.ascii_lowercase), size=len(chosen))
    for i, letter, where in zip(chosen, letters, rng.random(len(chosen)), strict=True):
        place = int(where * len(words[i]))
        if len(words[i]) >= SHORTEST_MISSPELT:
            words[i] = words[i][:place] + string.ascii_lowercase[letter] + words[i][place + 1 :]


def _digit_tables(rng: np.random.Generator) -> list[dict[int, int]]:
    """Permutations of the digits, for str.translate."""
    return [str.maketrans(string.digits, "".join(rng.permutation([*string.digits]))) for _ in range(ALPHABETS)]
