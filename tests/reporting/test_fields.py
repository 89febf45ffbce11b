"""The section on fields: right values by field and candidate, and none without `json_fields`."""

import json
from collections import Counter

import pyarrow as pa

from goldmeter.estimates.tables import score_table as estimated
from goldmeter.metrics.catalogue import configure
from goldmeter.metrics.lexical.json_fields import JsonFields
from goldmeter.metrics.pairs import Pairs
from goldmeter.reporting.survey import MOST, FieldCounts, field_counts, field_tables
from tests.reporting.made import ROWS, load_table, parts_of, score_table, section_of, written
from tests.test_report import words_of

PAGE = "reports/index.html"
REFERENCE = '{"total": 3, "lines": [{"n": 1}, {"n": 2}]}'
RESPONSES = [REFERENCE, "no JSON", '{"total": 3, "lines": []}', None, '{"total": 4, "lines": [{"n": 1}, {"n": 2}]}']


def lexical(details):
    nothing = [None] * len(ROWS)
    table = score_table(ROWS, "f1", "lexical", 0.5, [each["f1"] for each in ROWS], nothing)
    return {"lexical": table.append_column("json_fields_details", pa.array(details, pa.string()))}


def measured():
    rows = [*RESPONSES, *[REFERENCE] * (len(ROWS) - len(RESPONSES))]
    return lexical(JsonFields().row_details(Pairs.of(rows, [REFERENCE] * len(rows))))


def counted(details, folder):
    table = parts_of(details, folder, 3)["lexical"]
    found = [field_counts(table, number) for number in range(len(table))]
    return FieldCounts(sum((one.right for one in found), Counter()), sum((one.expected for one in found), Counter()))


def test_right_values_are_counted_by_field_and_candidate(tmp_path):
    table = field_tables(counted(measured(), tmp_path), ["aurora", "borealis"])["json_fields"]

    assert table.left_out == 0
    assert {field: {name: tuple(count) for name, count in own.items()} for field, own in table.rows.items()} == {
        "lines[].n": {"aurora": (6, 8), "borealis": (4, 6)},
        "total": {"aurora": (3, 4), "borealis": (2, 3)},
    }


def test_the_page_shows_them(tmp_path):
    words = words_of(section_of(written(ROWS, tmp_path, extra=measured())[PAGE], "fields"))

    assert "total75.0 % 3 of 4" in words
    assert words.index("lines[].n") > words.index("Right values of each field by json_fields")


def test_without_the_metric_there_is_no_section(tmp_path):
    assert 'id="fields"' not in written(ROWS, tmp_path)[PAGE]


def test_many_fields_are_cut_and_a_field_may_belong_to_one_candidate(tmp_path):
    fields = {f"f{i}": "1 of 2" for i in range(MOST + 5)}
    details = [json.dumps({"fields": fields}), *[None] * (len(ROWS) - 1)]

    table = field_tables(counted(lexical(details), tmp_path), ["aurora", "borealis"])["json_fields"]

    assert (len(table.rows), table.left_out) == (MOST, 5)
    assert {*table.rows["f0"]} == {"aurora"}


def test_metrics_under_names_of_the_users_have_a_table_each(tmp_path):
    responses = [*RESPONSES, *[REFERENCE] * (len(ROWS) - len(RESPONSES))]
    metrics = {
        name: configure("lexical", name, {"metric": "json_fields", "lists": lists})
        for name, lists in (("by_place", "ordered"), ("any_order", "unordered"))
    }
    table = estimated(load_table(ROWS), Pairs.of(responses, [REFERENCE] * len(responses)), metrics)

    html = section_of(written(ROWS, tmp_path, extra={"lexical": table})[PAGE], "fields")

    assert html.count("<table") == 2
    assert "total75.0 % 3 of 4" in words_of(html)
    assert all(f"<code>{name}</code>" in html.replace("<wbr>", "") for name in metrics)
