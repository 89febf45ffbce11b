"""Rows of other data sets that the offline judge calls inside its domain, and its agreement with people there.

The sets are folders of SemEval-2013 task 7 (student answers: XML, a question a file) and files of EVOUNA's form. None
of them is part of the project. Writes its table into docs/explanation/judge.md.

Use: python -m benchmarks.judge_domain SciEntsBank=sciEntsBank/ Beetle=beetle/ EVOUNA-TQ=TQ.json
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np

from benchmarks.judge_bias import PAGE
from benchmarks.offline_judge.labelled import Labelled, human_labelled
from benchmarks.pages import grid, rewritten
from goldmeter.models.offline import RIGHT, judge

MARK = "domain"
HEADS = ("data set", "rows", "inside", "agreement inside", "agreement outside", "outside, by reason")


def student_answers(folder: Path) -> Iterator[Labelled]:
    """Yield the answers of all XML files below a folder; the verdict "correct" is right, any other wrong."""
    for file in sorted(folder.rglob("*.xml")):
        root = ET.parse(file).getroot()  # noqa: S314  # files that the caller chose; expat expands no external entity
        question = root.findtext("questionText") or ""
        references = [one.text or "" for one in root.iter("referenceAnswer")]
        for answer in root.iter("studentAnswer"):
            is_right = answer.get("accuracy") == "correct"
            yield Labelled(
                question, references, answer.text or "", is_right, folder.name, written=False, group=question
            )


def line(name: str, rows: Sequence[Labelled]) -> tuple[str, ...]:
    """Return the line of `HEADS` of a data set."""
    judged = judge([row.question for row in rows], [row.references for row in rows], [row.response for row in rows])
    equal = (judged.probabilities >= RIGHT) == [row.verdict for row in rows]
    inside = np.array([reason is None for reason in judged.outside], np.bool_)
    shares = (f"{equal[which].mean():.3f}" if which.any() else "–" for which in (inside, ~inside))
    reasons = Counter(reason for reason in judged.outside if reason)
    listed = "; ".join(f"{reason} {count:,}" for reason, count in reasons.most_common())
    return name, f"{len(rows):,}", f"{inside.sum():,}", *shares, listed or "–"


def table(sets: Mapping[str, Path]) -> str:
    """Return the table of data sets by name, in Markdown."""
    rows = {name: [*(student_answers if path.is_dir() else human_labelled)(path)] for name, path in sets.items()}
    return grid(HEADS, [line(name, found) for name, found in rows.items() if found])


def main(arguments: Sequence[str]) -> None:
    """Measure, print the table and write it into the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.judge_domain", description=__doc__)
    parser.add_argument("sets", nargs="+", metavar="NAME=PATH")
    pairs = [one.split("=", 1) for one in parser.parse_args(arguments).sets]
    text = table({name: Path(path) for name, path in pairs})
    sys.stdout.write(text + "\n")
    PAGE.write_text(rewritten(PAGE.read_text(encoding="utf-8"), text, MARK), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
