"""Names of columns: their words, the role that they suggest, and the name of the system in them."""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

_SEPARATOR = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")
_EDGES = " _-.:/|()[]"
_UNFIT = re.compile(r"_*[^\w.+:/@-]+_*")
LONGEST_NAME = 60
# Name of the only system, if its column names none.
UNNAMED = "model"

INPUT = (
    "question", "questions", "query", "user input", "user message", "user query", "input", "inputs", "prompt",
    "instruction", "problem", "request", "utterance", "text", "sentence",
)  # fmt: skip
REFERENCES = (
    "references", "reference", "golden answers", "golden answer", "gold answers", "gold answer", "golden", "gold",
    "ground truths", "ground truth", "groundtruth", "correct answers", "correct answer", "accepted answers",
    "acceptable answers", "expected answers", "expected answer", "expected output", "expected", "ideal", "targets",
    "target", "human translation", "human summary", "highlights", "refs", "ref",
    "best answer", "true answer", "solution", "answer key", "gt",
)  # fmt: skip
# Words of lists of right answers: answer_aliases.
ALIASES = frozenset({"aliases", "alias", "alternatives", "synonyms"})
# What is translated or summarised, where no column is named like an input.
SOURCES = (
    "source text", "source sentence", "source segment", "source", "src", "article", "document", "dialogue", "dialog",
    "transcript", "passage",
)  # fmt: skip
ANSWERS = ("answers", "answer", "summaries", "summary", "translations", "translation")
RESPONSES = (
    "response", "responses", "prediction", "predictions", "predicted", "pred", "output", "outputs", "completion",
    "generation", "generated", "hypothesis", "actual", "reply", "resps", "resp", "completions", "generations",
    "hypotheses", "hyps", "hyp", "translated", "mt",
)  # fmt: skip
LABEL_WORDS = frozenset({
    "judge", "judged", "judgment", "judgement", "correct", "label", "labels", "verdict", "human", "right", "acceptable",
    "accepted", "labelled", "labeled", "grade", "graded", "annotation", "annotated", "eval", "evaluation", "ok", "pass",
    "passed",
})  # fmt: skip
# Words of labels for which true means wrong.
TRUE_IS_WRONG = frozenset({"hallucination", "hallucinated", "hallucinates", "hallucinations", "incorrect", "wrong"})
RATERS = frozenset({"annotator", "annotators", "rater", "raters", "labeler", "labeller", "reviewer", "reviewers"})
# Words of labels that may be verdicts of a model.
MODEL_VERDICTS = frozenset({
    "judge", "judged", "judgment", "judgement", "eval", "evaluation", "grade", "graded", "pass", "passed", "predicted",
    "prediction", "pred", "auto", "automatic", "estimated", "llm", "model", "grader", "machine",
})  # fmt: skip
HUMAN_VERDICTS = frozenset({
    "human", "humans", "people", "annotator", "annotated", "annotation", "annotations", "expert", "manual",
})  # fmt: skip
HUMANS = frozenset({"human", "humans", "people"})
MACHINES = frozenset({"ai", "bot", "pseudo", "weak", "silver"})
# Words of labels that people gave, unless a word says that a model did.
LABELS = frozenset({"label", "labels", "labelled", "labeled", "gold", "golden"})
# Words of columns that judge answers, of people or not; with those of labels none is a slice.
JUDGING = frozenset({
    "correctness", "match", "matches", "matched", "hit", "rating", "rated", "thumbs", "faithful", "faithfulness",
    "supported", "grounded", "groundedness", "assessment", "verdicts",
})  # fmt: skip
# Words of labels for which true means right.
TRUE_IS_RIGHT = frozenset({"correct", "right", "acceptable", "accepted", "ok"})
IDS = ("id", "uid", "uuid", "guid", "qid", "key", "example id", "question id", "sample id", "record id", "index", "idx")
GROUPS = (
    "conversation", "thread", "dialogue", "dialog", "session", "chat", "document", "doc", "article", "passage",
    "paragraph", "story", "context", "title", "ticket", "patient", "customer", "user", "group", "cluster",
)  # fmt: skip
SLICES = frozenset({
    "topic", "category", "language", "lang", "locale", "type", "kind", "source", "difficulty", "level", "subject",
    "domain", "split", "intent", "region", "task", "dataset", "tag",
})  # fmt: skip
# Words of scores from elsewhere.
SCORES = frozenset({
    "score", "scores", "recall", "precision", "relevancy", "relevance", "similarity", "bleu", "rouge", "accuracy", "f1",
    "em", "perplexity", "bertscore",
})  # fmt: skip
EXCLUDED = frozenset({
    "improper", "invalid", "skip", "skipped", "bad", "exclude", "excluded", "ignore", "ignored", "deleted", "flagged",
    "duplicate", "unusable", "broken",
})  # fmt: skip
PHRASES = frozenset({"phrase", "phrases", "keyword", "keywords", "must", "points"})
CRITERIA = frozenset({"criteria", "rubric", "rubrics"})
# Words of a column that numbers repeated answers to a question.
DRAWS = frozenset({
    "draw", "epoch", "repeat", "repetition", "trial", "attempt", "sample", "iteration", "seed", "run", "try",
    "replicate", "rollout",
})  # fmt: skip
# Words of columns beside the name of the system: system_prompt, model_output.
_NO_SYSTEM = frozenset({
    "prompt", "prompts", "message", "answer", "answers", "response", "responses", "output", "outputs", "prediction",
    "reply", "score", "verdict", "label", "judgment", "temperature", "config", "args", "date", "hash",
})  # fmt: skip
RETRIEVED = frozenset({"retrieved", "retrieval"})
CONTEXTS = RETRIEVED | {
    "contexts", "context", "passages", "passage", "documents", "document", "docs", "chunks", "ctxs", "ctx",
}  # fmt: skip
# Words of what should have been retrieved; the second ones only beside a word of contexts.
RELEVANT = frozenset({"relevant", "qrels", "supporting", "positives"})
EXPECTED = frozenset({"gold", "golden", "reference", "expected", "true", "correct", "ideal", "positive", "target"})
# Names of a column that names the system of a record.
SYSTEMS = frozenset({"model", "system", "candidate", "engine", "llm", "assistant", "version", "run"})
_FAMILIES = re.compile(
    r"(?:chat)?gpt|claude|llama|gemini|gemma|mistral|mixtral|qwen|deepseek|phi\d|falcon|bard|baseline|bot|agent|v\d|"
    r"model|system|candidate|llm|assistant"
)
FILLERS = frozenset(
    {"filtered", "resps", "resp", "the", "is", "was", "by", "text", "string", "str", "value", "final", "full", "raw"}
)
CHOICES = frozenset({"choice", "choices", "option", "options", "endings"})
# Words of names of attributes: question_type is not a question.
ABOUT = frozenset({
    "id", "ids", "uid", "uuid", "idx", "index", "type", "kind", "category", "source", "url", "link", "score", "scores",
    "length", "len", "count", "num", "token", "tokens", "time", "date", "latency", "cost", "context", "contexts",
    "retrieved", "passage", "document", "documents", "doc", "reason", "reasoning", "explanation", "rationale",
    "embedding", "vector", "name", "start", "end", "incorrect", "wrong", "false", "bad", "worst", "negative",
    "distractor", "distractors", "choices", "options",
    "language", "lang", "topic", "relevancy", "relevance", "correctness", "similarity", "faithfulness", "quality",
    "confidence", "probability", "prob", "logprob", "logprobs", "loss", "rating", "rank", "error", "bleu", "rouge",
    "accuracy", "precision", "recall", "status", "hash", "template", "system", "version", "metadata",
})  # fmt: skip
_ALL_INPUT = frozenset(word for phrase in INPUT for word in phrase.split()) - {"text", "user"}
_ROLES = frozenset(
    word for phrases in (REFERENCES, ANSWERS, RESPONSES) for phrase in phrases for word in phrase.split()
)
_NUMBERED = _ROLES | _ALL_INPUT
_OF_GROUPS = frozenset({"id", "ids", "uuid", "name", "key", "number", "no", "idx", "index"})


class Fit(NamedTuple):
    """How well a name fits a role, smaller is better: the index of the phrase in it, and the number of other words."""

    phrase: int
    others: int


def words(name: str) -> list[str]:
    """The words of a name, in lower case.

    >>> words("Best Answer"), words("goldenAnswer"), words("answer2"), words("gpt4_response")
    (['best', 'answer'], ['golden', 'answer'], ['answer', '2'], ['gpt4', 'response'])
    """
    return [word for piece in _SEPARATOR.split(name) if piece for word in _numbered(piece.casefold())]


def as_input(name: str) -> Fit | None:
    """How well the name fits an input; None if it does not."""
    return _fit(name, INPUT, barred=ABOUT | _ROLES)


def as_source(name: str) -> Fit | None:
    """How well the name fits a text to translate or to summarise; None if it does not.

    >>> as_source("src") is None, as_source("source_url") is None
    (False, True)
    """
    return _fit(name, SOURCES, barred=(ABOUT - {"source", "document", "passage"}) | _ROLES)


def as_references(name: str) -> Fit | None:
    """How well the name fits references; None if it does not."""
    return _fit(name, REFERENCES, barred=ABOUT | _ALL_INPUT | {"judge", "verdict", "human"})


def as_answers(name: str) -> Fit | None:
    """How well the name fits answers, either references or responses; None if it does not."""
    return None if as_references(name) else _fit(name, ANSWERS, barred=ABOUT | _ALL_INPUT)


def as_response(name: str) -> Fit | None:
    """How well the name fits responses; None if it does not."""
    return None if as_references(name) else _fit(name, RESPONSES, barred=(ABOUT - {"system"}) | _ALL_INPUT)


def as_id(name: str) -> Fit | None:
    """How well the name fits an id; None for the id of a group, such as thread_id."""
    if as_group(name):
        return None
    return _fit(name, IDS, barred=frozenset())


def as_group(name: str) -> Fit | None:
    """How well the name fits a group of records; None if it does not."""
    fit = _fit(name, GROUPS, barred=frozenset())
    return fit if fit and set(words(name)) - {GROUPS[fit.phrase]} <= _OF_GROUPS else None


def as_system(name: str) -> Fit | None:
    """How well the name fits a column that names the system of a record; None if it does not."""
    each = words(name)
    return Fit(0, len(each) - 1) if SYSTEMS & set(each) and not _NO_SYSTEM & set(each) else None


def is_systems(name: str) -> bool:
    """Whether the name is that of a list of systems, such as models.

    >>> is_systems("systems"), is_systems("documents")
    (True, False)
    """
    return bool({f"{word}s" for word in SYSTEMS} & set(words(name)))


def is_attribute(name: str) -> bool:
    """Whether the name is that of an attribute of an answer, such as its role or its length."""
    return bool((ABOUT | SYSTEMS | {"role", "finish", "object", "created"}) & set(words(name)))


def names_a_system(name: str) -> bool:
    """Whether a word of the name stands for a system, such as gpt4, model or v2, and none for an attribute."""
    each = words(name)
    return any(map(_FAMILIES.match, each)) and not set(each) & (ABOUT - {"system", "version"})


def key_of_label(name: str) -> str | None:
    """The part of a label's name that names the system, in the form of `key`; None if the name is no label's.

    >>> key_of_label("judge_gpt4"), key_of_label("gpt-4 is correct"), key_of_label("label"), key_of_label("topic")
    ('gpt4', 'gpt4', '', None)
    """
    each, of_labels = words(name), LABEL_WORDS | TRUE_IS_WRONG
    system = [word for word in each if word not in of_labels | FILLERS | LABELS | HUMAN_VERDICTS]
    return "".join(system) if of_labels & set(each) else None


def is_contexts(name: str) -> bool:
    """Whether the name is that of what a system retrieved.

    >>> is_contexts("retrieved_contexts"), is_contexts("gold_docs"), is_contexts("context_score")
    (True, False, False)
    """
    each = set(words(name))
    about = ABOUT - CONTEXTS - {"id", "ids"}
    return bool(each & CONTEXTS) and not is_relevant(name) and not each & about


def is_relevant(name: str) -> bool:
    """Whether the name is that of what a system should have retrieved.

    >>> is_relevant("relevant_ids"), is_relevant("reference_contexts"), is_relevant("gold")
    (True, True, False)
    """
    each = set(words(name))
    return bool(each & RELEVANT) or bool(each & EXPECTED and each & CONTEXTS)


def is_verdict(name: str) -> bool:
    """Return whether a column of this name holds verdicts on answers, not kinds of questions.

    >>> is_verdict("correctness"), is_verdict("human"), is_verdict("match_type"), is_verdict("topic")
    (True, True, False, False)
    """
    each = set(words(name))
    return bool(each & (JUDGING | LABEL_WORDS | TRUE_IS_WRONG)) and not each & SLICES


def is_inverted(name: str) -> bool:
    """Whether a label of this name says what is wrong, such as is_hallucination."""
    return bool(TRUE_IS_WRONG & set(words(name))) and not TRUE_IS_RIGHT & set(words(name))


def is_raters(name: str) -> bool:
    """Whether the column holds what one of several raters said, such as annotator2."""
    return bool(RATERS & {word.rstrip("0123456789") for word in words(name)})


def whose_verdict(name: str) -> int:
    """Rank of a label by its name: 0 human, 1 unknown, 2 of a model.

    >>> whose_verdict("human_correct"), whose_verdict("correct"), whose_verdict("predicted_correct")
    (0, 1, 2)
    """
    each = set(words(name))
    return 0 if each & HUMAN_VERDICTS else 2 if each & MODEL_VERDICTS else 1


def is_peoples(name: str) -> bool:
    """Whether the name says that people gave the verdicts: only then a column of verdicts is one of human labels.

    >>> is_peoples("human_judge"), is_peoples("gold_label"), is_peoples("gpt4_label"), is_peoples("status")
    (True, True, False, False)
    """
    listed = [word.rstrip("0123456789") for word in words(name)]
    each = set(listed)
    if HUMANS & each:
        return ("human", "eval") not in pairwise(listed)  # HumanEval is a benchmark
    by_machine = each & (MODEL_VERDICTS | MACHINES) or any(map(_FAMILIES.match, each))
    return bool(each & (HUMAN_VERDICTS | RATERS | LABELS)) and not by_machine


def without_system(name: str, system: str) -> str:
    """The words of a column's name that are none of the system's; the whole name if all are.

    >>> without_system("judge_gpt4", "gpt4"), without_system("is_correct", "")
    ('judge', 'is correct')
    """
    return " ".join(word for word in words(name) if word not in words(system)) or name


def key(name: str) -> str:
    """A name without its case and separators.

    >>> key("GPT-4"), key("gpt_4")
    ('gpt4', 'gpt4')
    """
    return "".join(words(name))


def candidate_names(columns: Sequence[str]) -> list[str]:
    """Names for the systems with answers in these columns: the parts of the names that differ.

    >>> candidate_names(["answer_fid", "answer_gpt4"]), candidate_names(["gpt-4 response"]), candidate_names(["output"])
    (['fid', 'gpt4'], ['gpt-4'], ['model'])
    """
    pieces = [_of_system(name) for name in columns]
    if pieces == [[]]:
        return [UNNAMED]
    for kept in (_without_shared(pieces), pieces):
        found = list(map(_joined, kept))
        if all(any(map(str.isalpha, name)) for name in found) and len(set(map(key, found))) == len(found):
            return found
    return _once_each([_fit_name(name) for name in columns])


def file_names(stems: Sequence[str]) -> list[str]:
    """Names for the systems whose answers are in files of these names: the parts that differ.

    >>> file_names(["gpt4_answers", "FiD_answers"]), file_names(["NQ_FiD", "NQ2_FiD-KD"]), file_names(["answers"])
    (['gpt4', 'FiD'], ['NQ_FiD', 'NQ2_FiD-KD'], ['answers'])
    """
    pieces = [re.split(r"(?<=[_.\- ])|(?=[_.\- ])", stem) for stem in stems]
    for place in (0, -1):
        while len(pieces) > 1 and all(len(own) > 1 for own in pieces) and len({own[place] for own in pieces}) == 1:
            pieces = [own[1:] if place == 0 else own[:-1] for own in pieces]
    return _once_each([_fit_name("".join(own)) for own in pieces])


def _fit(name: str, phrases: Iterable[str], barred: frozenset[str]) -> Fit | None:
    each = words(name)
    for number, phrase in enumerate(phrases):
        wanted = phrase.split()
        for start in range(len(each) - len(wanted) + 1):
            others = each[:start] + each[start + len(wanted) :]
            if each[start : start + len(wanted)] == wanted and not barred & (set(others) - set(wanted)):
                return Fit(number, len(set(others) - _ROLES - FILLERS))
    return None


def _numbered(word: str) -> list[str]:
    """answer2 → answer, 2, but gpt4 stays."""
    stem = word.rstrip("0123456789")
    return [stem, word[len(stem) :]] if stem != word and stem in _NUMBERED else [word]


def _of_system(name: str) -> list[tuple[str, str]]:
    """The pieces of a name that may name a system, each with the separator before it.

    A word joined to the next one more closely than to the word before belongs to it: "answer_text-davinci".
    """
    found, before, end = [], "", 0
    for match in [*_SEPARATOR.finditer(name), None]:
        piece = name[end : match.start() if match else None]
        is_joined = match is not None and match[0] == "-" and before not in {"", "-"}
        for number, word in enumerate(_numbered(piece.casefold())):
            if word and (is_joined or word not in _ROLES | FILLERS):
                found.append(("" if number else before, piece[-len(word) :]))
        before, end = (match[0], match.end()) if match else ("", end)
    return found


def _without_shared(names: Sequence[list[tuple[str, str]]]) -> list[list[tuple[str, str]]]:
    """The pieces without a common prefix or suffix of all names."""
    kept = [list(pieces) for pieces in names]
    for place in (0, -1):
        while len(kept) > 1 and all(len(p) > 1 for p in kept) and len({p[place][1].casefold() for p in kept}) == 1:
            for pieces in kept:
                pieces.pop(place)
    return kept


def _joined(pieces: Sequence[tuple[str, str]]) -> str:
    text = "".join((before if number else "") + piece for number, (before, piece) in enumerate(pieces))
    return _fit_name(text) if text else ""


def _fit_name(text: str) -> str:
    """The text with letters, digits and . + - _ / : @ only; never empty."""
    return _UNFIT.sub("_", text).strip(_EDGES)[:LONGEST_NAME] or UNNAMED


def _once_each(names: Sequence[str]) -> list[str]:
    found: list[str] = []
    for name in names:
        number, unique = 1, name
        while unique in found:
            number += 1
            unique = f"{name}_{number}"
        found.append(unique)
    return found
