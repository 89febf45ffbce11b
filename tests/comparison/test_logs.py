"""Two logs of another tool compared by the scores in them."""

import gzip
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from flows.compare import main
from goldmeter.comparison.logs import compare_logs, tool_of
from goldmeter.comparison.of_versions import CompareOptions
from goldmeter.errors import ComparisonError, DataError
from goldmeter.statistics import paired_difference
from goldmeter.wording.comparison_document import ComparisonDocument
from goldmeter.wording.comparison_lines import outcome
from goldmeter.wording.verdicts import Decision
from tests.comparison.sample import gate
from tests.comparison.test_document import measures
from tests.small_project import ROOT

LOGS = ROOT / "tests/dataset/readers/logs"
LM_EVAL, INSPECT = LOGS / "lm_eval", LOGS / "inspect.json.gz"
PRIMARY, BEFORE, AFTER = "score_exact_match", "+" * 40 + "." * 20, "+" * 25 + "." * 15 + "+" * 5 + "." * 15
NOTHING: Mapping[str, Any] = {}
FIRST_OF_TWO = "the first of 2 scores that equally many samples have; gate.primary names another"
Sample = dict[str, Any]


@pytest.fixture
def lm_eval(tmp_path: Path) -> Callable[..., str]:
    """Writes a run of lm_eval with answers of another model, one sign per document; `-` is no sample."""
    [genuine] = LM_EVAL.glob("samples_ask_*.jsonl")
    template = json.loads(genuine.read_text(encoding="utf-8").splitlines()[0])
    [results] = LM_EVAL.glob("results_*.json")
    stated = json.loads(results.read_text(encoding="utf-8"))

    def write(
        model: str,
        signs: str,
        filters: Sequence[str] = ("none",),
        stated_too: Mapping[str, Any] = NOTHING,
        **changed: Any,
    ) -> str:
        folder = tmp_path / model
        folder.mkdir()
        samples = [
            {
                **template, "doc_id": number, "filter": name, "doc_hash": f"hash {number}", "target": "['right']",
                "target_hash": f"target {changed.get('target')}",
                "doc": {"question": f"Question {number}?"}, "exact_match": float(sign == "+"),
                "filtered_resps": ["right" if sign == "+" else f"wrong by {model}"],
                "arguments": {"gen_args_0": {"arg_0": f"<{model}>Question {number}?", "arg_1": {}}}, **changed,
            }
            for number, sign in enumerate(signs)
            for name in filters
            if sign != "-"
        ]  # fmt: skip
        (folder / genuine.name).write_text("".join(json.dumps(one) + "\n" for one in samples), encoding="utf-8")
        counts = {"ask": {"effective": len(signs), "original": len(signs)}}
        of_filters = {"ask": {f"exact_match,{name}": 0.0 for name in filters}}
        header = stated | {"model_name": model, "n-samples": counts, "results": of_filters, **stated_too}
        (folder / results.name).write_text(json.dumps(header), encoding="utf-8")
        return str(folder)

    return write


@pytest.fixture
def inspect(tmp_path: Path) -> Callable[..., str]:
    """Writes a log of Inspect with these grades, one sign per sample; `!` is an error."""
    genuine = json.loads(gzip.decompress(INSPECT.read_bytes()))
    template = genuine["samples"][0]

    def write(name: str, signs: str) -> str:
        samples = [_inspect_sample(template, number, sign) for number, sign in enumerate(signs)]
        dataset = genuine["eval"]["dataset"] | {"samples": len(signs), "sample_ids": [one["id"] for one in samples]}
        results = genuine["results"] | {"total_samples": len(signs), "completed_samples": len(signs) - signs.count("!")}
        log = genuine | {"eval": genuine["eval"] | {"dataset": dataset}, "results": results, "samples": samples}
        (tmp_path / name).write_text(json.dumps(log), encoding="utf-8")
        return str(tmp_path / name)

    return write


def _inspect_sample(template: Mapping[str, Any], number: int, sign: str) -> Sample:
    scores = {name: score | {"value": "C" if sign == "+" else "I"} for name, score in template["scores"].items()}
    sample = {**template, "id": f"q{number}", "input": f"Question {number}?", "scores": scores}
    return sample | ({"error": {"message": "went away", "traceback": "", "traceback_ansi": ""}} if sign == "!" else {})


def compared(base: str, head: str, renamed: Mapping[str, str] | None = None, **of_gate: Any) -> ComparisonDocument:
    asked = gate(**{"primary": None, "metrics": {}} | of_gate)
    return compare_logs(base, head, asked, CompareOptions(renamed or {}))


def test_two_runs_of_lm_eval_by_two_models_with_prompts_of_their_own(lm_eval: Callable[..., str]) -> None:
    document = compared(lm_eval("small", BEFORE), lm_eval("large", AFTER))

    [pair] = document["pairs"]
    value, low, high = paired_difference([-1] * 15 + [1] * 5 + [0] * 40)[:3]
    found = pair["measures"][PRIMARY]
    assert document["decision"]["verdict"] == Decision.DO_NOT_SHIP
    assert document["primary"] == {"measure": PRIMARY, "reason": "the only score"}
    assert list(found["difference"].values())[:3] == pytest.approx([value, low, high], abs=1e-6)
    assert (pair["base"], pair["head"], pair["rows"]["shared"]) == ("small", "large", 60)
    assert {one["id"] for one in pair["flips"]["worst"]} == {f"ask/{number}" for number in range(25, 45)}
    worst = pair["flips"]["worst"][0]
    assert (worst["base"], worst["head"]) == ("right", "wrong by large")


def test_two_runs_of_inspect(inspect: Callable[..., str]) -> None:
    document = compared(inspect("old.json", BEFORE), inspect("new.json", AFTER))

    assert document["decision"]["verdict"] == Decision.DO_NOT_SHIP
    assert document["primary"] == {"measure": "score_match", "reason": FIRST_OF_TWO}
    assert measures(document)["score_includes"]["role"] == "secondary"
    assert measures(document)["score_match"]["difference"]["value"] == pytest.approx(-10 / 60, abs=1e-6)


def test_both_forms_of_a_log_of_inspect_are_compared() -> None:
    document = compared(str(LOGS / "inspect.eval"), str(INSPECT), max_unmeasured=0.5)

    [pair] = document["pairs"]
    assert pair["rows"]["shared"] == 3  # the first of two epochs
    assert document["decision"]["verdict"] == Decision.SHIP


def test_a_log_beside_itself_is_unchanged() -> None:
    document = compared(str(LM_EVAL), str(LM_EVAL))

    assert {pair["base"]: {*pair["measures"]} for pair in document["pairs"]} == {
        "wxrd1574": {"score_exact_match", "score_acc"},  # rows of a task without the score are not asked for it
        "wxrd1574 (first)": {"score_exact_match"},
    }
    assert document["decision"]["verdict"] == Decision.SHIP


def test_filters_are_paired_though_the_models_differ(lm_eval: Callable[..., str]) -> None:
    both = ("strict-match", "flexible-extract")
    document = compared(lm_eval("small", BEFORE, both), lm_eval("large", BEFORE, both))

    assert [(pair["base"], pair["head"]) for pair in document["pairs"]] == [
        ("small (strict-match)", "large (strict-match)"),
        ("small (flexible-extract)", "large (flexible-extract)"),
    ]


@pytest.mark.parametrize("head", [("flexible-extract",), ("none",)])
def test_other_filters_are_no_pair(lm_eval: Callable[..., str], head: Sequence[str]) -> None:
    with pytest.raises(ComparisonError, match="no candidate in common"):
        compared(lm_eval("small", BEFORE, ("strict-match",)), lm_eval("large", BEFORE, head))


def test_of_other_filters_those_in_both_logs_are_paired(lm_eval: Callable[..., str]) -> None:
    base = lm_eval("small", BEFORE, ("strict-match",))
    document = compared(base, lm_eval("large", BEFORE, ("flexible-extract", "strict-match")))

    assert [pair["head"] for pair in document["pairs"]] == ["large (strict-match)"]
    assert document["candidates"]["only_head"] == ["large (flexible-extract)"]


def test_what_could_be_measured_does_not_choose_what_decides(inspect: Callable[..., str]) -> None:
    """A score with failed samples would else give way to one without."""
    base, head = inspect("old.json", BEFORE), Path(inspect("new.json", AFTER))
    log = json.loads(head.read_text(encoding="utf-8"))
    for number, sample in enumerate(log["samples"]):
        sample["scores"]["match"]["value"] = None if number < 10 else "C" if BEFORE[number] == "+" else "I"
        sample["scores"]["includes"]["value"] = "C" if BEFORE[number] == "+" else "I"
    head.write_text(json.dumps(log), encoding="utf-8")

    document = compared(base, str(head))

    assert document["primary"]["measure"] == "score_match"
    assert (document["decision"]["verdict"], document["blocked"]) == ("undecided", True)


def test_a_score_of_one_log_decides_nothing(lm_eval: Callable[..., str], caplog: pytest.LogCaptureFixture) -> None:
    both, other = ["exact_match", "f1"], ["exact_match"]
    document = compared(lm_eval("small", BEFORE, metrics=both[::-1], f1=0.5), lm_eval("large", AFTER, metrics=other))

    assert document["primary"] == {"measure": PRIMARY, "reason": "the only score"}
    assert document["decision"]["verdict"] == Decision.DO_NOT_SHIP
    assert "small: only this log has score_f1; not compared" in caplog.text
    with pytest.raises(ComparisonError, match="no score in common"):
        compared(lm_eval("third", BEFORE), lm_eval("fourth", BEFORE, metrics=["f1"], f1=0.5))


def test_a_log_says_that_less_is_better(lm_eval: Callable[..., str]) -> None:
    less = {"higher_is_better": {"ask": {"exact_match": False}}}
    document = compared(lm_eval("small", BEFORE, stated_too=less), lm_eval("large", AFTER, stated_too=less))

    found = measures(document)[PRIMARY]
    assert (found["verdict"], found["higher_is_better"]) == ("better", False)
    assert (found["base"], found["head"]) == (pytest.approx(40 / 60, abs=1e-6), pytest.approx(30 / 60, abs=1e-6))


def test_half_a_log_is_told_in_the_sentence(lm_eval: Callable[..., str]) -> None:
    base, head = lm_eval("small", BEFORE), lm_eval("large", BEFORE[:30])

    assert outcome(compared(base, head)).sentence.endswith(". Only 30 of 60 older rows could be paired.")


def test_choices_with_the_models_prompt_ask_the_same(lm_eval: Callable[..., str]) -> None:
    """In tasks such as winogrande, the references are whole prompts."""

    def run(model: str, signs: str) -> str:
        contexts = {f"gen_args_{n}": {"arg_0": f"<{model}>{choice}", "arg_1": " ends"} for n, choice in enumerate("ab")}
        return lm_eval(
            model, signs, target="0", arguments=contexts, filtered_resps=[["-1.0", "True"], ["-2.0", "False"]]
        )

    [pair] = compared(run("small", BEFORE), run("large", AFTER))["pairs"]

    assert (pair["rows"]["shared"], pair["rows"]["data_changed"]) == (60, 0)


def test_a_candidate_is_named_if_names_say_nothing(lm_eval: Callable[..., str]) -> None:
    base, head = lm_eval("small", BEFORE, ("strict", "loose")), lm_eval("large", BEFORE)

    with pytest.raises(ComparisonError, match=r"no candidate in common: BASE has small \(strict\), .*--map OLD=NEW"):
        compared(base, head)
    document = compared(base, head, {"small (strict)": "large"})
    assert document["candidates"]["only_base"] == ["small (loose)"]
    assert document["blocked"]


def test_missing_and_failed_samples_are_unmeasured(lm_eval: Callable[..., str], inspect: Callable[..., str]) -> None:
    few = AFTER[:40] + "-" + AFTER[41:]
    [missing] = compared(lm_eval("small", BEFORE), lm_eval("large", few))["pairs"]
    [failed] = compared(inspect("old.json", BEFORE), inspect("new.json", few.replace("-", "!")))["pairs"]

    assert missing["rows"]["shared"] == failed["rows"]["shared"] == 60
    for pair, name in ((missing, PRIMARY), (failed, "score_match")):
        assert pair["measures"][name]["n"] == 59
        assert pair["measures"][name]["unmeasured"]["failed_head"] == 1


def test_samples_that_ask_something_else_are_left_out(lm_eval: Callable[..., str]) -> None:
    document = compared(lm_eval("small", BEFORE), lm_eval("large", AFTER, target="['other']"))

    [pair] = document["pairs"]
    assert (pair["rows"]["shared"], document["blocked"]) == (0, True)


def test_without_hashes_the_prompt_is_the_question(lm_eval: Callable[..., str]) -> None:
    base, head = lm_eval("small", BEFORE, doc_hash=None), lm_eval("large", AFTER, doc_hash=None)

    [pair] = compared(base, head)["pairs"]
    assert pair["rows"]["shared"] == 0


def test_the_gate_names_what_decides(inspect: Callable[..., str], caplog: pytest.LogCaptureFixture) -> None:
    base, head = inspect("old.json", BEFORE), inspect("new.json", AFTER)

    named = compared(base, head, primary="score_includes", metrics={"score_match": 0.5, "meteor": 0.1})
    other = compared(base, head, primary="f1")

    assert named["primary"]["reason"] == "named in gate.primary"
    assert {name: one["role"] for name, one in measures(named).items()} == {
        "score_includes": "primary", "score_match": "guard",
    }  # fmt: skip
    assert "gate.metrics: the logs have no meteor, which guards nothing here" in caplog.text
    assert other["primary"]["reason"] == f"{FIRST_OF_TWO}; the logs have no f1"


def test_graded_scores_are_compared_by_their_mean(lm_eval: Callable[..., str]) -> None:
    document = compared(lm_eval("small", BEFORE, exact_match=0.25), lm_eval("large", BEFORE, exact_match=3.5))

    assert measures(document)[PRIMARY]["difference"]["value"] == 3.25
    assert measures(document)[PRIMARY]["unit"] == "score"


def test_what_cannot_be_compared_says_why(
    lm_eval: Callable[..., str], inspect: Callable[..., str], tmp_path: Path
) -> None:
    base, unscored = lm_eval("small", BEFORE), lm_eval("unscored", BEFORE, metrics=[])
    (tmp_path / "cut.json").write_text(Path(inspect("whole.json", BEFORE)).read_text(encoding="utf-8")[:9000])
    twice = tmp_path / "twice"
    shutil.copytree(base, twice)
    [samples] = twice.glob("samples_*")
    samples.write_text(samples.read_text(encoding="utf-8") * 2, encoding="utf-8")

    for other, message in {
        inspect("other.json", BEFORE): "no sample in common: their ids differ",
        unscored: "unscored: no sample of unscored has a score",
        str(twice): "a second answer of small to ask/0; name the log of one run",
        "HEAD": "HEAD: not a log that is recognised; the other side is one",
    }.items():
        with pytest.raises(ComparisonError, match=message):
            compared(base, other)
    with pytest.raises(DataError, match=r"cut\.json"):
        compared(base, str(tmp_path / "cut.json"))
    with pytest.raises(ComparisonError, match="no sample has a score; load a log by"):
        compared(unscored, unscored)


def test_a_run_of_the_pipeline_is_no_log(tmp_path: Path) -> None:
    shutil.copytree(LM_EVAL, tmp_path / "data/mine")
    assert tool_of(str(tmp_path)) == "lm_eval"
    (tmp_path / "data/load").mkdir()

    assert tool_of(str(tmp_path)) is None
    assert tool_of("") is None


def test_the_command_compares_two_logs(
    lm_eval: Callable[..., str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    base, head = lm_eval("small", BEFORE), lm_eval("large", AFTER)

    assert main([base, head]) == 1
    told = capsys.readouterr().out
    assert told.startswith(f"{Decision.DO_NOT_SHIP.capitalize()}: worse by score_exact_match, −16.7 points [")
    assert "5 rows became right, 15 wrong" in told
    assert main([base, head, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["base"] == {"name": base, "commit": None}
    assert main([base, head, "--html"]) == main([base, "HEAD", "--rescore"]) == main([base, "HEAD"]) == 2
    assert "--rescore and --html: of versions only" in capsys.readouterr().err
