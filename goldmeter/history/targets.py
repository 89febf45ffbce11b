"""Alarms of targets that the report of a scheduled run calls not met."""

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from goldmeter.estimates.column_facts import VALUE
from goldmeter.estimates.metrics_report import reading
from goldmeter.estimates.primary import TargetVerdict
from goldmeter.wording.alarms import Key, of_target
from goldmeter.wording.conclusion import target_in_words


def alarms(
    past: pa.Table, name: str, floors: Mapping[str, float], tested: Mapping[Key, Sequence[str]]
) -> tuple[dict[Key, list[str]], list[str]]:
    """The targets that are not met, and those that no longer are, in words; the floor of a measure replaces its target.

    Args:
        past: The history, whose alarms do not say their kind: that of the last night may have been another one.
        name: The schedule's name.
        floors: Measure → its floor.
        tested: The other alarms of this night.
    """
    lines = past.filter(pc.equal(past["schedule"], name)).to_pylist()
    earlier = {
        (line["candidate"], line["metric"]) for line in lines if line["alarm"] and line["run"] == lines[-1]["run"]
    }
    missed, over = dict[Key, list[str]](), list[str]()
    with reading() as document:
        for candidate, entries in document.get("targets", {}).items():
            for measure, entry in entries.items():
                key = candidate, measure.removesuffix(VALUE)
                if measure in floors:
                    continue
                sentence = of_target(candidate, target_in_words(document, measure, entry), entry["verdict"])
                if entry["verdict"] == TargetVerdict.NOT_MET:
                    missed.setdefault(key, []).append(sentence)
                elif key in earlier and key not in tested:
                    over.append(sentence)
    return missed, over
