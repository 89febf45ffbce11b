"""A file with one answer per record and a column that names the system, beside files of references and labels."""

from collections.abc import Sequence

from flows.init.proposal.chosen import Chosen
from flows.init.proposal.columns import CHECK
from flows.init.proposal.parts import (
    Part,
    join_columns,
    label_rank,
    other_questions,
    proposal_of,
    references_file,
    with_labels,
)
from flows.init.proposal.proposal import Proposal, about, mapped


def long_file(parts: Sequence[Part]) -> Part | None:
    """The largest file in long form; None if there is none, or other files hold the answers."""
    longs = [part for part in parts if part.found.long]
    if not longs or any(part.is_system and not part.found.references for part in parts):
        return None
    return max(longs, key=lambda part: len(part.records))


def propose_long(
    path: str, base: Part, parts: Sequence[Part], chosen: Chosen, unreadable: Sequence[str] = ()
) -> Proposal:
    """Propose how the other files are joined to the one in long form.

    Args:
        path: Of the folder that holds them.
        base: The file in long form.
        parts: All files.
        chosen: What the user said about columns.
        unreadable: Why other files of the folder can't be read.

    Raises:
        DataError: No file has references.
    """
    joins = {part.name: join_columns(base, part) for part in parts if part is not base}
    options = mapped(base.found, chosen) | {"path": path, "pattern": base.name}
    comments = about(base.found, base.records, chosen) | {"pattern": "the answers"}
    references, told = references_file(base, parts, joins)
    used = []
    if references:
        options["references"] = references
        comments["references"] = told
        used += [part for part in parts if part.name == references["path"]]
    if not (base.found.long and base.found.long.system.label):
        labels = sorted((p for p in parts if p is not base and p.is_labels and joins[p.name]), key=label_rank)
        options, comments = with_labels(labels, joins, options, comments)
        used += labels
    if options["input"] is None and (asking := [part.name for part in parts if part.asked]):
        comments["input"] = (
            f"{CHECK}none: the questions of {asking[0]} can't be joined to answers in one file; a judge would not see "
            f"what was asked. Copy them to a column of {base.name}"
        )
    options["other_questions"], comments["other_questions"] = other_questions(base, used)
    return proposal_of(parts, base, options, comments, used, unreadable, joins)
