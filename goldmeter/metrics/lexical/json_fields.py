"""JSON fields: precision, recall and F1 of the fields of a JSON response, each compared with that of the reference."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator

from goldmeter.metrics.base import CorpusMetric, Floats, best_reference
from goldmeter.metrics.pairs import Pairs
from goldmeter.text.json_values import Comparer, Parsed, Rules, fields, leaves, parsed, pattern, require_pattern, shown
from goldmeter.text.json_values import Field as Compared
from goldmeter.text.quantities import Tolerance

NotNegative = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
# Names of wrong, missing and extra fields in the details of a row, of each kind.
MAX_NAMED = 50
COLUMNS = ("precision", "recall", "f1_score")
# Keywords of a JSON Schema that refer to a part of it.
REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})


class JsonFields(CorpusMetric):
    """A field is a scalar at a path, such as total or lines[0].price, or an empty object or list.

    The response is JSON, or the last of its fenced blocks that is JSON; without any it is wrong, as is one that
    breaks the schema: it has none of the fields. The score of all rows is of their summed fields (micro-averaged).
    Rows whose references are no JSON are not asked.
    compare: path → comparer, lines[].price for all items: exact; text (normalised); number (tolerance, "$1,200" too);
    set (a list as one field, without order and repetition); ignore; of lists ordered or unordered (best matching).
    value: comparer of scalars that have none.
    lists: comparer of lists that have none.
    relative_tolerance: of comparer number: largest difference, as a share of the reference.
    absolute_tolerance: of comparer number: largest difference; the larger of both applies.
    json_schema: JSON Schema that a response must satisfy; it may not refer to other documents.
    """

    default_threshold: ClassVar[float | None] = 1.0
    version: ClassVar[int] = 2  # 1: strings such as "5 thousand" were read in part

    compare: dict[str, Comparer] = Field(default={})
    value: Literal["exact", "text", "number"] = "exact"
    lists: Literal["ordered", "unordered"] = "ordered"
    relative_tolerance: NotNegative = 0.0
    absolute_tolerance: NotNegative = 0.0
    json_schema: dict[str, Any] | None = None

    @field_validator("compare")
    @classmethod
    def _check_paths(cls, compare: dict[str, Comparer]) -> dict[str, Comparer]:
        for path in compare:
            require_pattern(path)
        return compare

    @field_validator("json_schema")
    @classmethod
    def _check_schema(cls, schema: dict[str, Any] | None) -> dict[str, Any] | None:
        if schema is not None:
            _validator(schema)
        return schema

    @property
    def column(self) -> str:
        return f"{self.name}_f1_score"

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(f"{self.name}_{name}" for name in COLUMNS)

    def applies(self, pairs: Pairs) -> NDArray[np.bool_]:
        asked = pairs.once(f"{self.signature()} asked", lambda: [*map(self._is_asked, pairs.reference_texts)])
        return pairs.unreferenced | (np.bincount(pairs.rows, asked, len(pairs)) > 0)

    def stats(self, pairs: Pairs) -> Floats:
        """Return the numbers of right fields, of fields in the response, and in the best reference; shape (n, 3)."""
        scored = np.array([_counts(compared) for compared in self._compared(pairs)], np.float64).reshape(-1, 3)
        best = best_reference(self.score(scored), pairs)
        rows = np.zeros((len(pairs), 3))
        rows[best >= 0] = scored[best[best >= 0]]
        rows[pairs.missing] = 0.0
        return rows

    def column_scores(self, stats: Floats) -> dict[str, Floats]:
        right, given, expected = np.moveaxis(stats, -1, 0)
        measured = expected > 0
        of = (given, expected, (given + expected) / 2)
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = [np.where(right > 0, right / total, 0.0) for total in of]
        return {name: np.where(measured, share, np.nan) for name, share in zip(self.columns, shares, strict=True)}

    def score(self, stats: Floats) -> Floats:
        return self.column_scores(stats)[self.column]

    def details(self, pairs: Pairs) -> list[str | None]:
        notes = super().details(pairs)
        compared = self._compared(pairs)
        scored = np.array([_counts(each) for each in compared], np.float64).reshape(-1, 3)
        for row, j in enumerate(best_reference(self.score(scored), pairs).tolist()):
            if notes[row] is None and j >= 0:
                notes[row] = self._note(pairs.pair(j)[0], compared[j])
        return notes

    def signature_fields(self) -> dict[str, object]:
        compare = "+".join(f"{path}={comparer}" for path, comparer in sorted(self.compare.items()))
        schema = json.dumps(self.json_schema, sort_keys=True).encode()
        return {
            "compare": compare or None,
            "value": self.value,
            "lists": self.lists,
            "rel": self.relative_tolerance,
            "abs": self.absolute_tolerance,
            "schema": None if self.json_schema is None else hashlib.sha256(schema).hexdigest()[:8],
            "refs": "best",
            "agg": None if self.aggregate == "corpus" else self.aggregate,
        }

    @cached_property
    def _rules(self) -> Rules:
        tolerance = Tolerance(Fraction(str(self.relative_tolerance)), Fraction(str(self.absolute_tolerance)))
        return Rules(self.compare, self.value, self.lists, tolerance)

    @cached_property
    def _schema(self) -> Any:
        return None if self.json_schema is None else _validator(self.json_schema)

    def _compared(self, pairs: Pairs) -> list[list[Compared]]:
        """Return the fields of each response and each of its references; length m, empty where a reference has none."""
        return pairs.once(self.signature(), lambda: self._compare(pairs))

    def _compare(self, pairs: Pairs) -> list[list[Compared]]:
        # Most rows have the same fields: each is in memory once.
        known: dict[Compared, Compared] = {}
        return [[known.setdefault(each, each) for each in self._fields(*pair)] for pair in pairs.paired]

    def _fields(self, response: str, reference: str) -> list[Compared]:
        value, problem = _parsed(reference)
        if problem:
            return []
        answered = self._answered(response)
        return self._expected(reference) if answered.problem else fields(answered.value, value, self._rules)

    def _is_asked(self, reference: str) -> bool:
        return bool(self._expected(reference))

    def _expected(self, reference: str) -> list[Compared]:
        """Return the fields of a reference, all of them missing."""
        value, problem = _parsed(reference)
        return [] if problem else leaves(value, "missing", self._rules)

    def _answered(self, response: str) -> Parsed:
        answered = _parsed(response)
        if answered.problem or self._schema is None:
            return answered
        try:
            error = next(self._schema.iter_errors(_with_fractions(answered.value)), None)
        except RecursionError:
            return Parsed(None, "the schema refers to itself without end")
        return answered if error is None else Parsed(None, _broken_rule(error))

    def _note(self, response: str, compared: Sequence[Compared]) -> str:
        problem = self._answered(response).problem
        right, given, expected = _counts(compared)
        note: dict[str, Any] = {"note": problem} if problem else {}
        note |= {"right": right, "given": given, "expected": expected}
        for outcome in ("wrong", "missing", "extra"):
            paths = [shown(each.path) for each in compared if each.outcome == outcome]
            more = [f"and {len(paths) - MAX_NAMED} more"] if len(paths) > MAX_NAMED else []
            note |= {outcome: [*paths[:MAX_NAMED], *more]} if paths else {}
        return json.dumps({**note, "fields": _by_field(compared)})


def _counts(compared: Sequence[Compared]) -> tuple[int, int, int]:
    """Return the numbers of right fields, of fields in the response, and in the reference."""
    outcomes = [each.outcome for each in compared]
    right, missing, extra = (outcomes.count(outcome) for outcome in ("right", "missing", "extra"))
    return right, len(outcomes) - missing, len(outcomes) - extra


def _by_field(compared: Sequence[Compared]) -> dict[str, str]:
    """Return how many of each expected field are right, such as {"lines[].price": "2 of 3"}."""
    expected = Counter(pattern(each.path) for each in compared if each.outcome != "extra")
    right = Counter(pattern(each.path) for each in compared if each.outcome == "right")
    return {field: f"{right[field]} of {count}" for field, count in expected.items()}


def _validator(schema: dict[str, Any]) -> Any:
    """Return jsonschema's validator for values of `goldmeter.text.json_values`.

    Raises:
        ValueError: The schema is none, or has a reference that leads nowhere within it.
    """
    from jsonschema import SchemaError, validators  # importing it takes 0.1 seconds
    from referencing import Registry
    from referencing.jsonschema import specification_with

    draft = validators.validator_for(schema, default=validators.Draft202012Validator)
    try:
        draft.check_schema(schema)
    except SchemaError as error:
        raise ValueError(f"no JSON Schema: {error.message}") from None
    resource = specification_with(draft.META_SCHEMA["$schema"]).create_resource(schema)
    _require_references(resource, Registry().resolver_with_root(resource))
    types = draft.TYPE_CHECKER.redefine("number", lambda _, value: isinstance(value, Fraction)).redefine(
        "integer", lambda _, value: isinstance(value, Fraction) and value.denominator == 1
    )
    return validators.extend(draft, type_checker=types)(_with_fractions(schema), registry=Registry())


def _require_references(root: Any, resolver: Any) -> None:
    from referencing.exceptions import Unresolvable

    seen: set[int] = set()
    waiting = [(root, resolver)]
    while waiting:
        resource, resolver = waiting.pop()
        if id(resource.contents) in seen:
            continue
        seen.add(id(resource.contents))
        waiting += [(inner, resolver.in_subresource(inner)) for inner in resource.subresources()]
        members = resource.contents if isinstance(resource.contents, dict) else {}
        for key in REFERENCES & members.keys():
            try:
                resolver.lookup(members[key])
            except (Unresolvable, ValueError):
                raise ValueError(f"{key} {str(members[key])[:200]!r} leads nowhere in this schema") from None


def _with_fractions(value: Any) -> Any:
    """Return a JSON value with its decimals as Fraction, exactly as written: 0.1 is 1/10."""
    if isinstance(value, dict):
        return {name: _with_fractions(member) for name, member in value.items()}
    if isinstance(value, list):
        return [*map(_with_fractions, value)]
    return Fraction(str(value)) if isinstance(value, Decimal | float) else value


def _broken_rule(error: Any) -> str:
    path = shown(tuple(error.absolute_path))
    return f"schema: {path} breaks {error.validator}: {json.dumps(error.validator_value, default=float)[:200]}"


@lru_cache(maxsize=1 << 15)
def _parsed(text: str) -> Parsed:
    return parsed(text)
