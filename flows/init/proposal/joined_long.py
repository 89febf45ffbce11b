"""A file with one answer per record, of the system that a column names, beside files of references and human labels."""

from collections.abc import Sequence

from flows.init.proposal import Proposal, about, in_order, mapped
from flows.init.proposal.chosen import Chosen
from flows.init.proposal.columns import CHECK
from flows.init.proposal.joined import (
    Part,
    about_labels,
    join_columns,
    label_file,
    label_rank,
    other_questions,
    references_file,
)
from tasks.console.format import counted


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
    references, _ = references_file(base, parts, joins)
    used = [base]
    if references:
        options["references"] = references
        comments["references"] = "by its name, in a file of its own"
        used += [part for part in parts if part.name == references["path"]]
    labels = sorted(
        (part for part in parts if part is not base and part.is_labels and joins[part.name]), key=label_rank
    )
    if labels and not (base.found.long and base.found.long.system.label):
        options["label_file"] = label_file(labels[0], joins[labels[0].name] or {})
        options["labels"] = "other"
        comments["label_file"] = about_labels(labels)
        comments["labels"] = f"{CHECK}how the labelled answers were chosen; all, if every answer is labelled"
        used += labels
    if options["input"] is None and (asking := [part.name for part in parts if part.asked]):
        comments["input"] = (
            f"{CHECK}none: the questions of {asking[0]} can't be joined to answers in one file; a judge would not see "
            f"what was asked. Copy them to a column of {base.name}"
        )
    options["other_questions"], comments["other_questions"] = other_questions(base, used[1:])
    left_out = [f"{part.name}: not needed beside {base.name}" for part in parts if part not in used]
    read = f"{counted(len(parts), 'file')} with {sum(len(part.records) for part in parts):,} records"
    filled = {option: text for option, text in comments.items() if text}
    return Proposal(in_order(options), filled, base.found.unused, read, (*left_out, *unreadable))
