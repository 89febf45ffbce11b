"""Tasks: what answers are asked for, how that shows in the texts, and the metrics and the measure that fit it."""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from itertools import takewhile
from statistics import median
from string import ascii_lowercase
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from goldmeter.text.class_names import key

Task: TypeAlias = Literal["qa", "choice", "classification", "number", "json", "summary", "translation", "text"]
TASKS: tuple[Task, ...] = get_args(Task)
Options: TypeAlias = Mapping[str, Mapping[str, Any]]


class Plan(NamedTuple):
    """What params.yaml says for a task.

    lexical: The section of that name, semantic too.
    primary: `gate.primary`, unless human labels decide; none: the judge's verdict.
    judged: Whether the offline judge was measured on such answers.
    """

    lexical: Options
    semantic: Options
    primary: str | None
    judged: bool = False


_HALF: Mapping[str, Any] = {"threshold": 0.5}
_NONE: Mapping[str, Any] = {}
# Long texts have no threshold that anybody chose.
# As goldmeter.metrics.base.NO_PASS_RATE; the stage load imports no metric.
_NO_RATE: Mapping[str, Any] = {"threshold": "none"}
_SIMILARITY: Options = {"semantic_similarity": _NO_RATE}
# Of qa, the sections of the bundled params.yaml.
PLANS: Mapping[Task, Plan] = {
    "qa": Plan(
        {
            **dict.fromkeys(("exact_match", "accuracy", "string_presence", "string_presence_normalized"), _NONE),
            **dict.fromkeys(("f1", "bleu", "gleu", "rouge", "meteor", "non_llm_string_similarity"), _HALF),
        },
        {
            "semantic_similarity": {"threshold": 0.7},
            "similarity": {"threshold": 3.0},
            "reference_match": {"threshold": 0.7},
            "semantic_list_contains": {},
        },
        None,
        judged=True,
    ),
    "choice": Plan({"class_match": {}, "exact_match": {}}, {}, "class_match"),
    "classification": Plan({"class_match": {}, "exact_match": {}, "accuracy": {}}, {}, "class_match"),
    "number": Plan({"number": {}, "exact_match": {}}, {}, "number"),
    "json": Plan({"json_fields": {}, "exact_match": {}}, {}, "json_fields_f1_score"),
    "summary": Plan(
        {
            "rouge_1": {"metric": "rouge", "n": 1},
            "rouge_2": {"metric": "rouge", "n": 2},
            "rouge": _NONE,
            "rouge_lsum": {"metric": "rouge", "n": "Lsum"},
            **dict.fromkeys(("chrf", "extractive", "length_ratio"), _NONE),
        },
        _SIMILARITY,
        "rouge_f1_score",
    ),
    "translation": Plan(dict.fromkeys(("chrf", "bleu", "ter", "length_ratio"), _NONE), _SIMILARITY, "chrf"),
    "text": Plan({**dict.fromkeys(("rouge", "chrf", "meteor"), _NONE), "f1": _NO_RATE}, _SIMILARITY, "rouge_f1_score"),
}


class Texts(NamedTuple):
    """What is asked, of each question.

    inputs: None where there is none.
    references: At least one each.
    words: Of the names of the columns that hold them, of the answers, and of columns without a role.
    """

    inputs: Sequence[str | None]
    references: Sequence[Sequence[str]]
    words: Collection[str] = ()

    @property
    def accepted(self) -> list[str]:
        """All references."""
        return [text.strip() for each in self.references for text in each]

    @property
    def asked(self) -> list[str]:
        """The inputs that are there."""
        return [text for text in self.inputs if text]


class Recognised(NamedTuple):
    """A task, why it is this one, and options of its primary metric."""

    task: Task
    reason: str
    options: Mapping[str, Any]


# Share of the references that must be of a kind.
MOST = 0.95
# Questions from which numbers or classes are a task; questions per class, and per class that is a number; most classes.
FEWEST_QUESTIONS, PER_CLASS, PER_NUMBER, MOST_CLASSES = 20, 5, 20, 100
# Characters of a class and of a short answer, most words of an answer, and fewest of a summary.
LONGEST_CLASS, LONGEST_ANSWER, WORDS, FEWEST_WORDS = 60, 80, 12, 8
# Times that an input is longer than its summary, and characters of the input; lengths of a translation to its source.
TIMES, LONG_INPUT, LIKE = 3.0, 300, (0.2, 4.0)
_LETTER = re.compile(r"\(?([A-Za-z])[).:]?")
_LISTED = re.compile(r"(?:^|[\s(])([A-Ha-h])[).:]\s*\S", re.MULTILINE)
_INDEX, _LISTS = re.compile(r"\d{1,2}"), re.compile(r"\s*(?:[,;|/+&]|(?<!\S)and(?!\S))\s*")
_NUMBER = re.compile(r"[^\w\s]?[-+−]?\d[\d.,\s]*(?:/\d+|e[-+]?\d+)?\s?(?:%|[^\W\d]{1,5})?\.?", re.IGNORECASE)
_MARKED, _BOXED = re.compile(r"####\s*[-$]?\d[^\n]*\Z"), re.compile(r"\\boxed\b")
_SENTENCE = re.compile(r"\s.*\s.*[.!?]\Z", re.DOTALL)
_CHOICES = frozenset({"choices", "options"})
_OF_TRANSLATION = frozenset({"src", "mt", "translation", "translations", "translated", "hyp", "hyps", "source"})
_OF_SUMMARY = frozenset({"summary", "summaries", "highlights", "article", "document", "transcript"})


def recognised(texts: Texts) -> Recognised:
    """The task that fits the texts.

    >>> recognised(Texts(["Which river flows through Graz?"] * 3, [["Mur"]] * 3)).task
    'qa'
    """
    rules = (_json, _worked, _translation, _choice, _classes, _number, _summary)
    found = next(filter(None, (rule(texts) for rule in rules)), None) if texts.accepted else None
    if found is not None:
        return found
    lengths = [len(text) for text in texts.accepted] or [0]
    if median(lengths) <= LONGEST_ANSWER and median(_words(texts.accepted)) <= WORDS:
        return Recognised("qa", "the references are short answers", {})
    return Recognised("text", f"the references are texts of {median(lengths):,.0f} characters", {})


def sections(found: Recognised) -> Plan:
    """The plan of the task, with the options of its primary metric."""
    plan = PLANS[found.task]
    if not found.options or plan.primary is None:
        return plan
    name = plan.primary.partition(".")[0]
    return plan._replace(lexical={**plan.lexical, name: {**plan.lexical[name], **found.options}})


def classes(texts: Texts) -> list[str]:
    """The distinct references, sorted, as class_match tells them apart, each as it is written most often.

    Of letters of listed options, all from A to the last that an input lists.
    """
    written = Counter(_LETTER.sub(r"\1", text) if _LETTER.fullmatch(text) else text for text in texts.accepted)
    named = {
        key(text): text
        for text, _ in sorted(written.items(), key=lambda item: (item[1], -len(item[0]), item[0]))
        if key(text)
    }
    if _are_options(texts):
        letters = sorted(name for name in named if name in {*ascii_lowercase})
        last = max([*letters[-1:], *map(_last_listed, texts.asked)])
        cased = str.lower if named[letters[0]].islower() else str.upper
        named = {letter: cased(letter) for letter in ascii_lowercase[: ascii_lowercase.index(last) + 1]} | named
    return sorted(named.values())


def _are_options(texts: Texts) -> bool:
    """Whether the references are letters, and the inputs or a column list the options."""
    if _share(texts.accepted, _LETTER.fullmatch) < MOST:
        return False
    return bool(_CHOICES & {*texts.words}) or _share(texts.asked, _last_listed) >= MOST


def _last_listed(text: str) -> str:
    """The last letter of options that a text lists, in lower case: A) … B) … C) …; empty if it lists fewer than two."""
    listed = {letter.lower() for letter in _LISTED.findall(text)}
    last = "".join(takewhile(listed.__contains__, ascii_lowercase))[-1:]
    return last if last > "a" else ""


def _json(texts: Texts) -> Recognised | None:
    if _share(texts.accepted, _is_object) < MOST:
        return None
    return Recognised("json", "the references are JSON objects", {})


def _is_object(text: str) -> bool:
    with suppress(ValueError, RecursionError):
        return text.startswith(("{", "[{")) and isinstance(json.loads(text), dict | list)
    return False


def _worked(texts: Texts) -> Recognised | None:
    for pattern, pick, sign in ((_MARKED, "marker_or_last", "####"), (_BOXED, "boxed_or_last", r"\boxed")):
        if _share(texts.accepted, pattern.search) >= MOST:
            return Recognised("number", f"the references are solutions whose number follows {sign}", {"pick": pick})
    return None


def _translation(texts: Texts) -> Recognised | None:
    asked, accepted = median(map(len, texts.asked or [""])), median(map(len, texts.accepted))
    is_like = not asked or LIKE[0] * asked <= accepted <= LIKE[1] * asked
    named = sorted(_OF_TRANSLATION & {*texts.words})
    if is_like and (len(named) > 1 or (named and "ref" in texts.words)):
        return Recognised("translation", f"columns or files are named {', '.join(named)}", {})
    scripts = _script(texts.asked), _script(texts.accepted)
    if is_like and all(scripts) and scripts[0] != scripts[1] and median(_words(texts.asked)) > 1:
        return Recognised("translation", f"inputs are in {scripts[0]} and references in {scripts[1]} letters", {})
    return None


def _choice(texts: Texts) -> Recognised | None:
    if _are_options(texts):
        found = classes(texts)
        reason = "the references are letters of listed options"
        return Recognised("choice", reason, {"classes": found}) if len(found) <= MOST_CLASSES else None
    named = sorted(_CHOICES & {*texts.words})
    if named and _share(texts.accepted, _INDEX.fullmatch) >= MOST:
        reason = f"the references are an index into {named[0]}: for task choice, give the letter or text of the option"
        return Recognised("qa", reason, {})
    return None


def _classes(texts: Texts) -> Recognised | None:
    if len(texts.references) < FEWEST_QUESTIONS or any(len(each) > 1 for each in texts.references):
        return None
    found = classes(texts)
    per = PER_NUMBER if _share(found, _NUMBER.fullmatch) >= MOST else PER_CLASS
    if not 1 < len(found) <= min(MOST_CLASSES, len(texts.references) / per):
        return None
    if any(len(name) > LONGEST_CLASS or _SENTENCE.search(name) for name in found) or _are_lists(found):
        return None
    reason = f"{len(texts.references):,} questions have {len(found)} distinct references, each short"
    return Recognised("classification", reason, {"classes": found})


def _are_lists(found: Sequence[str]) -> bool:
    """Whether some classes are lists of others: "sports, politics"."""
    names = {*map(key, found)}
    parts = ([key(part) for part in _LISTS.split(name)] for name in found)
    return any(len(each) > 1 and names.issuperset(each) for each in parts)


def _number(texts: Texts) -> Recognised | None:
    is_few = len(texts.references) < FEWEST_QUESTIONS or _CHOICES & {*texts.words}
    if is_few or _share(texts.accepted, _NUMBER.fullmatch) < MOST:
        return None
    return Recognised("number", "the references are numbers", {})


def _summary(texts: Texts) -> Recognised | None:
    if not texts.asked or median(_words(texts.accepted)) < FEWEST_WORDS:
        return None
    asked, accepted = median(map(len, texts.asked)), median(map(len, texts.accepted))
    named = _OF_SUMMARY & {*texts.words}
    if asked < (TIMES if named else 2 * TIMES) * accepted or asked < LONG_INPUT:
        return None
    return Recognised("summary", f"inputs have {asked:,.0f} characters and references {accepted:,.0f}", {})


def _share(texts: Sequence[str], is_so: Any) -> float:
    return sum(map(bool, map(is_so, texts))) / len(texts) if texts else 0.0


def _words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts] or [0]


def _script(texts: Sequence[str]) -> str:
    """The script of most letters, such as Latin; empty without letters. Source: the first word of a Unicode name."""
    letters = (character for text in texts[:200] for character in text[:200] if character.isalpha())
    counts = Counter(unicodedata.name(letter, "").partition(" ")[0] for letter in letters)
    return counts.most_common(1)[0][0].title() if counts else ""
