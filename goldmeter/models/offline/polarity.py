"""Yes or no: what a response says to a question whose only reference is one of both."""

import re
from collections.abc import Sequence

_STRESS = re.compile(
    r"\b(?:no (?:doubt|question|wonder|problem|secret)|without (?:doubt|question)|(?:not|no) (?:only|just|other)\b)"
)
_YES_LIST = (
    "yes yeah yep yup ja oui si sí sim да tak ano correct right true indeed absolutely affirmative certainly sure "
    "definitely exactly"
)
_YES = frozenset(_YES_LIST.split())
_NO_LIST = (
    "no nope nah nein non não нет nie ne negative false incorrect wrong untrue never neither not cannot isn't "
    "wasn't aren't weren't don't doesn't didn't can't couldn't won't wouldn't hardly"
)
_NO = frozenset(_NO_LIST.split())
_AFFIRMS = re.compile(
    r"^(?:it|they|he|she|that|this|there|you)"
    r"(?:'s| (?:certainly |really |indeed )?(?:is|was|are|were|does|did|do|has|had|can|could|will))\b"
)
_OPEN = re.compile(r"\b(?:yes and no|maybe|perhaps|possibly|depends|not sure|don't know|i (?:think|guess|believe))\b")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
# Words at the begin of a response that say yes or no.
_OPENING = 6


def polarity_of(references: Sequence[str]) -> int:
    """Return 1 if all references are "yes", -1 if all are "no", 0 for others."""
    bare = {reference.strip(" .!").casefold() for reference in references}
    return 1 if bare <= {"yes", "true"} else -1 if bare <= {"no", "false"} else 0


def says(response: str) -> int:
    """Return 1 for a response that opens with a yes, -1 with a no, 0 if it leaves that open.

    >>> says("No doubt, yes."), says("It is not."), says("Yes and no."), says("That is Paris.")
    (1, -1, 0, 1)
    """
    text = _STRESS.sub(" ", response.casefold().replace("’", "'"))
    if _OPEN.search(text):
        return 0
    opening = _WORD.findall(re.split(r"[.;\n]", text.strip(), maxsplit=1)[0])[:_OPENING]
    for i, word in enumerate(opening):
        if word in _NO:
            return -1
        if word in _YES:
            return -1 if _NO & {*opening[i + 1 : i + 4]} and opening[i + 1] in {"not", "it", "that"} else 1
    return 1 if _AFFIRMS.match(text.strip()) else 0
