import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.offline_judge.training import TRAPS, Size, boosted, exported
from goldmeter.errors import ModelError
from goldmeter.models.offline.feature_names import FEATURES
from goldmeter.models.offline.traps import MARKS
from goldmeter.models.offline.trees import FILE, MOST_LEAVES, Models, Trees, read, render, shipped


@pytest.fixture(scope="module")
def model():
    drawn = np.random.default_rng(5)
    features = drawn.normal(size=(600, len(FEATURES))).round(1)
    verdicts = features[:, 0] + features[:, 3] * features[:, 9] + drawn.normal(size=600) > 0
    return boosted(features, verdicts, np.ones(600), TRAPS)


def test_our_trees_say_what_those_of_scikit_learn_say(model):
    unseen = np.random.default_rng(6).normal(size=(500, len(FEATURES)))
    trees = exported(model)

    np.testing.assert_allclose(trees.scores(unseen), model.decision_function(unseen), rtol=0, atol=1e-12)
    np.testing.assert_allclose(trees.probabilities(unseen), model.predict_proba(unseen)[:, 1], rtol=0, atol=1e-12)


@given(st.integers(0, 10**6), st.sampled_from([2, 16, MOST_LEAVES]), st.integers(1, 4))
@settings(max_examples=20)
def test_scores_are_those_of_scikit_learn_for_trees_of_any_size(seed, leaves, features):
    rng = np.random.default_rng(seed)
    rows = rng.integers(-3, 4, size=(300, features)).astype(np.float64)
    verdicts = rng.random(300) < 1 / (1 + np.exp(-rows.sum(axis=1)))
    model = boosted(rows, verdicts, np.ones(300), Size(5, 0.5, leaves, 1))

    np.testing.assert_allclose(exported(model).scores(rows), model.decision_function(rows), rtol=0, atol=1e-12)


def both(trees: Trees) -> Models:
    """The trees as models of both kinds."""
    starts = np.append(trees.starts, [trees.starts[-1]] * len(MARKS)).astype(np.int32)
    return Models(trees, trees._replace(starts=starts))


def test_rendered_models_are_read_as_they_were(model, tmp_path):
    models = both(exported(model))
    (tmp_path / "judge.npz").write_bytes(render(models))

    again = read(tmp_path / "judge.npz")

    assert all(np.array_equal(a, b) for a, b in zip(models.answers, again.answers, strict=True))
    assert render(again) == render(models)


@pytest.mark.parametrize(
    "damage",
    [
        lambda _: b"",
        lambda content: content[: len(content) // 2],
        lambda _: b"not a model",
        lambda content: content[:3000] + bytes(200) + content[3200:],
    ],
)
def test_a_damaged_file_is_refused(tmp_path, damage):
    (tmp_path / "judge.npz").write_bytes(damage(FILE.read_bytes()))

    with pytest.raises(ModelError, match="Install goldmeter again, or restore it from version control"):
        read(tmp_path / "judge.npz")


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(ModelError, match="restore it"):
        read(tmp_path / "judge.npz")


@pytest.mark.parametrize(
    "change",
    [
        {"starts": lambda array: array[1:]},
        {"starts": lambda array: array[::-1]},
        {"starts": lambda array: array + 1},
        {"trees": lambda array: array + len(array)},
        {"trees": lambda array: -array - 1},
        {"trees": lambda array: array[1:]},
        {"remaining": lambda array: array * 0},
        {"remaining": lambda array: array & np.uint64(1)},
        {"thresholds": lambda array: array * np.nan},
        {"values": lambda array: array * np.nan},
        {"values": lambda array: array.astype(np.float32)},
        {"values": lambda array: array[:, :2]},
        {"values": lambda array: np.hstack([array] * 9)},
        {"values": lambda array: array[0]},
        {"baseline": lambda array: array[1:]},
    ],
)
def test_trees_that_lead_nowhere_are_refused(tmp_path, change):
    ((name, changed),) = change.items()
    trees = shipped().answers
    damaged = trees._replace(**{name: changed(getattr(trees, name))})
    (tmp_path / "judge.npz").write_bytes(render(shipped()._replace(answers=damaged)))

    with pytest.raises(ModelError):
        read(tmp_path / "judge.npz")
