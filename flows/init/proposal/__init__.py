"""A proposal for section `dataset`: the role of each column of the user's records, and the reason."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from flows.init.proposal import names
from flows.init.proposal.columns import Column
from flows.init.proposal.roles import CHECK, Roles, roles
from flows.init.proposal.sample import Sample
from flows.init.proposal.section import quoted, shown, written
from flows.init.proposal.separators import Separator, separator
from tasks.console.format import counted
from tasks.dataset.mapping import LABELS
from tasks.dataset.sources import Record

# Largest share of records that a column such as `invalid` may mark, to be proposed for `exclude`.
FEW_SET = 0.25
# Share of labelled answers from which `labels: all` is proposed.
COMPLETE = 0.95
# Share of references with a character such as `;` from which it is mentioned, although it separates nothing.
MENTIONED = 0.05
MOST_UNUSED = 30
MOST_VERDICTS = 5


class Proposal(NamedTuple):
    """Values of section `dataset`, comments on some of them, and the columns without a role.

    comments: By option, or `candidates.NAME`; one that begins with CHECK asks the user to check the value.
    read: How many records were read, in words.
    """

    options: Mapping[str, Any]
    comments: Mapping[str, str]
    unused: Sequence[Column]
    read: str

    @property
    def section(self) -> str:
        """The text of section `dataset`."""
        return written(
            self.options, self.comments, self.notes, f"your data; python -m flows.init proposes this from {self.read}"
        )

    @property
    def notes(self) -> list[str]:
        """A line with the columns without a role, and what they hold; empty if there is none."""
        shown_ones = [f"{shown(column.name)} ({column.about})" for column in self.unused[:MOST_UNUSED]]
        more = [f"and {len(self.unused) - MOST_UNUSED:,} more"] if len(self.unused) > MOST_UNUSED else []
        return [f"not used: {', '.join(shown_ones + more)}"] if shown_ones else []

    @property
    def unsure(self) -> dict[str, str]:
        """Option → why the user should check it."""
        asking = {option: comment for option, comment in self.comments.items() if comment.startswith(CHECK)}
        return {option: comment.removeprefix(CHECK) for option, comment in asking.items()}


def propose(path: str, sample: Sample) -> Proposal:
    """Propose a mapping from the names and values of the columns.

    Raises:
        DataError: If no column fits an option that `load` requires; the message lists the columns.
    """
    found = roles(path, sample.records)
    between = separator(found.references.texts) if found.references.kind == "text" else None
    labels, about_labels = _labels(found)
    options: dict[str, Any] = {
        "path": path,
        "pattern": sample.pattern,
        "format": None,
        "limit": None,
        "exclude": {},
        "missing_response": "unmeasured",
        "id": found.id.name,
        "draw": None,
        "input": found.input.name,
        "references": found.references.name,
        "reference_separator": between.text if between and between.plausible else None,
        "candidates": _candidates(found),
        "lists": None,
        "other_questions": "reject",
        "label_file": None,
        "labels": labels,
        "group": found.group.name,
        "slices": [column.name for column in found.slices],
        "phrases": None,
        "contexts": None,
        "relevant": None,
        "scores": {},
    }
    comments = {
        "exclude": _marks(found, sample.records),
        "id": found.id.comment,
        "input": found.input.comment,
        "references": found.about_references,
        "reference_separator": _between(between, len(found.references.values)),
        **{f"candidates.{name}": f"{CHECK}{each.unsure}" for name, each in found.systems.items() if each.unsure},
        "candidates": _verdicts(found),
        "labels": about_labels,
        "group": found.group.comment,
        "slices": ", ".join(f"{shown(column.name)}: {column.distinct} values" for column in found.slices),
        "phrases": _phrases(found.unused),
        "scores": _scores(found.unused),
    }
    number = counted(len(sample.records), "record")
    read = f"its {number}" if sample.complete else f"its first {number}"
    return Proposal(options, {option: text for option, text in comments.items() if text}, found.unused, read)


def _candidates(found: Roles) -> dict[str, dict[str, str]]:
    return {
        name: {"response": each.response.name} | ({"label": each.label.name} if each.label else {})
        for name, each in found.systems.items()
    }


def _labels(found: Roles) -> tuple[str, str]:
    """Option `labels`, and its comment: how the labelled rows were chosen, as far as the records show it."""
    labelled = [each for each in found.systems.values() if each.label]
    answers = sum(len(each.response.values) for each in labelled)
    labels = sum(len(each.label.values) for each in labelled if each.label)
    if labels >= COMPLETE * answers:
        return "all", ""
    return "other", f"{CHECK}{labels:,} of {answers:,} answers are labelled; random, if those were drawn at random"


def _verdicts(found: Roles) -> str:
    """The comment on labels: they may not be human labels, or a column named like a label holds other words."""
    labels = [each.label.name for each in found.systems.values() if each.label]
    for unclear, otherwise in (
        ([name for name in labels if names.MODEL_VERDICTS & set(names.words(name))], "is a model's verdict"),
        ([name for name in labels if not names.RIGHT & set(names.words(name))], "is true of any but right answers"),
    ):
        if unclear:
            name = f"{shown(unclear[0])}{', …' if len(unclear) > 1 else ''}"
            return f"{CHECK}label: the column of human labels; if {name} {otherwise}, leave it out"
    for column in found.unused:
        if column.kind == "text" and column.distinct <= MOST_VERDICTS and names.key_of_label(column.name) is not None:
            return f"{CHECK}{shown(column.name)} is no label: load takes true and false, 1 and 0, yes and no"
    return ""


def _between(found: Separator | None, of: int) -> str:
    if found is None:
        return ""
    stands = f"{quoted(found.text)} stands in {found.found:,} of {of:,} references, such as {quoted(found.example)}"
    stands += f"; {found.inside:,} times as in a date, a unit or an address" if found.inside else ""
    if found.plausible:
        return f"{CHECK}{stands}"
    return f"none: {stands}" if found.found >= MENTIONED * of else ""


def _marks(found: Roles, records: Sequence[Record]) -> str:
    """The comment on `exclude`: a column such as `invalid` that may say which records to leave out."""
    for column in found.unused:
        marked = column.kind == "boolean" and names.EXCLUDED & set(names.words(column.name))
        if marked and 0 < column.true <= FEW_SET * column.records:
            name, gaps = shown(column.name), _gaps(found, column, records)
            return f"{name} is true in {column.true:,} of {column.records:,}{gaps}: {{{name}: true}} leaves those out"
    return ""


def _gaps(found: Roles, mark: Column, records: Sequence[Record]) -> str:
    """How many of the missing answers of the system with most of them are in marked records, if most are."""
    name, system = max(found.systems.items(), key=lambda pair: pair[1].response.blank)
    lacking = [record.values for record in records if record.values.get(system.response.name) is None]
    marked = sum(LABELS.get(str(values.get(mark.name)).strip().lower(), False) for values in lacking)
    told = f", {marked:,} of the {len(lacking):,} without an answer of {name} among them"
    return told if 2 * marked > len(lacking) else ""


def _phrases(unused: Iterable[Column]) -> str:
    named = [c for c in unused if c.kind in {"list", "text", "encoded"} and names.PHRASES & set(names.words(c.name))]
    return f"column of phrases for semantic_list_contains; perhaps {shown(named[0].name)}" if named else ""


def _scores(unused: Iterable[Column]) -> str:
    numbers = [column.name for column in unused if column.kind == "number" and not names.as_id(column.name)]
    if not numbers:
        return ""
    key = re.sub(r"\W", "_", numbers[0], flags=re.ASCII).lstrip("_0123456789") or "score"
    return f"scores from elsewhere; perhaps {', '.join(map(shown, numbers[:3]))}: {{{key[:40]}: {shown(numbers[0])}}}"
