"""What each command prints or writes with `--json`: its fields with their types, as JSON Schema and as Markdown.

The type of an entry is that of the code which makes it, so the schemas change with it.
"""

import json
import types
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import (
    Any,
    Literal,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from goldmeter.comparison.robustness import Robustness
from goldmeter.console.json_output import SCHEMA
from goldmeter.estimates.metrics_report import MetricsReport
from goldmeter.exports.attestation import Checked
from goldmeter.exports.results import CONCLUSIONS
from goldmeter.judging.earlier import OneMore
from goldmeter.reference.command import Setting
from goldmeter.reporting.noise import Noise, Share
from goldmeter.reporting.study_plan import Spending
from goldmeter.reporting.trends import Series
from goldmeter.statistics.study import Pilot
from goldmeter.versions.verification import Verified
from goldmeter.wording.claims import AdoptDocument
from goldmeter.wording.comparison_document import ComparisonDocument, SeveralVersions

FOLDER = Path("docs/reference/json")
SIMPLE = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null", datetime: "string",
          Path: "string"}  # fmt: skip


class Field(NamedTuple):
    """A field of a document."""

    kind: Any
    meaning: str


class Document(NamedTuple):
    """What a command answers. fields: of the object, or the type that has them."""

    question: str
    fields: Mapping[str, Field] | type


_OF_REPORT = get_type_hints(MetricsReport)
_MEANINGS = {
    "confidence": "of each interval",
    "dataset": "rows, and the hash of the data",
    "primary": "the measure that decides, and why",
    "headlines": "candidate → rate by the primary measure: `value`, `low`, `high`, `n`, `status`, `by`",
    "leaders": "those that cannot be told apart from the best",
    "comparisons": "every two candidates, by measure",
    "targets": "`report.targets`: minimum rate and verdict",
    "worst_slices": "where a candidate is worse than elsewhere",
}
DOCUMENTS: Mapping[str, Document] = {
    "init": Document(
        "Which column is what?",
        {
            "dataset": Field(dict[str, Any], "section `dataset` of params.yaml, as written"),
            "reasons": Field(dict[str, str], "option → why; `check` at its beginning: a person should look"),
            "read": Field(str, "how many records were read"),
            "stops": Field(bool, "a run would stop on these records"),
            "next": Field(list[str], "what to do next"),
        },
    ),
    "adopt": Document("Were the wins in other tools' logs real?", AdoptDocument),
    "params": Document(
        "Which setting is in force, and where does it come from?",
        {"settings": Field(list[Setting], "`source`: the line of params.yaml, `default` or `-S`")},
    ),
    "label-rows": Document(
        "Which answers should people label? (`--rows`)",
        {
            "sheets": Field(list[Path], "files to fill in"),
            "notes": Field(list[str], "how narrow the interval becomes"),
        },
    ),
    "label-take": Document(
        "What do the new labels give? (`--take`)",
        {
            "labels": Field(Path, "the file of labels"),
            "design": Field(str, "`dataset.labels`: how labelled answers were chosen"),
            "added": Field(int, "new labels"),
            "labelled": Field(int, "answers of the present run with a label"),
            "marks": Field(int, "new marks of references"),
            "corrections": Field(Path | None, "their file, if there are new ones"),
            "notes": Field(list[str], "what was not taken, and why"),
        },
    ),
    "summary": Document(
        "How often are answers right, and which system is best?",
        {name: Field(_OF_REPORT[name] | None, _MEANINGS[name]) for name in CONCLUSIONS},
    ),
    "history": Document(
        "Since when is something wrong?",
        {"schedules": Field(list[Series], "schedule → its runs, trends and alarms; `status` says it in words")},
    ),
    "compare": Document("May this version ship?", ComparisonDocument),
    "compare-several": Document("Which of three versions or more may ship?", SeveralVersions),
    "robust": Document(
        "Does the conclusion hold under other judges, thresholds and metrics?",
        {
            "conclusions": Field(list[Robustness], "of each pair of systems"),
            "one_more": Field(OneMore | None, "what one more judge of these answers would cost; none is asked"),
        },
    ),
    "plan-study": Document(
        "How many questions, labels and dollars detect a difference?",
        {
            "measure": Field(str, "what is planned for"),
            "systems": Field(list[str], "the systems of the pilot"),
            "power": Field(float, "probability of detection"),
            "plan": Field(list[dict[str, float | None]], "one entry a difference; null: unknown or out of reach"),
            "pilot": Field(Pilot, "what the last run says of the variance"),
            "spending": Field(dict[str, Sequence[float] | Spending], "detectable difference by times as much spent"),
        },
    ),
    "noise": Document(
        "How much do two runs of the same system differ?",
        {
            "measure": Field(str, "whose noise"),
            "confidence": Field(float, "of the limits: `gate.confidence`"),
            "systems": Field(list[Noise], "each system's own noise, in shares of the measure's width"),
            "differences": Field(list[Share], "every two systems, and the share of the variance that is noise"),
        },
    ),
    "attest": Document(
        "Where is the evidence?", {"file": Field(Path, "the statement"), "signed": Field(bool, "it has a signature")}
    ),
    "recheck": Document(
        "Do these numbers follow from these files?",
        {
            "confirmed": Field(bool, "every claim is; else the exit status is 2"),
            "claims": Field(list[Checked], "each claim with its `outcome`"),
        },
    ),
    "verify": Document(
        "Are files and stores as they were written?",
        {"versions": Field(list[Verified], "`problems` is empty where nothing is damaged; else the exit status is 2")},
    ),
}


def schema_of(kind: Any) -> dict[str, Any]:
    """Return the JSON Schema of a type."""
    origin, args = get_origin(kind), get_args(kind)
    if kind is Any:
        return {}
    if origin is not None:
        return _of_generic(origin, args)
    if kind in SIMPLE:
        return {"type": SIMPLE[kind]}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {"enum": [str(one.value) for one in kind]}
    hints = get_type_hints(kind)
    optional = {*hints} - kind.__required_keys__ if is_typeddict(kind) else set()
    shown = {"status"} if kind is Series else set()
    fields = {name: schema_of(one) for name, one in hints.items()} | {name: {"type": "string"} for name in shown}
    about = " ".join((kind.__doc__ or "").split())
    return {"description": about, **_object(fields, [name for name in fields if name not in optional])}


def _of_generic(origin: Any, args: tuple[Any, ...]) -> dict[str, Any]:
    if origin is Literal:
        return {"enum": [*args]}
    if origin in {Union, types.UnionType}:
        return {"anyOf": [schema_of(one) for one in args]}
    if issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": schema_of(args[1])}
    return {"type": "array", "items": schema_of(args[0])}


def _object(fields: Mapping[str, Any], required: Sequence[str]) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": [*required], "additionalProperties": False}


def schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a document."""
    question, fields = DOCUMENTS[name]
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"goldmeter {name} --json: {question}"}
    if isinstance(fields, type):
        return head | schema_of(fields)
    properties = {one: schema_of(field.kind) | {"description": field.meaning} for one, field in fields.items()}
    return head | _object({"schema": {"const": SCHEMA}, **properties}, ["schema", *fields])


def write() -> None:
    """Write every schema."""
    FOLDER.mkdir(exist_ok=True)
    for name in DOCUMENTS:
        (FOLDER / f"{name}.json").write_text(text(name), encoding="utf-8")


def text(name: str) -> str:
    """Return the file of a schema."""
    return json.dumps(schema(name), ensure_ascii=False) + "\n"


def page() -> str:
    """Return the fields of all documents as Markdown."""
    return "\n\n".join("\n".join(_chapter(name)) for name in DOCUMENTS)


def _chapter(name: str) -> list[str]:
    question, fields = DOCUMENTS[name]
    properties = schema(name)["properties"]
    about = [" ".join((fields.__doc__ or "").split()).replace("|", "\\|"), ""] if isinstance(fields, type) else []
    rows = [_row(path, one) for path, one in _fields(properties) if path != "schema"]
    title = f"## {name}\n\n{question} [Schema](json/{name}.json)\n"
    return [title, *about, "| field | type | meaning |", "|---|---|---|", *rows]


def _row(path: str, one: Mapping[str, Any]) -> str:
    about = one.get("description") or one.get("items", {}).get("description") or ""
    return f"| `{path}` | {_type(one)} | {about.replace('|', '&#124;')} |"


def _fields(properties: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the fields of an object, and below one that is or lists objects the fields of these, with their paths."""
    for name, one in properties.items():
        yield f"{above}{name}", one
        inner = one.get("items", one)
        if not above and "properties" in inner:
            yield from _fields(inner["properties"], f"{name}[]." if "items" in one else f"{name}.")


def _type(one: Mapping[str, Any]) -> str:
    if "anyOf" in one:
        return " or ".join(_type(each) for each in one["anyOf"])
    if one.get("type") == "array":
        return f"list of {_type(one['items'])}"
    return str(one.get("type", "one of " + ", ".join(map(str, one["enum"])) if "enum" in one else "any"))


if __name__ == "__main__":
    write()
