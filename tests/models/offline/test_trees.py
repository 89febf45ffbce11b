import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.offline_judge.training import TRAPS, boosted, exported
from goldmeter.errors import ModelError
from goldmeter.models.offline.feature_names import FEATURES
from goldmeter.models.offline.splits import MOST_LEAVES
from goldmeter.models.offline.trees import FILE, TRAP_COLUMNS, Models, Trees, read, render, shipped


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


def drawn_trees(rng: np.random.Generator, leaves: int, features: int) -> Trees:
    """Trees of up to so many leaves, grown by splitting leaves at random; thresholds are often equal."""
    nodes, roots = [], []
    for _ in range(int(rng.integers(1, 6))):
        roots.append(len(nodes))
        nodes.append((0, 0.0, -1, -1))
        open_leaves = [len(nodes) - 1]
        for _ in range(int(rng.integers(0, leaves))):
            node = open_leaves.pop(int(rng.integers(len(open_leaves))))
            nodes[node] = (int(rng.integers(features)), float(rng.integers(-2, 3)), len(nodes), len(nodes) + 1)
            open_leaves += [len(nodes), len(nodes) + 1]
            nodes += [(0, 0.0, -1, -1)] * 2
    feature, threshold, left, right = zip(*nodes, strict=True)
    integers = (np.array(column, np.int32) for column in (left, right))
    values = np.where(np.array(left) < 0, rng.normal(size=len(nodes)), 0.0)
    return Trees(
        np.array(feature, np.int32), np.array(threshold), *integers, values,
        np.array(roots, np.int32), rng.normal(size=1),
    )  # fmt: skip


def walked(trees: Trees, row: list[float]) -> float:
    """The score of a row, node by node."""
    score = trees.baseline[0]
    for node in trees.roots:
        while trees.left[node] >= 0:
            goes_left = row[trees.features[node]] <= trees.thresholds[node]
            node = trees.left[node] if goes_left else trees.right[node]  # noqa: PLW2901
        score += trees.values[node]
    return score


@given(st.integers(0, 10**6), st.sampled_from([1, 2, 16, MOST_LEAVES]), st.integers(1, 4))
def test_scores_are_those_of_a_walk_from_node_to_node(seed, leaves, features):
    rng = np.random.default_rng(seed)
    trees = drawn_trees(rng, leaves, features)
    rows = np.concatenate([rng.integers(-3, 4, size=(20, features)), rng.normal(size=(20, features))])
    rows[0, 0], rows[1, 0] = np.inf, -np.inf

    assert trees.scores(rows).tolist() == [walked(trees, row) for row in rows.tolist()]


def test_the_bundled_trees_give_what_a_walk_gives():
    rows = np.random.default_rng(7).normal(size=(30, len(TRAP_COLUMNS))).round(1)

    for trees in shipped():
        assert trees.scores(rows).tolist() == [walked(trees, row) for row in rows.tolist()]


def test_a_tree_with_too_many_leaves_is_refused(tmp_path):
    (tmp_path / "judge.npz").write_bytes(render(both(chain(MOST_LEAVES + 1))))

    with pytest.raises(ModelError, match="too large"):
        read(tmp_path / "judge.npz")
    (tmp_path / "judge.npz").write_bytes(render(both(chain(MOST_LEAVES))))
    assert read(tmp_path / "judge.npz").traps.scores(np.zeros((1, len(FEATURES)))).tolist() == [0.0]


def both(trees: Trees) -> Models:
    return Models(trees, trees)


def chain(leaves: int) -> Trees:
    """One tree, in which every left child is a leaf."""
    inner = np.arange(2 * leaves - 1) % 2 == 0
    inner[-1] = False
    left = np.where(inner, np.arange(2 * leaves - 1) + 1, -1).astype(np.int32)
    zeros = np.zeros(2 * leaves - 1)
    right = np.where(inner, left + 1, -1).astype(np.int32)
    integers = zeros.astype(np.int32), zeros, left, right
    return Trees(*integers, zeros, np.zeros(1, np.int32), np.zeros(1))


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
        {"left": lambda array: np.where(array >= 0, 0, array)},  # a walk without end
        {"right": lambda array: array + len(array)},
        {"right": lambda array: np.where(array >= 0, array.max(), array)},  # shared by all
        {"features": lambda array: array + len(TRAP_COLUMNS)},
        {"values": lambda array: array * np.nan},
        {"values": lambda array: array.astype(np.float32)},
        {"values": lambda array: array[1:]},
        {"roots": lambda array: -array - 1},
        {"baseline": lambda array: array[1:]},
    ],
)
def test_trees_that_lead_nowhere_are_refused(tmp_path, change):
    ((name, changed),) = change.items()
    trees = shipped().answers
    damaged = trees._replace(**{name: changed(getattr(trees, name)).astype(changed(getattr(trees, name)).dtype)})
    (tmp_path / "judge.npz").write_bytes(render(shipped()._replace(answers=damaged)))

    with pytest.raises(ModelError):
        read(tmp_path / "judge.npz")
