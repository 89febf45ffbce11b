from benchmarks.offline_judge.ablation import FAMILIES, variants
from goldmeter.models.offline.feature_names import FEATURES
from goldmeter.models.offline.traps import MARKS


def test_each_column_is_in_one_family():
    assert sorted(column for columns in FAMILIES.values() for column in columns) == sorted((*FEATURES, *MARKS))


def test_each_family_is_left_out_once():
    left_out = [name for name, families, _ in variants() if len(families) == len(FAMILIES) - 1]

    assert left_out == [f"without {family}" for family in FAMILIES]
