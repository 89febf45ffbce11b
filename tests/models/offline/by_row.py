"""What the kernels of the offline judge compute, row by row and word by word: slow and obvious."""

from collections.abc import Iterator, Sequence

import numpy as np

from goldmeter.models.offline import domain, feature_names
from goldmeter.models.offline.features import RowFeatures
from goldmeter.models.offline.kinds import CLAUSE, question_kind, reference_kind
from goldmeter.models.offline.lexicon import (
    CAPITAL,
    CLASSES,
    KNOWN,
    NUMBER,
    SEPARATORS,
    STOP,
)
from goldmeter.models.offline.verdict import (
    AGAINST,
    FOR,
    NOTHING_AGAINST,
    NOTHING_FOR,
    OBJECTIONS,
    POLARITY,
    SAME_MEANING,
    _quoted,
)

ENDINGS = ("ies", "ing", "es", "ed", "s", "y", "e")
FOREIGN = frozenset(domain._FOREIGN_WORDS.split())


def stem(form: str) -> str:
    if len(form) > 3 and not form.endswith("ss"):
        for ending in ENDINGS:
            if form.endswith(ending) and len(form) - len(ending) > 2:
                return form[: -len(ending)]
    return form


def reasons(
    rows: RowFeatures, references: Sequence[Sequence[str]], verdicts: Sequence[bool], kinds: Sequence[int]
) -> Iterator[str]:
    """The reason for each row's verdict: the first whose conditions hold."""
    columns = (rows.features, rows.spans, rows.references)
    for features, (begin, end), best, accepted, right, kind in zip(
        *(column.tolist() for column in columns), references, verdicts, kinds, strict=True
    ):
        sentence = OBJECTIONS[kind] if kind >= 0 else _first(features, begin, right=right)
        sentence = SAME_MEANING if right and kind == POLARITY else sentence
        match = _quoted(quoted(rows, begin, end)) if begin >= 0 else ""
        yield sentence.format(reference=_quoted(accepted[best]), match=match)


def outside(rows: RowFeatures, i: int) -> str | None:
    """Why a row lies outside the domain."""
    others, lowers, known, foreigns, stops = np.sum([_counts(rows, text) for text in rows.texts[i]], axis=0)
    sizes = [rows.stream.offsets[text + 1] - rows.stream.offsets[text] for text in rows.texts[i]]
    foreign_asked = sum(_counts(rows, text)[3] for text in rows.texts[i, :2])
    if any(
        _counts(rows, text)[0] > (1 - domain.READABLE_ALONE) * size
        for text, size in zip(rows.texts[i, 1:], sizes[1:], strict=True)
    ) or others > (1 - domain.READABLE) * max(sum(sizes), 1):
        return domain.SCRIPT
    answers = {rows.distinct[text] for text in rows.texts[i, 1:]}
    speaks_other = lowers >= domain.FEWEST_WORDS and (known < domain.ENGLISH * lowers or foreigns > stops)
    if (
        speaks_other
        or answers & {*domain._FOREIGN_ANSWERS.split()}
        or (stops == 0 and foreign_asked > 1 and sum(sizes[:2]) > domain.FEWEST_WORDS)
    ):
        return domain.LANGUAGE
    if rows.features[i, feature_names.REFERENCE_WORDS] > domain.LONGEST_REFERENCE:
        return domain.REFERENCE_LENGTH
    if sizes[1] > domain.LONGEST_RESPONSE:
        return domain.RESPONSE_LENGTH
    if (kind := question_kind(rows.distinct[rows.texts[i, 0]])) in {"why", "how", "explain", "opinion"}:
        return f'a question of kind "{kind}"'
    is_clause = reference_kind(rows.distinct[rows.texts[i, 2]]) == CLAUSE
    return 'a reference of kind "clause"' if is_clause else None


def quoted(rows: RowFeatures, begin: int, end: int) -> str:
    first, last = rows.stream.sources[begin], rows.stream.ends[end - 1]
    words = (rows.words.raw[i] for i in rows.words.ids[first:last].tolist())
    return " ".join(word for word in words if word not in SEPARATORS)


def _first(row: Sequence[float], begin: int, *, right: bool) -> str:
    for reason in FOR if right else AGAINST:
        if row[reason.feature] > reason.above and (begin >= 0 or "{match}" not in reason.sentence):
            return reason.sentence
    return (NOTHING_AGAINST if right else NOTHING_FOR).sentence


def _counts(rows: RowFeatures, text: int) -> tuple[int, int, int, int, int]:
    """Words in another script, in lower case, known English, foreign, stop words."""
    counts = [0] * 5
    for i in range(*rows.stream.offsets[text : text + 2].tolist()):
        flags, number = int(rows.stream.flags[i]), int(rows.stream.types[i])
        form = rows.words.forms[number] if number < len(rows.words.forms) else ""
        other, foreign = bool(domain._OTHER_SCRIPT.search(form)), form in FOREIGN
        lower = not flags & (CAPITAL | NUMBER) and not other
        english = lower and bool(flags & (KNOWN | CLASSES)) and not foreign
        for k, holds in enumerate((other, lower, english, foreign, bool(flags & STOP))):
            counts[k] += holds
    return tuple(counts)  # type: ignore[return-value]
