"""A proposal for section `dataset`: the role of each column of the user's records, and the reason."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from goldmeter.console.format import visible
from goldmeter.dataset.choices import first_index
from goldmeter.dataset.labels import LABELS
from goldmeter.dataset.proposal import names, verdicts
from goldmeter.dataset.proposal.candidates import stray_verdicts
from goldmeter.dataset.proposal.columns import CHECK, SINGLE, Column, unnamable
from goldmeter.dataset.proposal.given import Chosen, Sample
from goldmeter.dataset.proposal.roles import Roles, roles
from goldmeter.dataset.proposal.section import CANDIDATES, NAME, quoted, shown, written
from goldmeter.dataset.proposal.separators import Separator, separator
from goldmeter.dataset.settings import Dataset
from goldmeter.dataset.sources import Record
from goldmeter.pipeline.defaults import defaults

# Largest share of records that a column such as `invalid` may mark, to be proposed for `exclude`.
FEW_SET = 0.25
# Share of labelled answers from which `labels: all` is proposed.
COMPLETE = 0.95
# Share of references with a character such as `;` from which it is mentioned, although it separates nothing.
MENTIONED = 0.05
MOST_UNUSED = 30
MOST_VERDICTS = 5
# Every option of the section, in the order of the defaults, with its default.
UNSET: Mapping[str, Any] = dict.fromkeys(Dataset.model_fields) | defaults()[NAME] | {CANDIDATES: {}}


class Proposal(NamedTuple):
    """Values of section `dataset`, comments on some of them, and the columns without a role.

    comments: By option, or `candidates.NAME`; one that begins with CHECK asks the user to check the value.
    read: How many records were read, in words.
    left_out: Files that are not used, and why.
    """

    options: Mapping[str, Any]
    comments: Mapping[str, str]
    unused: Sequence[Column]
    read: str
    left_out: tuple[str, ...] = ()

    @property
    def section(self) -> dict[str, str]:
        """The lines of each option of section `dataset` that is not at its default."""
        reasons = {name: text for name, text in self.comments.items() if text.startswith(CHECK) or name == "task"}
        return written(self.options, reasons, [name for name in reasons if "." not in name])

    @property
    def notes(self) -> list[str]:
        """Lines with the columns without a role, and what they hold, and the files that are not used."""
        shown_ones = [f"{shown(column.name)} ({column.about})" for column in self.unused[:MOST_UNUSED]]
        more = [f"and {len(self.unused) - MOST_UNUSED:,} more"] if len(self.unused) > MOST_UNUSED else []
        columns = [f"not used: {', '.join(shown_ones + more)}"] if shown_ones else []
        return [*columns, *(f"not used: {visible(text)}" for text in self.left_out)]

    @property
    def unsure(self) -> dict[str, str]:
        """Option → why the user should check it."""
        asking = {option: comment for option, comment in self.comments.items() if comment.startswith(CHECK)}
        return {option: comment.removeprefix(CHECK) for option, comment in asking.items()}


def propose(path: str, sample: Sample, chosen: Chosen | None = None) -> Proposal:
    """Propose a mapping from the names and values of the columns.

    Args:
        path: Of the records.
        sample: The first records.
        chosen: What the user said about columns; None: nothing.

    Raises:
        DataError: If no column fits an option that `load` requires; the message lists the columns.
    """
    chosen = chosen or Chosen()
    found = roles(path, sample.records, chosen)
    options = {"path": path, "pattern": sample.pattern} | mapped(found, chosen)
    left_out = [f"column {name!r}: its name is not UTF-8" for name in unnamable(sample.records)]
    unused = [column for column in found.unused if column.name != options.get("choices")]
    return proposal(options, about(found, sample.records, chosen), unused, sample.read, left_out)


def mapped(found: Roles, chosen: Chosen) -> dict[str, Any]:
    """The options that name columns."""
    between, references = _separator(found, chosen), [column.name for column in found.references]
    return {
        "id": found.id.name,
        "draw": found.draw.option,
        "input": found.input.name,
        "references": references[0] if len(references) == 1 else references or None,
        "reference_separator": between.text if between and between.plausible else None,
        **_choices(found)[0],
        "candidates": _candidates(found),
        "lists": _lists(found)[0],
        "labels": _labels(found)[0],
        "group": found.group.name,
        "slices": [column.name for column in found.slices],
        "contexts": found.contexts.name,
        "relevant": found.relevant.name,
    }


def about(found: Roles, records: Sequence[Record], chosen: Chosen) -> dict[str, str]:
    """Comments on the options, and on candidates.NAME."""
    between = _separator(found, chosen)
    listed = [column for column in found.unused if column.kind in {"list", "text", "encoded"}]
    return {
        "exclude": _marks(found, records),
        "id": found.id.comment,
        "draw": f"{CHECK}{found.draw.unsure}" if found.draw.unsure else found.draw.comment,
        "input": found.input.comment,
        "references": found.about_references,
        "reference_separator": _between(between, len(found.references[0].values)) if found.references else "",
        "choices": _choices(found)[1],
        **{f"candidates.{name}": f"{CHECK}{each.unsure}" for name, each in found.systems.items() if each.unsure},
        "candidates": _verdicts(found),
        "lists": _lists(found)[1],
        "labels": _labels(found)[1],
        "group": found.group.comment,
        "slices": ", ".join(f"{shown(column.name)}: {column.distinct} values" for column in found.slices),
        "phrases": _perhaps(listed, names.PHRASES, "column of phrases for semantic_list_contains"),
        "contexts": found.contexts.comment,
        "relevant": found.relevant.comment,
        "criteria": _perhaps(found.unused, names.CRITERIA, "column of criteria for a judge with scale: criteria"),
        "scores": _scores(found.unused),
    }


def proposal(
    options: Mapping[str, Any],
    comments: Mapping[str, str],
    unused: Sequence[Column],
    read: str,
    left_out: Sequence[str],
) -> Proposal:
    """A proposal with all options in the order of params.yaml; those that are not given are none."""
    every = {name: options.get(name, default) for name, default in UNSET.items()}
    return Proposal(every, {option: text for option, text in comments.items() if text}, unused, read, (*left_out,))


def _separator(found: Roles, chosen: Chosen) -> Separator | None:
    if chosen.separator is not None or len(found.references) != 1 or found.references[0].kind != "text":
        return None if not chosen.separator else Separator(chosen.separator, 0, 0, "", plausible=True)
    return separator(found.references[0].texts)


def _choices(found: Roles) -> tuple[dict[str, Any], str]:
    """Options `choices` and `choices_from`, if a column lists what the references mean; and how that was seen."""
    references = found.references[0].cells if len(found.references) == 1 else ()
    for column in found.unused if references else ():
        if names.CHOICES & {*names.words(column.name)} and (seen := first_index(references, column.cells)):
            first, reason = seen
            if first is None:
                return {"choices": column.name, "choices_from": None}, f"the references are letters or texts: {reason}"
            said = f"the references are its index from {first}"
            other = f"{CHECK}{said}, which no value proves; from 1: choices_from: 1"
            return {"choices": column.name, "choices_from": first}, f"{said}: {reason}" if reason else other
    return {}, ""


def _candidates(found: Roles) -> dict[str, Any]:
    if found.long:
        return {"column": found.long.column.name, **found.long.system.option}
    return {name: each.option for name, each in found.systems.items()}


def _lists(found: Roles) -> tuple[str | None, str]:
    """Option `lists`, and its comment: whether answers are lists, and what these seem to be."""
    values = [value for each in found.answering.values() for value in each.response.values]
    lengths = [len(value) for value in values if isinstance(value, list)]
    if not lengths:
        return None, ""
    if max(lengths) == 1:
        return "first", "each list holds one answer"
    several = sum(length > 1 for length in lengths)
    if 2 * several > len(values) and len(set(lengths)) == 1:
        return "draws", f"{CHECK}each answer is a list of {lengths[0]}: repeated answers? or: first, join"
    return (
        "join",
        f"{CHECK}{several:,} of {len(values):,} are lists of several texts: one answer? or: first, draws",
    )


def _labels(found: Roles) -> tuple[str, str]:
    """Option `labels`, and its comment: how the labelled rows were chosen, as far as the records show it."""
    labelled = [(each, each.label) for each in found.answering.values() if each.label and not each.label.by]
    answers = sum(len(each.response.values) for each, _ in labelled)
    labels = sum(len(label.columns[0].values) for _, label in labelled)
    if labels >= COMPLETE * answers:
        return "all", ""
    return "other", f"{CHECK}{labels:,} of {answers:,} answers are labelled; random, if those were drawn at random"


def _verdicts(found: Roles) -> str:
    """The comment on candidates: the form, and what is uncertain about the labels."""
    form = found.long.about if found.long else ""
    unsure = found.long.system.unsure if found.long else ""
    doubts = "; ".join(filter(None, [unsure, _doubt_of_labels(found), _strays(found)]))
    text = "; ".join(filter(None, [doubts, form]))
    return f"{CHECK}{text}" if doubts else text


def _doubt_of_labels(found: Roles) -> str:
    """Verdicts that are not taken for people's, and labels that may not be true of right answers."""
    labels = [each.label for each in found.answering.values() if each.label]
    if machine := [label.columns[0].name for label in labels if label.by]:
        others = ", …" if len(machine) > 1 else ""
        return f"nothing says that people gave {shown(machine[0])}{others}: a score; if they did, leave out by"
    plain = [label.columns[0].name for label in labels if not label.reading.rule]
    unclear = [name for name in plain if not names.TRUE_IS_RIGHT & set(names.words(name))]
    if not unclear:
        return ""
    name = f"{shown(unclear[0])}{', …' if len(unclear) > 1 else ''}"
    return f"label: the column of human labels; if {name} is true of any but right answers, leave it out"


def _strays(found: Roles) -> str:
    """Columns of verdicts that no system's label is: their names do not say of which, or no word of theirs is known."""
    labelled = any(each.label for each in found.answering.values())
    if not labelled and (strays := stray_verdicts(found.unused)):
        return f"{shown(strays[0].name)} holds verdicts; of which system? --label NAME={shown(strays[0].name)}"
    for column in found.unused:
        may_be = column.kind in SINGLE and not column.leaf and column.distinct <= verdicts.MOST_WORDS
        if may_be and column.distinct and verdicts.is_verdict(column) and not (labelled and verdicts.reading(column)):
            first = ", ".join(quoted(text) for text in list(dict.fromkeys(column.texts))[:MOST_VERDICTS])
            return (
                f"{shown(column.name)} holds {first}: if these are human labels, say which are right: "
                f"label: {{column: {shown(column.name)}, right: […], wrong: […]}}"
            )
    return ""


def _between(found: Separator | None, of: int) -> str:
    if found is None:
        return ""
    stands = f"{quoted(found.text)} stands in {found.found:,} of {of:,} references, such as {quoted(found.example)}"
    stands += f"; {found.inside:,} times not between two answers" if found.inside else ""
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
    name, system = max(found.answering.items(), key=lambda pair: pair[1].response.blank)
    cells = zip(records, system.response.cells, strict=True)
    lacking = [each.values for each, cell in cells if cell is None and each.values.get(system.response.name) is None]
    marked = sum(LABELS.get(str(values.get(mark.name)).strip().lower(), False) for values in lacking)
    told = f", {marked:,} of the {len(lacking):,} without an answer of {name} among them"
    return told if 2 * marked > len(lacking) else ""


def _perhaps(unused: Iterable[Column], words: frozenset[str], about: str) -> str:
    """The comment on an option that only suggests a column, by a word in its name."""
    named = [column for column in unused if words & set(names.words(column.name))]
    return f"{about}; perhaps {shown(named[0].name)}" if named else ""


def _is_score(column: Column) -> bool:
    return column.kind == "boolean" and bool(names.SCORES & set(names.words(column.name)))


def _scores(unused: Iterable[Column]) -> str:
    kinds = [column for column in unused if column.kind == "number" or _is_score(column)]
    numbers = [column.name for column in kinds if not names.as_id(column.name)]
    if not numbers:
        return ""
    key = re.sub(r"\W", "_", numbers[0], flags=re.ASCII).lstrip("_0123456789") or "score"
    return f"scores from elsewhere; perhaps {', '.join(map(shown, numbers[:3]))}: {{{key[:40]}: {shown(numbers[0])}}}"
