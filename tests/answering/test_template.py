"""The prompt of a candidate: what it may read, what it is never shown, and values that stay data."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.answering.systems import VARIABLES, System, check_prompt
from goldmeter.dataset.settings import Dataset
from goldmeter.errors import ParamsError
from goldmeter.metrics.prompt_template import render, variables_of
from tests.hostile_texts import TEXTS
from tests.test_load import MAPPING

ROW = {"input": "Why?", "contexts": ["one", "two"], "slices": {"topic": "x", "secret": "right"}}


@pytest.fixture(autouse=True)
def prompts(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prompts").mkdir()
    return tmp_path / "prompts"


def dataset(**options: Any) -> Dataset:
    candidates = {"m": {"model": "a", "prompt": "prompts/a.txt"}}
    mapping = {"contexts": "retrieved", "slices": ["topic"], "candidates": candidates}
    return Dataset.model_validate(MAPPING | mapping | options)


def checked(prompts: Any, text: str, **options: Any) -> None:
    (prompts / "a.txt").write_text(text, encoding="utf-8")
    data = dataset(**options)
    check_prompt("m", data.asked["m"], data)


def test_a_message_holds_the_values_as_they_are(prompts: Any) -> None:
    checked(
        prompts, "{% for one in contexts %}\n- {{ one }}\n{% endfor %}\n{{ input }} ({{ slices.topic }}, {{ 1 + 1 }})\n"
    )

    [request] = System("m", dataset().asked["m"]).requests(ROW)

    assert request.message == "- one\n- two\nWhy? (x, 2)"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "{{ input }} {{ references }}",
            "line 1: a candidate is not shown references; allowed: input, contexts, slices",
        ),
        ("{{ input }}\n{{ label }}", "line 2: a candidate is not shown label; allowed: input, contexts, slices"),
        ("{{ criteria }}", "line 1: a candidate is not shown criteria; allowed: input, contexts, slices"),
        ("{{ inputs }}", "line 1: unknown variable 'inputs'; did you mean input? allowed: input, contexts, slices"),
        ("{{ input", "line 1: unexpected end of template, expected 'end of print statement'."),
        ("{% include 'x' %}", "include, import and extends are not available: a prompt is one file"),
        ("Hello", "reads none of the variables input, contexts, slices, so that it says the same of each row"),
        ("{{ slices }}", "read each slice by its name, such as {{ slices.topic }}"),
        ("{{ slices.topics }}", "unknown slice 'topics'; did you mean topic? allowed: topic"),
    ],
)
def test_a_prompt_that_says_too_much_or_nothing_is_refused(prompts: Any, text: str, message: str) -> None:
    with pytest.raises(ParamsError) as error:
        checked(prompts, text)

    assert str(error.value) == f"dataset.candidates.m.prompt: prompts/a.txt: {message}"


@pytest.mark.parametrize(
    ("options", "text", "message"),
    [
        ({"slices": ["ref"]}, "{{ slices.ref }}", "reads the column ref, which is also dataset.references"),
        ({"slices": ["topic", "ok"], "candidates": {
            "m": {"model": "a", "prompt": "prompts/a.txt"}, "n": {"response": "b", "label": "ok"}}},
         "{{ slices['ok'] }}", "reads the column ok, which is also dataset.candidates.n.label"),
        ({"relevant": "retrieved"}, "{{ contexts }}", "reads the column retrieved, which is also dataset.relevant"),
        ({"references": ["ref", "q"]}, "{{ input }}", "reads the column q, which is also dataset.references"),
        ({"slices": ["['ref']"]}, "{{ slices[\"['ref']\"] }}",
         "reads the column ['ref'], which is also dataset.references"),
        ({"references": "doc.answers", "contexts": "doc.answers[0]"}, "{{ contexts }}",
         "reads the column doc.answers[0], which is also dataset.references"),
        ({"contexts": None}, "{{ contexts }}", "reads contexts, but dataset.contexts names no column"),
    ],
)  # fmt: skip
def test_a_column_that_says_what_is_right_is_refused_under_any_name(
    prompts: Any, options: dict[str, Any], text: str, message: str
) -> None:
    with pytest.raises(ParamsError) as error:
        checked(prompts, text, **options)

    assert str(error.value).removeprefix("dataset.candidates.m.prompt: prompts/a.txt ").startswith(message)


def test_a_slice_that_the_prompt_does_not_name_is_not_at_hand(prompts: Any) -> None:
    checked(prompts, "{{ input }}{% for name in slices %}{{ slices[name] }}{% endfor %}{{ slices.topic }}")

    [request] = System("m", dataset().asked["m"]).requests(ROW)

    assert request.message == "Why?xx"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prompt": "../a.txt"}, "prompt: ../a.txt: must lie in the folder prompts, which dvc.yaml watches"),
        ({"prompt": "prompts/b.txt"}, "prompt: prompts/b.txt: no such file"),
        ({"system": "/etc/hostname"}, "system: /etc/hostname: must lie in the folder prompts, which dvc.yaml watches"),
    ],
)
def test_a_file_elsewhere_is_refused(prompts: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParamsError) as error:
        checked(prompts, "{{ input }}", candidates={"m": {"model": "a", "prompt": "prompts/a.txt", **options}})

    assert str(error.value) == f"dataset.candidates.m.{message}"


@given(st.text() | st.sampled_from(TEXTS), st.lists(st.text(), max_size=3))
def test_no_value_is_read_as_a_template(text: str, contexts: list[str]) -> None:
    template = "<{{ input }}>{% for one in contexts %}[{{ one }}]{% endfor %}"
    assert variables_of(template, VARIABLES) == ["input", "contexts"]

    rendered = render(template, {"input": text, "contexts": contexts}, is_fenced=False)

    assert rendered == f"<{text}>" + "".join(f"[{one}]" for one in contexts)
