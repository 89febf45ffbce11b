"""A comparison as JUnit XML: a test case for the release gate, and one per pair of candidates and measure of the gate.

A file has failures or errors exactly when `flows.compare` ends with another status than 0.
Source: the schema junit-10.xsd of Jenkins' xUnit plugin.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast
from xml.etree import ElementTree as ET

from goldmeter.comparison.gate import Gate
from goldmeter.comparison.of_versions import compare_versions
from goldmeter.console.format import visible
from goldmeter.errors import ExportError
from goldmeter.exports.results import written
from goldmeter.history.labelled_answers import compare_options
from goldmeter.pipeline import params
from goldmeter.versions.version import versions
from goldmeter.wording import comparison_lines
from goldmeter.wording.comparison_document import ComparisonDocument, MeasureEntry, PairEntry
from goldmeter.wording.verdicts import Decision, Verdict

GATE = "release gate"


class Case(NamedTuple):
    """A test case. outcome: None if it passed. message: why it did not. text: the numbers, one per line."""

    name: str
    outcome: Literal["failure", "error", "skipped"] | None
    message: str
    text: str = ""


def export(target: Path, base: str, head: str) -> int:
    """Write a comparison as JUnit XML; returns the number of test cases.

    Args:
        target: The file to write.
        base: The older version, or the JSON file of a comparison.
        head: The newer version, of no effect with a JSON file.

    Raises:
        GoldmeterError: The versions can't be compared, the JSON is no comparison, or the target can't be written.
    """
    with written(target) as temporary:
        suites = [*to_suites(_documents(base, head))]
        temporary.write_text(to_xml(suites), encoding="utf-8")
    return sum(len(cases) for _, cases in suites)


def to_suites(documents: Sequence[ComparisonDocument]) -> Iterator[tuple[str, list[Case]]]:
    """Yield the name and the cases of each test suite: one for the gate, and one for each pair of candidates."""
    for document in documents:
        versions_named = f"{document['base']['name']} → {document['head']['name']}" if len(documents) > 1 else ""
        yield " ".join(filter(None, [GATE, versions_named])), [_gate(document)]
        for pair in document["pairs"]:
            name = pair["base"] if pair["base"] == pair["head"] else f"{pair['base']} → {pair['head']}"
            yield " ".join(filter(None, [name, versions_named])), [*_cases(document, pair)]


def to_xml(suites: Sequence[tuple[str, Sequence[Case]]]) -> str:
    """The document of these test suites."""
    root = ET.Element("testsuites", {"name": "goldmeter", **_counts([case for _, cases in suites for case in cases])})
    for name, cases in suites:
        skipped = str(sum(case.outcome == "skipped" for case in cases))
        suite = ET.SubElement(root, "testsuite", {"name": visible(name), "skipped": skipped, **_counts(cases)})
        for case in cases:
            element = ET.SubElement(suite, "testcase", classname=visible(name), name=visible(case.name))
            if case.outcome:
                ET.SubElement(element, case.outcome, message=visible(case.message), type=case.outcome)
            if case.text:
                ET.SubElement(element, "system-out").text = visible(case.text)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _counts(cases: Sequence[Case]) -> dict[str, str]:
    outcomes = [case.outcome for case in cases]
    return {
        "tests": str(len(outcomes)),
        "failures": str(outcomes.count("failure")),
        "errors": str(outcomes.count("error")),
    }


def _gate(document: ComparisonDocument) -> Case:
    sentence, status = comparison_lines.outcome(document)
    outcome: Any = {1: "failure", 2: "error"}.get(status)
    if outcome is None and document["decision"]["verdict"] == Decision.UNDECIDED:
        outcome = "skipped"
    return Case(GATE, outcome, sentence, "\n".join(comparison_lines.lead(document)))


def _cases(document: ComparisonDocument, pair: PairEntry) -> Iterator[Case]:
    """The measures of a pair that can stop a release, the primary one first."""
    undecided = document["gate"]["fail_on"] == "cannot_tell"
    for name, measure in comparison_lines.by_weight(pair)[0].items():
        outcome: Any = {Verdict.WORSE: "failure", Verdict.CANNOT_TELL: "failure" if undecided else "skipped"}.get(
            measure["verdict"]
        )
        yield Case(
            f"{name} ({measure['role']})", outcome, comparison_lines.measure_sentence(name, measure), _numbers(measure)
        )
    for refused in pair["refused"]:
        if refused["role"] != "secondary":
            outcome = "error" if refused["blocks"] else "skipped"
            yield Case(f"{refused['measure']} ({refused['role']})", outcome, f"not compared: {refused['reason']}")


def _numbers(measure: MeasureEntry) -> str:
    difference = measure["difference"]
    numbers = {
        **{name: measure[name] for name in ("verdict", "base", "head")},
        **{f"difference.{name}": difference[name] for name in ("value", "low", "high", "p_value")},
        **{name: measure[name] for name in ("n", "margin", "signature")},
        "what would decide": comparison_lines.would_decide(measure) or None,
    }
    return "\n".join(f"{name}: {value}" for name, value in numbers.items() if value is not None)


def _documents(base: str, head: str) -> list[ComparisonDocument]:
    if base.endswith(".json"):
        return _read(Path(base))
    gate, options = params.section(Gate, params.raw(), "gate"), compare_options()
    with versions([base, head]) as (older, newer):
        return [compare_versions(older, newer, gate, options)]


def _read(path: Path) -> list[ComparisonDocument]:
    """Read what `flows.compare --json` wrote, of two versions or of more."""
    remedy = "`python -m flows.compare BASE --json FILE` writes one"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        documents = _compared(content) if "comparisons" in content else [content]
        [*to_suites(documents)]
    except OSError as error:
        raise ExportError(f"{path}: can't be read: {error.strerror}; {remedy}") from None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ExportError(f"{path}: no comparison as JSON ({type(error).__name__}: {error}); {remedy}") from None
    return documents


def _compared(content: Mapping[str, Any]) -> list[ComparisonDocument]:
    """The comparisons of several versions. Raises ExportError for two that could not be compared."""
    for one in content["comparisons"]:
        if one["document"] is None:
            names = f"{one['base']['name']} and {one['head']['name']}"
            raise ExportError(f"{names} were not compared: {one['reason']}")
    return [cast(ComparisonDocument, one["document"]) for one in content["comparisons"]]
