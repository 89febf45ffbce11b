"""What the README says of metrics is what the code does."""

import re
from pathlib import Path

import pytest

from tasks.metrics import accuracy, score
from tasks.metrics.catalogue import families, metric_class, names

README = Path(__file__).parents[1].joinpath("README.md").read_text(encoding="utf-8")
ROWS = {cells[1].strip(" `"): cells for line in README.splitlines() if len(cells := line.split("|")) == 7}
METRICS = [(family, name) for family in families() for name in names(family)]


@pytest.mark.parametrize(("family", "name"), METRICS)
def test_the_table_of_metrics_states_threshold_and_options(family: str, name: str) -> None:
    metric = metric_class(family, name)
    fields = set(metric.model_fields) - {"profile", "threshold"}

    threshold = "–" if metric.default_threshold is None else f"{metric.default_threshold:g}"
    assert ROWS[name][4].strip() == threshold
    assert set(re.findall(r"`(\w+)`", ROWS[name][5])) == (fields or {"judge"})


def test_the_table_of_metrics_names_no_other() -> None:
    assert set(ROWS) - {"metric", "---"} == {name for _, name in METRICS}


def test_the_lines_of_python_give_the_numbers_beside_them() -> None:
    assert score("bleu", ["Marie Curie was birthed in Warsaw."], ["Marie Curie was born in Warsaw."])[
        0
    ] == pytest.approx(0.3247, abs=5e-5)
    assert accuracy(["Paris!", "London"], ["paris", "London"])["accuracy"] == 1.0


@pytest.mark.parametrize("profile", ["nltk", "azure", "ragas", "rouge_score", "sacrebleu", "benchwise"])
def test_every_named_profile_belongs_to_a_metric(profile: str) -> None:
    assert f"`{profile}`" in README
    assert any(profile in metric_class(family, name).profiles for family, name in METRICS)


@pytest.mark.parametrize("path", re.findall(r"\]\((?!http)([^)]+)\)", README))
def test_every_link_leads_somewhere(path: str) -> None:
    assert Path(__file__).parents[1].joinpath(path).exists()
