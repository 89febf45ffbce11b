"""Where the numbers of a page come from: data, params, code, versions, signatures, and what the judge cost."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import yaml

from tasks.console.format import Text, counted, shown
from tasks.reporting.checks import Stage
from tasks.reporting.score_tables import Metric
from tasks.reporting.trends import cost

if TYPE_CHECKING:
    from tasks.ledger.verdicts import Paid

LONGEST = 20_000
"""Characters of a section of params that are shown."""
NOT_RECORDED = "not recorded: the version that made these tables did not keep it"
OFFLINE = {"offline": "offline", "none": "off"}
"""Provider that asks no server → how the judge is then."""


class Price(Protocol):
    """What a model's tokens cost."""

    def of(self, prompt: float, completion: float) -> float:
        """US dollars for so many tokens."""


class Seen(NamedTuple):
    """One value of a name, and the stages that had it."""

    name: str
    value: Text
    stages: list[str]


class Provenance(NamedTuple):
    """What the page says of the making of its numbers.

    path: of the data set. about: candidate → what params say of it. code: stage → sha256. params: sections as YAML.
    versions: of python and the libraries. signatures: signature → the columns that were made so.
    judge, embedding: what was paid, in words. unknown: stages whose making was not recorded.
    """

    path: str | None
    about: dict[str, list[tuple[str, str]]]
    code: dict[str, str]
    params: list[Seen]
    versions: list[Seen]
    signatures: dict[str, list[str]]
    judge: str
    embedding: str
    unknown: list[str]


def provenance(
    stages: Sequence[Stage],
    metrics: Sequence[Metric],
    paid: Iterable["Paid"] | None,
    prices: Mapping[str, Price],
) -> Provenance:
    """Arrange what the validation reports say of their making, and the ledger of its verdicts.

    paid: what each verdict took that the tables rest on; None where the ledger is not at hand. prices: by model.
    """
    made = {stage.name: stage.made for stage in stages if stage.made}
    dataset = _seen_by("load", "dataset", made) or {}
    texts = {stage: {name: _yaml(section) for name, section in each["params"].items()} for stage, each in made.items()}
    return Provenance(
        path=dataset.get("path"),
        about={name: _about(each) for name, each in (dataset.get("candidates") or {}).items()},
        code={stage: each["code"] for stage, each in made.items()},
        params=_seen(texts),
        versions=_seen({stage: each["versions"] for stage, each in made.items()}),
        signatures=_signatures(metrics),
        judge=_judge(_seen_by("judge", "judge", made), paid, prices),
        embedding=_embedding(
            _seen_by("embed", "embed", made), {stage.name: stage.counts.get("rows") for stage in stages}
        ),
        unknown=[stage.name for stage in stages if not stage.made],
    )


def _seen_by(stage: str, section: str, made: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """A section of params as this stage saw it; None where that was not recorded."""
    found: Mapping[str, Any] | None = made[stage]["params"].get(section) if stage in made else None
    return found


def _about(candidate: Mapping[str, Any]) -> list[tuple[str, str]]:
    about = candidate.get("about") or {}
    return [
        (key, each if isinstance(each, str) else json.dumps(each, ensure_ascii=False)) for key, each in about.items()
    ]


def _yaml(section: Any) -> str:
    return yaml.safe_dump(section, sort_keys=False, allow_unicode=True, width=100)


def _seen(by_stage: Mapping[str, Mapping[str, str]]) -> list[Seen]:
    """Each value of each name once, with the stages that had it; the values of a name stand together."""
    found: dict[str, dict[str, list[str]]] = {}
    for stage, values in by_stage.items():
        for name, value in values.items():
            found.setdefault(name, {}).setdefault(value, []).append(stage)
    return [
        Seen(name, shown(value, LONGEST), stages) for name, values in found.items() for value, stages in values.items()
    ]


def _signatures(metrics: Sequence[Metric]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for metric in metrics:
        found.setdefault(metric.facts.signature, []).append(metric.name)
    return found


def _judge(section: Mapping[str, Any] | None, paid: Iterable["Paid"] | None, prices: Mapping[str, Price]) -> str:
    """What the verdicts cost whoever asked for them first."""
    if section is None:
        return NOT_RECORDED
    provider, model = section["provider"], section["model"]
    if provider in OFFLINE:
        return f"{OFFLINE[provider]}: no call, nothing paid"
    if paid is None:
        return f"{model}: the ledger of its verdicts is not at hand"
    taken = _sum(paid)
    return (
        f"{_calls(model, taken)}; {_bill(model, taken, prices)}"
        if taken.verdicts
        else f"{model}: no call, nothing paid"
    )


class _Taken(NamedTuple):
    """What all verdicts took. uncounted: replies whose tokens the server did not count. served: by which models."""

    verdicts: int
    calls: int
    replies: int
    uncounted: int
    prompt: int
    completion: int
    served: frozenset[str]


def _sum(paid: Iterable["Paid"]) -> _Taken:
    """One pass, nothing held: there may be millions."""
    verdicts = calls = replies = uncounted = prompt = completion = 0
    served = set()
    for each in paid:
        verdicts, calls, replies = verdicts + 1, calls + each.calls, replies + each.replied
        if each.model:
            served.add(each.model)
        if each.prompt is not None and each.completion is not None:
            prompt, completion = prompt + each.prompt, completion + each.completion
        else:
            uncounted += each.replied
    return _Taken(verdicts, calls, replies, uncounted, prompt, completion, frozenset(served))


def _calls(model: str, taken: _Taken) -> str:
    served = ", ".join(sorted(taken.served - {model}))
    says = f" (the server says {served})" if served else ""
    return f"{counted(taken.verdicts, 'verdict')} of {model}{says} took {counted(taken.calls, 'call')}"


def _bill(model: str, taken: _Taken, prices: Mapping[str, Price]) -> str:
    """Tokens and dollars, as far as the server counted and the model has a price."""
    if taken.uncounted == taken.replies:
        return "the server counted no tokens" if taken.replies else "no reply came, nothing paid"
    more = taken.uncounted
    uncounted = f", and those of {counted(more, 'reply', 'replies')} that the server did not count" if more else ""
    tokens = f"{taken.prompt:,} prompt and {taken.completion:,} completion tokens{uncounted}"
    if model not in prices:
        return f"{tokens}; run.judge.prices has no {model}"
    dollars = cost(prices[model].of(taken.prompt, taken.completion))
    return f"{tokens}: {'more than ' if more else ''}{dollars}"


def _embedding(section: Mapping[str, Any] | None, rows: Mapping[str, float | None]) -> str:
    """What the vectors cost: of a text's tokens no server's count is kept."""
    if section is None:
        return NOT_RECORDED
    vectors = f"{counted(int(rows.get('embed') or 0), 'vector')} of {section['model']}"
    if section["provider"] == "local":
        return f"{vectors}, made here: nothing paid"
    return f"{vectors} by provider {section['provider']}; their tokens are not counted"
