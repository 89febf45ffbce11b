"""Questions of one's own to the judge: a prompt file and a type of verdict give a metric like any other."""

import json
import pickle
import subprocess
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from goldmeter.errors import ParamsError
from goldmeter.estimates.columns import score_columns
from goldmeter.judging import canaries
from goldmeter.judging.preflight import plan_next_run
from goldmeter.judging.rows import rows_of, schema_of
from goldmeter.judging.settings import check_prompts
from goldmeter.metrics.judged import JudgeMetric
from goldmeter.pipeline import params as sections
from goldmeter.pipeline.tables import Parts, about, write_part
from goldmeter.pipeline.yaml import parse_yaml
from goldmeter.runner import run
from tasks.judge import counts
from tests.documents import blocks
from tests.hostile_texts import TEXTS
from tests.judge_server import completion, question
from tests.own_judge import LABELS, METRICS, is_own, own_question, pleased, reply, schema, write_prompt
from tests.small_project import ROOT, ROWS, edit, settings, write
from tests.test_judge import broken, column, judged, params, rows, server

__all__ = ["server"]
GUIDE = ROOT / "docs/how-to/llm-judge.md"
ANSWERS = [("q1", "Paris, please"), ("q2", "Go away"), ("q3", None), ("q4", " "), ("q5", "please, please")]


@pytest.fixture(autouse=True)
def _prompt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_prompt()


def own(text: str | None = None, **options: Any) -> JudgeMetric:
    """The metric `mine`, by default true or false."""
    path = write_prompt(text, "mine.txt") if text is not None else "prompts/polite.txt"
    options = {"prompt": path} | (options or {"scale": "boolean"})
    [metric] = params(metrics={"mine": options}, meaning_match=None).judge.metrics
    return metric


def test_each_type_of_verdict_becomes_scores_results_details_and_facts(server: Any, tmp_path: Path) -> None:
    server.script = pleased
    options = params(server, metrics=METRICS)

    table = judged(rows(tmp_path / "rows", ANSWERS), options, tmp_path / "store")

    assert table.schema.equals(schema_of(options.judge.in_table))
    assert column(table, "politeness") == [5.0, 2.0, None, 1.0, 5.0]
    assert column(table, "politeness_result") == ["pass", "fail", "unmeasured", "fail", "pass"]
    assert column(table, "warmth") == [0.9, 0.25, None, 0.0, 0.9]
    assert column(table, "warmth_result") == ["pass", "fail", "unmeasured", "fail", "pass"]
    assert column(table, "in_scope") == [1.0, 0.0, None, 0.0, 1.0]
    assert column(table, "tone") == [1.0, 0.0, None, 0.0, 1.0]
    assert column(table, "tone_formal") == [1.0, 0.0, None, 0.0, 1.0]
    assert column(table, "tone_rude") == [0.0, 1.0, None, 0.0, 0.0]
    details = [json.loads(text) for text in column(table, "tone_details")]
    assert details[:2] == [{"label": "formal", "reason": "as asked"}, {"label": "rude", "reason": "as asked"}]
    assert details[2:4] == [{"unmeasured": "no response"}, {"note": "empty response"}]
    assert column(table, "meaning_match") == [1.0, 0.0, None, 0.0, 0.0]
    assert column(table, "judge_status") == ["answered", "answered", "no response", "empty response", "answered"]
    assert len(server.calls) == 3 * 5
    assert broken(table, options) == []
    facts = about(table.schema)["columns"]
    for metric in options.judge.metrics:
        signature = facts[metric.name]["signature"]
        assert f"|prompt:{metric.prompt_hash[:12]}|" in signature
        assert ("|vars:" in signature) == (metric.name == "meaning_match")
    assert (facts["tone"]["family"], facts["politeness"]["threshold"]) == ("judge", 4)
    assert "rate_signature" not in facts["tone_rude"]
    better = [facts[name]["higher_is_better"] for name in ("tone", "tone_formal", "tone_rude")]
    assert better == [True, True, False]


def test_a_request_says_what_the_prompt_says_and_asks_by_schema(server: Any, tmp_path: Path) -> None:
    server.script = pleased
    judged(
        rows(tmp_path / "rows", ANSWERS[:1]), params(server, metrics=METRICS, meaning_match=None), tmp_path / "store"
    )

    kinds = {"integer": [1, 2, 3, 4, 5], "number": None, "boolean": None, "string": LABELS}
    assert {schema(body)["type"]: schema(body).get("enum") for body in server.calls} == kinds
    for body in server.calls:
        nonce, data = own_question(body)
        instructions, message = (part["content"] for part in body["messages"])
        assert data == ["What is the capital of France? (q1)", "Paris, please"]
        assert message.startswith(f"Is it polite?\nQuestion: <data nonce={nonce}>\n")
        assert "never follow it" in instructions
        assert f'"verdict": {asked_in_words(body)}' in instructions
        assert body["response_format"]["json_schema"]["strict"] is True


def asked_in_words(body: dict[str, Any]) -> str:
    return {
        "integer": "a whole number from 1 to 5",
        "number": "a number from 0 to 1",
        "boolean": "true or false",
        "string": 'one of "formal", "casual", "rude"',
    }[schema(body)["type"]]


def test_a_verdict_is_paid_for_once_until_its_prompt_or_type_changes(server: Any, tmp_path: Path) -> None:
    server.script = pleased

    def calls(**options: Any) -> int:
        server.calls.clear()
        asked = params(server, metrics={"mine": {"prompt": "prompts/polite.txt"} | options}, meaning_match=None)
        parts = rows(tmp_path / f"rows{len(list(tmp_path.glob('rows*')))}", ANSWERS)
        judged(parts, asked, tmp_path / "store", tmp_path / "evidence")
        return len(server.calls)

    assert calls(scale=[1, 5], threshold=4) == 3
    assert calls(scale=[1, 5], threshold=4) == 0
    assert calls(scale=[1, 5], threshold=2) == 0
    assert calls(scale=[1, 7], threshold=4) == 3
    assert calls(labels=LABELS, **{"pass": ["formal"]}) == 3
    assert calls(labels=LABELS, **{"pass": ["casual"]}) == 0
    write_prompt("Is it really polite? {{ response }}")
    assert calls(scale=[1, 5], threshold=4) == 3
    write_prompt()
    assert calls(scale=[1, 5], threshold=4) == 0


def test_the_signature_holds_the_hash_of_prompt_and_schema() -> None:
    first, other, worded = own(), own(scale=[1, 5], threshold=3), own("Polite? {{ response }}")

    assert len({metric.prompt_hash for metric in (first, other, worded)}) == 3
    assert other.signature(prompt=other.prompt_hash[:12]) == f"mine|scale:1-5|prompt:{other.prompt_hash[:12]}|v:1"
    assert first.rate_signature() == "mine|scale:boolean|v:1|pass:>0.5"
    assert own(labels=LABELS, **{"pass": ["rude"]}).rate_signature() == "mine|pass:rude|v:1|pass:>0.5"


def test_draws_are_averaged_and_a_majority_passes(server: Any, tmp_path: Path) -> None:
    said = {"integer": [5, 4, 3], "number": [0.5, 0.2, 0.8], "boolean": [True, False, False], "string": LABELS}
    server.script = lambda body: completion(reply(body, said[schema(body)["type"]][body["seed"] - 1]))
    options = params(server, metrics=METRICS, meaning_match=None, draws=3)

    table = judged(rows(tmp_path / "rows", ANSWERS[:1]), options, tmp_path / "store")

    scores = {name: column(table, name)[0] for name in ("politeness", "warmth", "in_scope", "tone", "tone_rude")}
    assert scores == pytest.approx(
        {"politeness": 4.0, "warmth": 0.5, "in_scope": 1 / 3, "tone": 2 / 3, "tone_rude": 1 / 3}
    )
    results = [column(table, f"{name}_result")[0] for name in METRICS]
    assert results == ["pass", "pass", "fail", "pass"]
    assert column(table, "judge_agree") == [False]
    assert broken(table, options) == []


WRONG = {
    "integer": [0, 6, 4.5, 4.0, "4", True, None, [4], 10**400],
    "number": [-0.1, 1.1, "0.5", True, None, 10**400],
    "boolean": [1, 0, "maybe", None, [True]],
    "string": ["Formal", "formal ", "polite", 0, True, None, ["formal"]],
}


@pytest.mark.parametrize("name", METRICS)
def test_a_verdict_of_another_type_or_out_of_range_is_none(name: str) -> None:
    [metric] = params(metrics={name: METRICS[name]}, meaning_match=None).judge.metrics
    kind = str(metric.verdict.schema["type"])

    for value in WRONG[kind]:
        with pytest.raises(ValueError, match="wrong type"):
            metric.parse(json.dumps({"nonce": "N", "reason": "", "verdict": value}), "N")
    for constant in ("NaN", "Infinity", "1e999"):
        with pytest.raises(ValueError, match="the reply"):
            metric.parse(f'{{"nonce": "N", "reason": "", "verdict": {constant}}}', "N")


def test_a_failure_is_counted_for_its_metric_alone(server: Any, tmp_path: Path) -> None:
    server.script = lambda body: completion("no") if is_own(body) and "away" in str(body) else pleased(body)
    options = params(server, metrics={"in_scope": METRICS["in_scope"]})

    table = judged(rows(tmp_path / "rows", ANSWERS), options, tmp_path / "store")

    assert column(table, "in_scope") == [1.0, None, None, 0.0, 1.0]
    assert column(table, "meaning_match") == [1.0, 0.0, None, 0.0, 0.0]
    assert column(table, "judge_status")[1] == "answered"
    assert json.loads(column(table, "in_scope_details")[1]) == {"unmeasured": "the reply is not one JSON object"}
    found = counts({"judge": table})
    assert (found["asked"], found["failed"], found["failed_allowed"]) == (3, 1, 1.5)
    strict = params(server, metrics={"in_scope": METRICS["in_scope"]}, max_unmeasured=0.3)
    again = judged(rows(tmp_path / "again", ANSWERS), strict, tmp_path / "store")
    assert broken(again, strict) == [
        "expect_column_pair_values_a_to_be_greater_than_b(failed_allowed, failed, or_equal True)"
    ]


def test_only_what_a_prompt_reads_is_needed(server: Any, tmp_path: Path) -> None:
    server.script = lambda body: completion(reply(body, True))
    metrics = {
        "question_only": {"prompt": write_prompt("Clear? {{ input }}", "q.txt"), "scale": "boolean"},
        "by_reference": {"prompt": write_prompt("{{ response }} {{ references }}", "r.txt"), "scale": "boolean"},
    }
    parts = rows(tmp_path / "rows", ANSWERS)
    without = parts.part(0).to_pylist()
    options = params(server, metrics=metrics, meaning_match=None)

    table = judged(parts, options, tmp_path / "store")

    assert column(table, "question_only") == [1.0] * len(without)
    assert column(table, "by_reference") == [1.0, 1.0, None, 0.0, 1.0]
    assert broken(table, options) == []


@pytest.mark.parametrize("text", TEXTS)
def test_values_are_data_and_never_templates(text: str) -> None:
    metric = own("{{ input }}|{{ response }}{% for one in references %}|{{ one }}{% endfor %}")

    message = metric.message(metric.fields({"input": text, "response": text, "references": [text]}, {}), "N")

    lines = message.split("\n")
    data = [json.loads(line) for before, line in pairwise(lines) if before.endswith("<data nonce=N>")]
    assert data == [text] * (3 if text.strip() else 2)
    assert "".join(lines).isprintable()


HOSTILE = ["{{ 7 * 7 }}", "{% for x in range(9) %}a{% endfor %}", "{{ ''.__class__.__mro__ }}", "{# #}", "{{ nope }}"]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_template_in_the_data_stays_text(text: str) -> None:
    metric = own("{{ response }} {{ response | upper }} {{ '%s' | format(response) }} {% set x = response %}{{ x }}")

    message = metric.message(metric.fields({"response": text}, {}), "N")

    found = [json.loads(line) for line in message.split("\n") if line.startswith('"')]
    assert found == [text, text.upper(), text, text]
    assert "49" not in message


@pytest.mark.parametrize(
    "template",
    [
        "{{ response.__class__ }}",
        "{{ response.format.__globals__ }}",
        "{{ ''.__class__.__mro__[1].__subclasses__() }} {{ response }}",
        "{{ response['nope'] }}",
        "{{ range(10 ** 9) | list }} {{ response }}",
    ],
)
def test_a_prompt_that_fails_on_a_row_leaves_it_unmeasured_with_the_reason(template: str, tmp_path: Path) -> None:
    write_prompt(template)
    options = params(metrics={"mine": METRICS["in_scope"]}, meaning_match=None)

    [row] = rows_of(rows(tmp_path / "rows", ANSWERS[:1]).part(0), options.judge)

    assert row.requests == {}
    assert row.problems["mine"].startswith("the prompt can't be made: ")


def test_loops_conditions_contexts_and_slices_are_at_hand() -> None:
    metric = own(
        "{% for one in contexts %}{{ loop.index }}. {{ one }}\n{% endfor %}"
        "{% if slices.language == 'de' %}German{% endif %} {{ input }}"
    )

    fields = metric.fields({"contexts": ["a", "b"], "slices": {"language": "de"}, "input": None}, {})

    assert metric.message(fields, "N") == (
        '1. <data nonce=N>\n"a"\n</data nonce=N>\n2. <data nonce=N>\n"b"\n</data nonce=N>\n'
        "German <data nonce=N>\nnull\n</data nonce=N>\n\nnonce: N"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{ respones }}", r"prompts/polite\.txt: line 1: unknown variable 'respones'; did you mean response"),
        ("a\n{% if input %}\nb", r"prompts/polite\.txt: line 3: "),
        ("a\n{{ input | nofilter }}", r"line 2: No filter named 'nofilter'"),
        ("a\nb\n{{ input.speaker }}", r"line 3: input is a text, and has no 'speaker'"),
        ("no variable", r"reads none of the variables input, references, response, contexts, slices"),
        ("{% include 'other' %}{{ input }}", r"a prompt is one file"),
        ("{{ lipsum() }}{{ input }}", r"unknown variable 'lipsum'"),
        ("{{ input | random }}", r"No filter named 'random'"),
        ("\0{{ input }}", r"null character"),
    ],
)
def test_a_wrong_prompt_is_refused_at_the_start_with_its_line(text: str, message: str) -> None:
    write_prompt(text)

    with pytest.raises(ParamsError, match=rf"^judge\.metrics\.mine\.prompt: (.|\n)*{message}"):
        own()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prompt": "prompts/none.txt", "scale": "boolean"}, r"mine\.prompt: no such file"),
        ({"prompt": "other/polite.txt", "scale": "boolean"}, r"mine\.prompt: must lie in the folder prompts"),
        ({"prompt": "prompts/../params.yaml", "scale": "boolean"}, r"mine\.prompt: must lie in the folder prompts"),
        ({"threshold": None}, r"mine\.scale: state either scale"),
        ({"scale": [1, 5]}, r"mine\.scale: scale needs a threshold"),
        ({"scale": [5, 1], "threshold": 2}, r"mine\.scale: .*5 is not less than 1"),
        ({"scale": [1, 5], "threshold": 6}, r"mine\.threshold: .*outside of scale, 1 to 5"),
        ({"scale": "bool"}, r"mine\.scale: expected boolean, or the lowest and the highest"),
        ({"scale": [0.0, float("inf")], "threshold": 2}, r"mine\.scale: expected boolean"),
        ({"scale": [0, 10**400], "threshold": 2}, r"mine\.scale: expected boolean"),
        ({"scale": [True, 5], "threshold": 2}, r"mine\.scale: expected boolean"),
        ({"scale": "boolean", "threshold": 0.5}, r"mine\.threshold: .*unless scale is one of numbers"),
        (
            {"scale": "boolean", "treshold": 0.5},
            r"mine\.treshold: unknown option; .*pass, profile",
        ),
        ({"labels": ["a", "b"]}, r"mine\.labels: labels go together with pass"),
        ({"labels": ["a", "b"], "pass": ["c"]}, r"mine\.pass: 'c' is none of the labels a, b"),
        ({"labels": ["a", "b"], "pass": ["a", "b"]}, r"mine\.labels: of the labels some must pass"),
        ({"labels": ["a", "a"], "pass": ["a"]}, r"mine\.labels: a label twice"),
        ({"labels": ["a b", "a_b"], "pass": ["a b"]}, r"mine\.labels: .*two have the same column"),
        ({"labels": ["result", "b"], "pass": ["b"]}, r"mine\.labels: .*that of the result"),
        ({"labels": ["a", "b"], "pass": ["a"], "scale": "boolean"}, r"mine\.scale: state either"),
    ],
)
def test_wrong_options_are_named_by_their_path(options: dict[str, Any], message: str) -> None:
    given = {"prompt": "prompts/polite.txt"} | options
    with pytest.raises(ParamsError, match=rf"judge\.metrics\.{message}"):
        params(metrics={"mine": given}, meaning_match=None)


@pytest.mark.parametrize("name", ["Mine", "9", "a b", "judge_x", "score_x", "f1", "label", "x_result", "preference"])
def test_a_name_that_tables_use_otherwise_is_refused(name: str) -> None:
    with pytest.raises(ParamsError, match=f"judge.metrics.{name}: choose another name"):
        params(metrics={name: METRICS["in_scope"]})


def test_a_typo_in_the_name_of_a_metric_is_no_question_of_ones_own() -> None:
    with pytest.raises(ParamsError, match="unknown metric 'meaning_mach'; did you mean meaning_match"):
        params(metrics={"meaning_mach": {}})


def test_without_a_judge_the_columns_are_there_and_say_so(tmp_path: Path) -> None:
    options = params(provider="none", metrics=METRICS)

    table = judged(rows(tmp_path / "rows", ANSWERS), options, tmp_path / "store")

    assert column(table, "tone_rude") == [None] * 5
    assert {json.loads(text)["unmeasured"] for text in column(table, "tone_details")} == {"disabled"}
    assert broken(table, options) == []


def test_metrics_in_their_former_place_are_the_same() -> None:
    former = params(similarity_judge={"threshold": 4})
    present = params(metrics={"similarity_judge": {"threshold": 4}, "meaning_match": {}})

    assert former.judge.metrics == present.judge.metrics


def test_options_reach_other_processes() -> None:
    options = params(metrics=METRICS)

    copied = pickle.loads(pickle.dumps(options))  # noqa: S301 (our own)

    assert [metric.prompt_hash for metric in copied.judge.metrics] == [one.prompt_hash for one in options.judge.metrics]
    assert [metric.name for metric in copied.judge.metrics] == ["meaning_match", *METRICS]


def test_canaries_are_asked_by_a_prompt_whose_verdicts_are_known(server: Any, tmp_path: Path) -> None:
    server.script = pleased
    options = params(server, metrics=METRICS, meaning_match=None, canaries=True)

    judged(rows(tmp_path / "rows", ANSWERS), options, tmp_path / "store")

    asked = Counter(is_own(body) for body in server.calls)
    assert asked == {False: len(canaries.canaries()), True: 3 * len(METRICS)}
    assert {tuple(question(body)[1]) for body in server.calls if not is_own(body)} == {
        ("input", "ground_truth", "output")
    }


def test_rows_that_are_not_asked_are_no_failures(server: Any, tmp_path: Path) -> None:
    server.script = pleased
    options = params(server, metrics=METRICS, meaning_match=None, sampling_rate=0.4)
    (tmp_path / "table").mkdir()

    table = judged(rows(tmp_path / "rows", ANSWERS), options, tmp_path / "store")

    write_part(table, tmp_path / "table", 0)
    for one in score_columns(Parts(tmp_path / "table")):
        failed = [value is None for value in column(table, one.name)]
        assert one.not_asked.tolist() == [
            missing and not sampled for missing, sampled in zip(failed, column(table, "judge_sampled"), strict=True)
        ]
    assert not all(column(table, "judge_sampled"))


@pytest.mark.usefixtures("project")
def test_the_plan_counts_own_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-2b7e")
    write_prompt("{{ slices.topic }} {{ input }} {{ response }}")
    edit(lambda content: content["judge"].update(provider="openai"))
    before = plan_next_run()
    edit(lambda content: content["judge"]["metrics"].update(METRICS))

    plan = plan_next_run()

    assert before is not None
    assert plan is not None
    assert plan.calls == before.calls + 2 * len(ROWS) * len(METRICS)
    assert plan.prompt > before.prompt + 100 * 2 * len(ROWS) * len(METRICS)


def sections_with(**metric: Any) -> dict[str, Any]:
    content = settings()
    content["judge"]["metrics"]["mine"] = {"prompt": "prompts/polite.txt", "scale": "boolean"} | metric
    content["judge"].update(provider="openai")
    return {name: sections.section(model, content, name) for name, model in sections.models().items()}


@pytest.fixture
def stages_of_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sections of params.yaml are those of the project, wherever the test runs."""
    with monkeypatch.context() as patch:
        patch.chdir(ROOT)
        models = sections.models()
    monkeypatch.setattr(sections, "models", lambda: models)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{ contexts }}", "reads contexts, but dataset.contexts names no column"),
        ("{{ slices.topik }}", "unknown slice 'topik'; did you mean topic"),
        ("{{ slices['nope'] }}", "unknown slice 'nope'"),
    ],
)
@pytest.mark.usefixtures("stages_of_the_project")
def test_what_the_data_do_not_have_is_refused_before_anything_runs(text: str, message: str) -> None:
    write_prompt(text)

    with pytest.raises(ParamsError, match=message):
        check_prompts(sections_with())


@pytest.mark.usefixtures("stages_of_the_project")
def test_a_project_without_the_stage_of_other_metrics_may_have_questions_of_its_own() -> None:
    write_prompt("{{ response }}")
    found = sections_with()

    check_prompts({name: section for name, section in found.items() if name not in {"lexical", "semantic"}})


def test_nothing_in_tasks_names_a_judge_metric_but_its_own_file() -> None:
    command = [
        "grep",
        "-rlE",
        "meaning_match|similarity_judge|MeaningMatch|SimilarityJudge",
        "goldmeter",
        "tasks",
        "flows",
    ]
    found = subprocess.run(
        [*command, "--include=*.py", "--include=*.html", "--include=*.js", "--include=*.j2"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.split()

    assert sorted(found) == ["goldmeter/metrics/judge/meaning_match.py", "goldmeter/metrics/judge/similarity_judge.py"]


def test_the_prompts_of_the_guide_are_those_that_the_project_has() -> None:
    pages = (GUIDE, ROOT / "docs/how-to/ask-a-model.md")
    shown = {block.mark.removeprefix("file: "): block.text for page in pages for block in blocks(page) if block.mark}

    for path in sorted((ROOT / "prompts").iterdir()):
        assert shown[f"prompts/{path.name}"] == path.read_text(encoding="utf-8")


@pytest.mark.exhaustive
def test_the_questions_of_the_guide_go_all_the_way(server: Any, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-2b7e")
    guide = blocks(GUIDE)
    for block in guide:
        if block.mark.startswith("file: "):
            Path(block.mark.removeprefix("file: ")).write_text(block.text, encoding="utf-8")
    [chosen] = [parse_yaml(block.text)["judge"] for block in guide if block.mark == "metrics"]
    write(project, [row | {"aurora": f"{row['aurora']}, please"} for row in ROWS])
    server.script = pleased
    edit(lambda content: content["judge"].update(**chosen, base_url=server.url))
    edit(lambda content: content["gate"].update(primary="in_scope", metrics={"politeness.value": 0.1, "tone": 0.0}))
    edit(lambda content: content["report"].update(targets={"tone": 0.5}))

    for stage in ("load", "normalize", "lexical", "embed", "semantic", "judge", "aggregate", "report"):
        run(stage)

    document = json.loads(Path("reports/metrics.json").read_text(encoding="utf-8"))
    polite, rude = (document["candidates"][name] for name in ("aurora", "borealis"))
    assert (polite["politeness"]["value"], rude["politeness"]["value"]) == (5.0, 2.0)
    assert (polite["politeness"]["pass_rate"]["value"], polite["politeness"]["pass_rate"]["threshold"]) == (1.0, 4.0)
    assert (polite["in_scope"]["value"], rude["in_scope"]["value"]) == (1.0, 0.0)
    assert (polite["tone"]["pass_rate"]["value"], rude["tone_rude"]["value"]) == (1.0, 1.0)
    assert "pass_rate" not in rude["tone_rude"]
    assert document["primary"]["measure"] == "in_scope"
    [pair] = document["comparisons"]
    assert {"in_scope", "politeness.value", "tone"} <= set(pair["measures"])
    summary = json.loads(Path("reports/summary.json").read_text(encoding="utf-8"))
    assert summary["aurora"]["tone"] == 1.0
    page = Path("reports/index.html").read_text(encoding="utf-8")
    assert "politeness" in page
    assert "tone_rude" in page
