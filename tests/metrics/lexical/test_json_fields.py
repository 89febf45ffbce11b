import json
import re

import numpy as np
import pytest
from hypothesis import given

from goldmeter.errors import ParamsError
from goldmeter.metrics.base import Metric
from goldmeter.metrics.catalogue import configure
from goldmeter.metrics.lexical.json_fields import JsonFields
from goldmeter.metrics.pairs import Pairs
from goldmeter.text.json_values import fields
from tests.text.test_json_values import VALUES

SCHEMA = {"type": "object", "properties": {"total": {"type": "integer", "maximum": 100}}, "required": ["total"]}


def stats(responses, references, **options):
    return JsonFields(**options).row_stats(Pairs.of(responses, references))


def columns(responses, references, **options):
    metric = JsonFields(**options)
    scores = metric.column_scores(stats(responses, references, **options))
    return [[float(value) for value in row] for row in zip(*scores.values(), strict=True)]


def details(response, references, **options):
    return json.loads(JsonFields(**options).row_details(Pairs.of([response], [references]))[0])


def test_precision_recall_and_f1_of_fields():
    # right: a; wrong: b; extra: d; missing: c, e
    response, reference = '{"a": 1, "b": 2, "d": 4}', '{"a": 1, "b": 3, "c": 3, "e": null}'

    assert stats([response], [reference]).tolist() == [[1, 3, 4]]
    assert columns([response], [reference]) == [pytest.approx([1 / 3, 1 / 4, 2 / 7])]


def test_the_corpus_score_is_of_summed_fields():
    metric = JsonFields()
    total = stats(['{"a": 1}', "[1, 2, 3, 4]"], ['{"a": 1}', "[1, 3, 2, 5]"]).sum(0)

    assert total.tolist() == [2, 5, 5]
    assert metric.score(total) == pytest.approx(0.4)
    assert not metric.corpus_is_mean
    assert JsonFields(aggregate="mean").corpus_is_mean


def test_the_reference_with_the_best_f1_counts():
    assert stats(['{"a": 1}'], [["prose", '{"b": 1}', '{"a": 1}']]).tolist() == [[1, 1, 1]]


@pytest.mark.parametrize("response", ["Paris", "{", '{"a": 1, "a": 1}', '{"a": NaN}', "[" * 5000, '{"a": 1} or {}'])
def test_a_response_that_is_no_json_is_wrong_and_says_so(response):
    assert stats([response], ['{"a": 1, "b": 2}']).tolist() == [[0, 0, 2]]
    told = details(response, ['{"a": 1, "b": 2}'])
    assert told.pop("note").startswith("no JSON: ")
    assert told == {
        "right": 0, "given": 0, "expected": 2, "missing": ["a", "b"], "fields": {"a": "0 of 1", "b": "0 of 1"},
    }  # fmt: skip


def test_a_reference_that_is_no_json_is_not_asked():
    assert np.isnan(columns(['{"a": 1}', None, " "], ["Paris", "{}", "{}"])[:2]).all()
    assert columns([" "], ["{}"]) == [[0, 0, 0]]
    assert details('{"a": 1}', ["Paris"]) == {"unmeasured": "not applicable"}
    assert details("{}", ['{"a": 1}'], compare={"a": "ignore"}) == {"unmeasured": "not applicable"}


def test_the_details_name_the_fields():
    response = '{"lines": [{"n": 1}, {"n": 5}], "total": 3, "x": 0}'
    reference = '{"lines": [{"n": 1}, {"n": 2}], "total": 3, "date": "1.2."}'

    assert details(response, [reference]) == {
        "right": 2,
        "given": 4,
        "expected": 4,
        "wrong": ["lines[1].n"],
        "missing": ["date"],
        "extra": ["x"],
        "fields": {"lines[].n": "1 of 2", "total": "1 of 1", "date": "0 of 1"},
    }


def test_the_details_of_many_extra_fields_are_cut():
    extra = details(json.dumps([0] * 10_000), ["[0]"])["extra"]

    assert len(extra) == 51
    assert extra[-1] == "and 9949 more"


def test_options():
    response = '```json\n{"total": "$1,200.00", "tags": ["b", "a"], "lines": [2, 1], "name": "ACME"}\n```'
    reference = '{"total": 1200, "tags": ["a", "b"], "lines": [1, 2], "name": "Acme"}'
    compare = {"total": "number", "tags": "set", "lines": "unordered", "name": "text"}

    assert columns([response], [reference], compare=compare) == [[1, 1, 1]]
    assert stats([response], [reference]).tolist() == [[0, 6, 6]]
    assert columns(["[101, 2]"], ["[2, 100]"], lists="unordered", value="number", relative_tolerance=0.01) == [
        [1, 1, 1]
    ]


def test_a_response_that_breaks_the_schema_is_wrong():
    responses = ['{"total": 5}', '{"total": 5.0}', '{"total": 5.5}', '{"total": 101}', '{"a": 1}', "[]"]

    scores = columns(responses, ['{"total": 5}'] * 6, json_schema=SCHEMA)

    assert [f1 for *_, f1 in scores] == [1, 1, 0, 0, 0, 0]
    told = details('{"total": 101}', ['{"total": 5}'], json_schema=SCHEMA)
    assert told["note"] == "schema: total breaks maximum: 100"


@pytest.mark.parametrize(
    ("value", "rule", "f1"),
    [
        ("0.1", {"const": 0.1}, 1),
        ("0.1", {"enum": [0.1]}, 1),
        ("0.1", {"minimum": 0.1}, 1),
        ("0.3", {"maximum": 0.3, "multipleOf": 0.1}, 1),
        ("0.35", {"multipleOf": 0.1}, 0),
        ("0.2", {"enum": [0.1]}, 0),
    ],
)
def test_decimals_of_a_schema_are_exact(value, rule, f1):
    response = f'{{"a": {value}}}'

    assert columns([response], [response], json_schema={"properties": {"a": rule}})[0][2] == f1
    assert details(response, [response], json_schema={"properties": {"a": rule}})["right"] == f1


def test_a_schema_that_refers_to_itself_without_end_is_said():
    assert details("{}", ["{}"], json_schema={"$ref": "#"})["note"] == "the schema refers to itself without end"


@pytest.mark.parametrize(
    ("schema", "reference"),
    [
        ({"$ref": "https://example.org/schema.json"}, "https://example.org/schema.json"),
        ({"properties": {"total": {"$ref": "#/$defs/money"}}}, "#/$defs/money"),
        ({"$defs": {"a": {"items": {"$ref": "#none"}}}, "$ref": "#/$defs/a"}, "#none"),
        (
            {"$schema": "http://json-schema.org/draft-07/schema#", "allOf": [{"$ref": "#/definitions/a"}]},
            "#/definitions/a",
        ),
    ],
)
def test_a_schema_whose_reference_leads_nowhere_is_refused(schema, reference):
    message = rf"^lexical\.json_fields\.json_schema: \$ref '{re.escape(reference)}' leads nowhere in this schema"

    with pytest.raises(ParamsError, match=message):
        configure("lexical", "json_fields", {"json_schema": schema})


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
        {"$schema": "http://json-schema.org/draft-04/schema#", "definitions": {"a": {"id": "#b"}}, "$ref": "#b"},
        {"const": {"$ref": "#/none"}},
        {"properties": {"$ref": {"type": "string"}}},
    ],
)
def test_references_within_a_schema_are_followed(schema):
    JsonFields(json_schema=schema)


def test_stats_and_details_compare_once(monkeypatch):
    compared = []
    monkeypatch.setattr(
        "goldmeter.metrics.lexical.json_fields.fields", lambda *values: compared.append(1) or fields(*values)
    )
    metric, pairs = JsonFields(), Pairs.of(['{"a": 1}'] * 3, [['{"a": 1}', '{"a": 2}']] * 3)

    metric.row_stats(pairs)
    metric.row_details(pairs)

    assert len(compared) == 6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"compare": {"a": "fuzzy"}}, r"^lexical\.json_fields\.compare\.a: .*'exact', .* or 'unordered'"),
        (
            {"compare": {"lines[0]": "text"}},
            r"^lexical\.json_fields\.compare: 'lines\[0\]' is no path, from '\[0\]' on",
        ),
        ({"json_schema": {"type": "objekt"}}, r"^lexical\.json_fields\.json_schema: no JSON Schema: 'objekt'"),
        ({"threshold": 2}, r"bounds of json_fields, 0 to 1$"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(ParamsError, match=message):
        configure("lexical", "json_fields", options)


def test_the_signature_says_how_the_number_was_made():
    assert JsonFields().signature() == "json_fields|value:exact|lists:ordered|rel:0|abs:0|refs:best|v:2"
    assert JsonFields(compare={"b": "set", "a": "text"}, json_schema=SCHEMA).signature() == (
        "json_fields|compare:a=text+b=set|value:exact|lists:ordered|rel:0|abs:0|schema:0dc7ed3a|refs:best|v:2"
    )


def test_every_option_is_in_the_signature():
    changed = {
        "aggregate": "mean",
        "compare": {"a": "text"},
        "value": "text",
        "lists": "unordered",
        "relative_tolerance": 0.1,
        "absolute_tolerance": 0.1,
        "json_schema": {},
    }

    assert set(changed) == set(JsonFields.model_fields) - set(Metric.model_fields)
    for name, value in changed.items():
        assert JsonFields(**{name: value}).signature() != JsonFields().signature()


@given(VALUES)
def test_a_value_is_right_whatever_the_order_of_its_members(value):
    turned = json.dumps(value, sort_keys=True, indent=1)

    assert columns([turned], [json.dumps(value)]) == [[1, 1, 1]]
