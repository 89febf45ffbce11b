import numpy as np
import pytest

from tasks.errors import ModelError
from tasks.models.offline.feature_names import FEATURES
from tasks.models.offline.training import Examples, boosted, calibration, exported
from tasks.models.offline.trees import FILE, read, render, shipped


@pytest.fixture(scope="module")
def examples():
    drawn = np.random.default_rng(5)
    features = drawn.normal(size=(600, len(FEATURES))).round(1)
    verdicts = features[:, 0] + features[:, 3] * features[:, 9] + drawn.normal(size=600) > 0
    return Examples(features, verdicts, np.ones(600), np.arange(600) % 5)


@pytest.fixture(scope="module")
def model(examples):
    return boosted(examples)


def test_our_trees_say_what_those_of_scikit_learn_say(model):
    unseen = np.random.default_rng(6).normal(size=(500, len(FEATURES)))
    trees = exported(model, np.array([1.0, 0.0]))

    np.testing.assert_allclose(trees.scores(unseen), model.decision_function(unseen), rtol=0, atol=1e-12)
    np.testing.assert_allclose(trees.probabilities(unseen), model.predict_proba(unseen)[:, 1], rtol=0, atol=1e-12)


def test_a_rendered_model_is_read_as_it_was(examples, model, tmp_path):
    trees = exported(model, calibration(model.decision_function(examples.features), examples))
    (tmp_path / "judge.npz").write_bytes(render(trees))

    again = read(tmp_path / "judge.npz")

    assert all(np.array_equal(a, b) for a, b in zip(trees, again, strict=True))
    assert render(again) == render(trees)


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

    with pytest.raises(ModelError, match=r"Restore it from version control, or train it: python -m flows\.train_judge"):
        read(tmp_path / "judge.npz")


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(ModelError, match="Restore it"):
        read(tmp_path / "judge.npz")


@pytest.mark.parametrize(
    "change",
    [
        {"left": lambda array: np.where(array >= 0, 0, array)},  # a walk without end
        {"right": lambda array: array + len(array)},
        {"features": lambda array: array + len(FEATURES)},
        {"values": lambda array: array * np.nan},
        {"values": lambda array: array.astype(np.float32)},
        {"values": lambda array: array[1:]},
        {"roots": lambda array: -array - 1},
        {"calibration": lambda array: array[:1]},
    ],
)
def test_trees_that_lead_nowhere_are_refused(tmp_path, change):
    ((name, changed),) = change.items()
    trees = shipped()
    damaged = trees._replace(**{name: changed(getattr(trees, name)).astype(changed(getattr(trees, name)).dtype)})
    (tmp_path / "judge.npz").write_bytes(render(damaged))

    with pytest.raises(ModelError):
        read(tmp_path / "judge.npz")
