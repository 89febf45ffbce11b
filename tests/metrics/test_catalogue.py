import pickle
import sys

import pytest

import tasks.metrics.lexical
from goldmeter import score
from goldmeter.errors import ParamsError
from goldmeter.metrics import catalogue
from goldmeter.metrics.catalogue import check_columns, configure, families, family_of, metric_class, names
from goldmeter.metrics.lexical.bleu import Bleu


def test_a_metric_is_a_module_of_its_family():
    assert {"bleu", "gleu", "f1", "exact_match", "accuracy"} <= set(names("lexical"))
    assert names("lexical") == sorted(names("lexical"))
    assert "lexical" in families()


def test_every_metric_of_every_family_has_one_class_named_like_it():
    for family in families():
        for name in names(family):
            cls = metric_class(family, name)
            assert cls.__name__.lower() == name.replace("_", "")
            assert family_of(name) == family


def test_a_new_file_is_a_new_metric(tmp_path, monkeypatch):
    (tmp_path / "lexical").mkdir()
    for module in ("__init__.py", "length.py", "_tables.py"):
        (tmp_path / "lexical" / module).touch()
    (tmp_path / "empty").mkdir()
    monkeypatch.setattr(catalogue, "_HERE", tmp_path)

    assert families() == ["lexical"]
    assert names("lexical") == ["length"]


OWN = "from goldmeter.metrics.lexical.f1 import F1\n\n\nclass Mine(F1):\n    factor: float = 0.5\n"


def own_metric(name, monkeypatch, tmp_path):
    """A project with a metric of its own in the current folder."""
    folder = tmp_path / "tasks/metrics/lexical"
    folder.mkdir(parents=True)
    (folder / f"{name}.py").write_text(OWN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tasks.metrics.lexical, "__path__", [str(folder)])
    monkeypatch.delitem(sys.modules, f"tasks.metrics.lexical.{name}", raising=False)


def test_a_project_has_metrics_of_its_own(monkeypatch, tmp_path):
    own_metric("mine", monkeypatch, tmp_path)

    assert "mine" in names("lexical")
    assert configure("lexical", "mine", {"factor": 2}).factor == 2
    assert score("mine", ["a b"], ["a b"]) == [1.0]
    monkeypatch.chdir("/")
    assert "mine" not in names("lexical")


def test_one_with_the_name_of_ours_is_refused(monkeypatch, tmp_path):
    own_metric("f1", monkeypatch, tmp_path)

    with pytest.raises(ParamsError, match=r"tasks/metrics/lexical/f1\.py: goldmeter has a metric of this name; rename"):
        metric_class("lexical", "f1")


def test_options_and_none_at_all():
    assert configure("lexical", "bleu", {"max_order": 2, "threshold": None}) == Bleu(max_order=2)
    assert configure("lexical", "bleu", None) == Bleu()


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("blue", {}, r"^lexical\.blue: unknown metric 'blue'; did you mean bleu\? allowed: accuracy, bleu, "),
        (
            "bleu",
            {"smothing": 1},
            r"^lexical\.bleu\.smothing: unknown option; did you mean smoothing\? allowed: aggregate, ",
        ),
        (
            "bleu",
            {"smoothing": "mehtod4"},
            r"^lexical\.bleu\.smoothing: should be 'none', .* or 'method4' \(given: 'mehtod4'\)$",
        ),
        (
            "bleu",
            {"max_order": 0},
            r"^lexical\.bleu\.max_order: should be greater than or equal to 1 \(given: 0\)$",
        ),
        ("bleu", {"max_order": "four"}, r"^lexical\.bleu\.max_order: should be a valid integer, .*'four'"),
        (
            "bleu",
            {"threshold": 3},
            r"^lexical\.bleu\.threshold: threshold 3 is outside the bounds of bleu, 0 to 1$",
        ),
        (
            "bleu",
            {"tokenizer": "14a"},
            r"^lexical\.bleu\.tokenizer: unknown tokenizer '14a'; allowed: 13a\+cjk, ",
        ),
        (
            "bleu",
            {"profile": "azur"},
            r"^lexical\.bleu\.profile: unknown profile 'azur'; allowed: default, nltk, azure, ",
        ),
        ("exact_match", {"threshold": 1}, r"^lexical\.exact_match\.threshold: exact_match is binary"),
        ("gleu", {"min_order": 5}, r"^lexical\.gleu\.min_order: min_order 5 is above max_order 4$"),
        (
            "bleu",
            ["smoothing"],
            r"^lexical\.bleu: expected options, such as \{threshold: 0\.5\}, not \['smoothing'\]$",
        ),
    ],
)
def test_a_wrong_option_is_named_with_its_path_and_what_is_allowed(name, options, message):
    with pytest.raises(ParamsError, match=message):
        configure("lexical", name, options)


def test_all_wrong_options_are_named_at_once():
    with pytest.raises(ParamsError) as error:
        configure("lexical", "bleu", {"max_order": 0, "lowercase": "sometimes"})

    assert [line.partition(":")[0] for line in str(error.value).splitlines()] == [
        "lexical.bleu.max_order",
        "lexical.bleu.lowercase",
    ]


def test_an_unknown_family_or_metric():
    with pytest.raises(ParamsError, match=r"unknown family 'lexcial'; did you mean lexical\? allowed: "):
        names("lexcial")
    with pytest.raises(ParamsError, match=r"unknown metric 'rogue'; did you mean rouge\? allowed: "):
        family_of("rogue")


def test_a_metric_runs_again_under_a_name_of_the_users():
    metric = configure("lexical", "rouge_2", {"metric": "rouge", "n": 2, "threshold": 0.25})

    assert metric.name == "rouge_2"
    assert metric.columns == ("rouge_2_precision", "rouge_2_recall", "rouge_2_f1_score")
    assert metric.signature() == "rouge_2|metric:rouge|type:2|stem:no|tok:words|case:lc|refs:best|v:1"
    assert metric.rate_signature().endswith("|thr:0.25")


@pytest.mark.parametrize("name", names("lexical"))
def test_every_metric_has_the_users_name_in_each_column_and_signature(name):
    metric = configure("lexical", "of_mine", {"metric": name})

    assert all(column.startswith("of_mine") for column in metric.columns)
    assert metric.signature().startswith(f"of_mine|metric:{name}|")


def test_a_named_metric_is_made_again_from_its_options():
    metric = configure("lexical", "fields", {"metric": "json_fields", "value": "number"})

    assert configure("lexical", metric.name, metric.model_dump()) == metric
    assert pickle.loads(pickle.dumps(metric)) == metric  # noqa: S301 (made here)
    assert configure("lexical", "rouge", {"metric": "rouge"}) == configure("lexical", "rouge", {})
    assert "metric" not in configure("lexical", "rouge", {}).model_dump()


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("rouge_1", {"metric": "rogue"}, r"^lexical\.rouge_1\.metric: unknown metric 'rogue'; did you mean rouge\? "),
        ("rouge_1", {"metric": 1}, r"^lexical\.rouge_1\.metric: unknown metric .1.; "),
        ("rouge_1", {"metric": ["rouge"]}, r"^lexical\.rouge_1\.metric: unknown metric "),
        ("rouge_1", {"metric": "similarity"}, r"^lexical\.rouge_1\.metric: unknown metric 'similarity'"),
        ("rouge_1", {"metric": "rouge", "m": 1}, r"^lexical\.rouge_1\.m: unknown option; allowed: "),
        ("bleu", {"metric": "rouge"}, r"^lexical\.bleu: choose another name: .*, that is no metric or column"),
        ("similarity", {"metric": "rouge"}, r"^lexical\.similarity: choose another name"),
        ("label", {"metric": "rouge"}, r"^lexical\.label: choose another name"),
        ("score_tone", {"metric": "rouge"}, r"^lexical\.score_tone: choose another name"),
        ("a_result", {"metric": "rouge"}, r"^lexical\.a_result: choose another name"),
        ("A b", {"metric": "rouge"}, r"^lexical\.A b: choose another name"),
    ],
)
def test_a_name_of_the_users_that_is_taken_or_states_no_metric(name, options, message):
    with pytest.raises(ParamsError, match=message):
        configure("lexical", name, options)


def test_two_metrics_with_a_column_in_common_are_refused():
    metrics = {"rouge": {}, "rouge_recall": {"metric": "accuracy"}}
    configured = {f"lexical.{name}": configure("lexical", name, options) for name, options in metrics.items()}

    with pytest.raises(ParamsError, match=r"^lexical\.rouge_recall: lexical\.rouge has the column rouge_recall too; "):
        check_columns(configured)
