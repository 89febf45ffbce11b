"""What README and docs/ say of numbers is what the code does and what was measured."""

import json
import re
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from scipy.stats import binom

from goldmeter import accuracy, score
from goldmeter.metrics.base import Metric
from goldmeter.metrics.catalogue import families, metric_class, names
from goldmeter.pipeline.schedule import Schedule
from goldmeter.statistics import (
    Estimate,
    alpha_spending,
    mcnemar_midp,
    mean_interval,
    paired_difference,
    required_rows,
    score_interval,
)
from goldmeter.wording.verdicts import Verdict
from tests.small_project import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = {path.name: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").rglob("*.md"))}
TEXT = "\n".join([README, *PAGES.values()])
LINES = [line for line in PAGES["metrics.md"].splitlines() if line.startswith("|")]
ROWS = {cells[1].strip(" `"): cells for line in LINES if len(cells := line.split("|")) == 7}
SYSTEMS = {"fid", "gpt35", "chatgpt", "gpt4", "newbing"}
METRICS = [(family, name) for family in families() for name in names(family)]
OTHER_TABLES = {"metric", "---"}


def read(name: str) -> Any:
    return json.loads((ROOT / f"reports/{name}.json").read_text(encoding="utf-8"))


def report(name: str) -> Any:
    return read(name)["sections"]


def shown(estimate: Estimate) -> str:
    return f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"


@pytest.mark.parametrize(("family", "name"), METRICS)
def test_the_table_of_metrics_states_threshold_and_options(family: str, name: str) -> None:
    metric = metric_class(family, name)
    fields = set(metric.model_fields) - set(Metric.model_fields)

    threshold = "–" if metric.default_threshold is None else metric.default_threshold
    assert ROWS[name][4].strip() == (threshold if isinstance(threshold, str) else f"{threshold:g}")
    assert set(re.findall(r"`(\w+)`", ROWS[name][5])) == (fields or {"judge"})


def test_the_table_of_metrics_names_no_other() -> None:
    assert set(ROWS) - OTHER_TABLES == {name for _, name in METRICS}


def test_the_lines_of_python_give_the_numbers_beside_them() -> None:
    assert score("bleu", ["Marie Curie was birthed in Warsaw."], ["Marie Curie was born in Warsaw."])[
        0
    ] == pytest.approx(0.3247, abs=5e-5)
    assert accuracy(["Paris!", "London"], ["paris", "London"])["accuracy"] == 1.0


def test_the_lines_on_statistics_give_the_numbers_beside_them() -> None:
    rate = mean_interval([1] * 98 + [0] * 2)
    lines = {line.partition("  # ")[0]: line.partition("  # ")[2] for line in TEXT.splitlines()}

    assert lines["mean_interval([1] * 98 + [0] * 2)"] == f"0.98 [{rate.low:.3f}, {rate.high:.3f}]"
    assert (
        paired_difference([1] * 9 + [-1] * 2 + [0] * 89).p_value
        == mcnemar_midp(9, 2)
        == pytest.approx(0.0386, abs=5e-5)
    )
    assert f"# {required_rows(0.02, discordance=0.1):,} rows" in TEXT


def test_how_often_others_and_we_contain_a_rate_of_98_percent() -> None:
    measured = {cell["name"]: cell["measured"] for cell in report("coverage")["binary"]["cells"]}
    three = r"in (\d+),\s(\d+)\sand\s(\d+) %"
    page = re.search(rf"{three} of samples .*; ours {three}", PAGES["intervals.md"])
    readme = re.search(rf"{three} of samples; the percentile bootstrap {three}", README)

    assert page is not None
    assert readme is not None
    others, ours = [int(each) for each in page.groups()[:3]], [int(each) for each in page.groups()[3:]]
    assert [int(each) for each in readme.groups()] == ours + others
    for n, their, our in zip((10, 30, 100), others, ours, strict=True):
        assert round(100 * measured[f"percentile bootstrap: n = {n}, p = 0.98"]) == their
        inside = [low <= 0.98 <= high for low, high in (score_interval(k / n, n) for k in range(n + 1))]
        assert round(100 * float(binom.pmf(np.arange(n + 1), n, 0.98) @ inside)) == our


def test_the_readme_is_read_in_three_minutes() -> None:
    assert len(README.split()) <= 700


def test_how_many_targets_of_coverage_are_missed() -> None:
    targets = [target for section in report("coverage").values() for target in section["targets"]]

    assert sum(target["missed"] > 0 for target in targets) == 3
    assert "\nThree targets are missed" in PAGES["intervals.md"]
    assert "three of which are missed" in README


def test_what_torture_came_to() -> None:
    found = read("torture")
    flips, kills = found["flipped bits"], found["kills"]
    named, healed, harmless = (flips["outcomes"][outcome] for outcome in ("named", "healed", "no effect"))

    assert f"{flips['trials']:,} flipped bits: {named:,} named, {healed} healed, {harmless} without effect" in README
    assert f"after {kills['trials']} kills by SIGKILL, runs begun again wrote the same bytes" in README
    assert not any(campaign["failures"] for campaign in found.values())


def test_what_verification_costs() -> None:
    [table] = report("benchmarks")["verification"]["tables"]

    for row in table["rows"]:
        assert f"| {row['s, verified']:.2f} | {row['s, not verified']:.2f} |" in PAGES["reliability.md"]


def test_every_verdict_of_the_gate_is_explained() -> None:
    assert all(f"`{verdict}`" in PAGES["comparison.md"] for verdict in get_args(Verdict))


def test_what_each_look_at_the_same_rows_may_spend() -> None:
    assert ", ".join(f"{100 * alpha_spending(look):.2f} %" for look in (1, 2, 3)) == "2.47 %, 0.65 %, 0.31 %"
    assert "2.47 %, 0.65 %,\n  0.31 %, …" in PAGES["alarms.md"]


def test_the_table_of_simulated_nights_says_what_was_measured() -> None:
    tables = report("benchmarks")["nights"]["tables"]
    told = {row["teams"]: row["told"] for table in tables for row in table["rows"]}

    def shares(good: int, nights: tuple[int, ...]) -> str:
        named = (told[f"after {good} good nights, within {night}; 2 floors × candidates"] for night in nights)
        return ", ".join(f"{hits / 2:g} %" for hits in named)

    assert f"| {told['same rows, 8 measures']} of 200 |" in PAGES["alarms.md"]
    assert f"| {told['fresh rows at the floor, 2 floors × candidates']} of 200 |" in PAGES["alarms.md"]
    assert f"| {shares(0, (7, 14, 30))} |" in PAGES["alarms.md"]
    assert f"| {shares(30, (14, 30))} |" in PAGES["alarms.md"]
    assert f": {told['same rows, 8 measures']} of 200 teams" in README
    assert f"was reported within 14 nights to {shares(0, (14,))} |" in README


def test_every_option_of_overlap_and_missed_is_explained() -> None:
    fields = Schedule.model_fields
    options = {(name, option) for name in ("overlap", "missed") for option in get_args(fields[name].annotation)}

    assert all(f"`{name}: {option}`" in TEXT or f"`{option}`" in PAGES["nightly-runs.md"] for name, option in options)


@pytest.mark.parametrize("profile", ["nltk", "azure", "ragas", "rouge_score", "sacrebleu", "benchwise"])
def test_every_named_profile_belongs_to_a_metric(profile: str) -> None:
    assert f"`{profile}`" in TEXT
    assert any(profile in metric_class(family, name).profiles for family, name in METRICS)


def test_the_table_of_real_answers(evouna: Path) -> None:
    asked = [row for row in json.loads(evouna.read_text(encoding="utf-8")) if not row["improper"]]
    head = next(line for line in PAGES["real-answers.md"].splitlines() if line.startswith("| system |"))
    metrics = re.findall(r"`(\w+)`", head)
    lines = (line.strip("| ").split(" | ") for line in PAGES["real-answers.md"].splitlines())
    systems = {row[0]: row[1:] for row in lines if row[0] in SYSTEMS}

    for system, (people, *cells) in systems.items():
        verdicts = [row[f"judge_{system}"] for row in asked if row[f"judge_{system}"] is not None]
        assert people == shown(mean_interval(np.array(verdicts, dtype=np.float64)))
        answers = [row[f"answer_{system}"] for row in asked]
        keys = [[part.strip() for part in row["golden_answer"].split("/") if part.strip()] for row in asked]
        for metric, cell in zip(metrics[:-1], cells, strict=False):  # the last one takes minutes of embedding
            scores = score(metric, answers, keys)
            assert cell == shown(mean_interval(scores[~np.isnan(scores)]))
    assert set(systems) == SYSTEMS


def test_the_table_of_speed_is_what_make_bench_wrote() -> None:
    sections = report("benchmarks").values()
    measured = {floor["what"]: floor["measured"] for section in sections for floor in section["floors"]}
    ours, allowed = (
        "our defaults, the stack on whitespace tokens",
        "judge, rows/s of what the server's latency allows",
    )
    rows = {
        "EVOUNA-NQ": f"{measured[f'all 9: {ours}']:.0f} ×",
        "made from it": f"{measured[f'all 9, generated: {ours}']:.0f} ×",
        "two cores, EVOUNA-NQ": f"{measured[f'stage on two cores: EVOUNA-NQ: {ours}']:.0f} ×",
        "the 100,000 rows": f"{measured[f'stage on two cores: generated: {ours}']:.0f} ×",
        "validation included": f"{measured['1,000,000 rows by dvc repro']:.0f} s, "
        f"{measured['1,000,000 rows, peak memory']:.1f} GB",
        "to 100,000": f"{measured['time of a further row, last step to the one before']:.2f}",
        "slices, start-up and validation": (
            f"{measured['aggregate of 1,000,000 rows, with start, reading and gates']:.0f} s, "
            f"{measured['its memory']:.1f} GB"
        ),
        "compiles the kernels": f"{measured['first call after installation']:.0f} s",
        "in fp32": f"{measured['fp32, distinct texts/s']:.1f} ×",
        "of what that allows": f"{measured[allowed]:.2f}",
        "offline judge, two cores": f"{measured['offline judge, two cores']:,.0f}",
        "in bf16": f"{measured['bf16, distinct texts/s']:.1f} ×",
        "to search in it": f"{measured['report of 20,000 answers']:.1f} MB",
        "in a new Chromium": f"{measured['its first paint']:.0f} ms",
        "the frame after": f"{measured['its slowest response']:.0f} ms",
    }

    for end, cell in rows.items():
        assert f"{end} | {cell} | " in PAGES["speed.md"]
    assert f"all nine lexical metrics: {rows['EVOUNA-NQ']} the usual stack on one core" in README
    minutes = measured["10,000,000 rows, all stages"] / 60
    scale = f"| together | **{measured['1,000,000 rows, all stages']:.0f}** | **{minutes * 60:.0f}** |"
    assert scale in PAGES["scale.md"]


def test_the_offline_judges_agreement_is_that_of_its_page() -> None:
    assert "| agrees with human labels, EVOUNA-NQ | 0.921 | 0.915 | 0.841 |" in PAGES["judge.md"]
    assert "on 0.921 of EVOUNA-NQ, substring matching on 0.841" in README


def test_the_figures_of_the_offline_judge_on_the_bundled_example() -> None:
    from goldmeter.models import offline

    rows = [json.loads(line) for line in Path("data/examples/qa.jsonl").read_text(encoding="utf-8").splitlines()]
    english = [
        (row, name)
        for row in rows
        for name in ("aurora", "borealis")
        if row["language"] == "en" and row[name] is not None and row[f"{name}_correct"] is not None
    ]
    judged = offline.judge(
        [row["question"] for row, _ in english],
        [row["references"] for row, _ in english],
        [row[name] for row, name in english],
    )
    right = [row[f"{name}_correct"] for row, name in english]

    agrees = int(((judged.probabilities >= offline.RIGHT) == right).sum())

    assert f"{agrees} of {len(english)}\nEnglish answers" in PAGES["judge.md"]
