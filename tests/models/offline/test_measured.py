"""The measured facts that are shipped with the offline judge."""

import json
import os
from pathlib import Path

import pytest

from goldmeter.errors import ModelError
from goldmeter.models.offline import measured as module
from goldmeter.models.offline import model_hash
from goldmeter.models.offline.measured import FILE, measured, share_trained_on

DATA = os.environ.get("GOLDMETER_EVOUNA")


@pytest.fixture(autouse=True)
def _forget():
    measured.cache_clear()
    yield
    measured.cache_clear()


def test_they_are_about_the_shipped_model_and_hold_no_rows():
    facts = measured()

    assert facts is not None
    assert facts["model"] == model_hash()
    assert {one["set"] for one in facts["systems"]} == {"EVOUNA-NQ", "EVOUNA-TQ", "NQ301"}
    for one in facts["systems"]:
        assert one["n"] >= 250
        assert one["bias"] == pytest.approx(one["judge"] - one["human"], abs=2e-4)
        assert set(one) == {"set", "system", "n", "judge", "human", "bias", "error", "accuracy"}


def test_a_judge_that_was_trained_again_has_no_measured_facts(monkeypatch):
    monkeypatch.setattr(module, "model_hash", lambda: "another")

    assert measured() is None
    assert share_trained_on(["a"]) == 0.0


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"model": 1}', "\x00"])
def test_a_damaged_file_is_named(monkeypatch, tmp_path, content):
    monkeypatch.setattr(module, "FILE", path := tmp_path / "measured.json")
    path.write_text(content)

    with pytest.raises(ModelError, match=r"measured.json can't be read"):
        measured()


@pytest.mark.skipif(not DATA, reason="GOLDMETER_EVOUNA: the folder of EVOUNA's NQ.json")
def test_every_training_question_is_known():
    items = json.loads(Path(str(DATA), "NQ.json").read_text(encoding="utf-8"))

    assert share_trained_on([item["question"] for item in items if not item["improper"]][:2000]) > 0.99


def test_the_file_is_small():
    assert FILE.stat().st_size < 100_000
