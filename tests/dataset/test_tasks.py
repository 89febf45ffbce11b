"""The task that texts show, and what params.yaml says for it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.dataset.tasks import PLANS, TASKS, Recognised, Task, Texts, classes, recognised, sections
from goldmeter.metrics.catalogue import configure
from goldmeter.text.class_names import ClassNames
from tests.small_project import settings

# Built beside this: the metric class_match, and option pick of number.


def of(*references: str, inputs: str = "Question {}?", words: str = "") -> Recognised:
    asked = [inputs.replace("{}", str(number)) for number in range(len(references))]
    return recognised(Texts(asked, [[text] for text in references], words.split()))


PASSAGE = "The council met again in room {} and talked about the bridge, the market and the mill. " * 8


@pytest.mark.parametrize(
    ("texts", "task"),
    [
        (of(*(f"Mount {n}" for n in range(30))), "qa"),
        (of(*(f"{n}" for n in range(30))), "number"),
        (of(*(f"${n},000.50" for n in range(30))), "number"),
        (of(*(f"{n} + 1 = {n + 1}\n#### {n + 1}" for n in range(30))), "number"),
        (of(*(f"So it is $\\boxed{{{n}}}$." for n in range(30))), "number"),
        (of(*["1", "2", "3"] * 30), "classification"),
        (of(*["yes", "no"] * 15), "classification"),
        (of(*["Überweisung", "top up"] * 5), "qa"),
        (of(*["A", "B", "C"] * 2, inputs="Which one {}?\nA) red\nB) blue\nC) green"), "choice"),
        (of(*["(A)", "B."] * 3, inputs="Which one {}?", words="choices"), "choice"),
        (of(*["A", "B"] * 15), "classification"),
        (of(*(f'{{"a": {n}}}' for n in range(5))), "json"),
        (of(*(f"Der Hund Nummer {n} schläft." for n in range(5)), inputs="Dog {} sleeps.", words="src ref mt"),
         "translation"),
        (of(*(f"The dog {n} sleeps." for n in range(5)), inputs="Собака номер {} спит."), "translation"),
        (of(*(f"The council of town {n} met and did nothing." for n in range(5)), inputs=PASSAGE, words="article"),
         "summary"),
        (of(*(f"room {n}" for n in range(30)), inputs=PASSAGE + "Which room?"), "qa"),
        (of(*(f"First you turn left at the mill, then walk {n} steps. " * 3 for n in range(5))), "text"),
        (of(*(f"It was said in sentence {n % 4}." for n in range(40))), "qa"),
        (of(*["Mur"] * 40), "qa"),
        (of(*["0", "1", "2", "3"] * 30, words="choices answer"), "qa"),
        (of(*["0", "1", "2", "3"] * 10, words="options"), "qa"),
        (of(*(f"{n}" for n in range(30)), words="options"), "qa"),
        (of(*["sports", "politics", "sports, politics"] * 20), "qa"),
        (of(*["sports", "politics", "Sports and politics"] * 20), "qa"),
        (of(*["sports", "politics", "arts, crafts"] * 20), "classification"),
        (of(*["Negative", "negative", "positive", "Positive.", "positive"] * 4), "classification"),
        (of("42", "17"), "qa"),
        (of(), "qa"),
    ],
)  # fmt: skip
def test_the_task_is_recognised(texts: Recognised, task: str) -> None:
    assert texts.task == task


def test_several_references_are_no_class() -> None:
    assert recognised(Texts(["Where?"] * 40, [["yes", "yeah"], ["no", "nope"]] * 20)).task == "qa"


def test_a_choice_knows_its_letters_and_a_solution_its_mark() -> None:
    letters = of("(C)", "A.", inputs="Which {}? A. x B. y C. z")

    assert sections(letters).lexical["class_match"] == {"classes": ["A", "B", "C"]}
    assert of("1 + 1 = 2\n#### 2").options == {"pick": "marker_or_last"}
    assert of("It is \\boxed{2}.").options == {"pick": "boxed_or_last"}


def test_an_index_into_choices_that_are_not_read_is_named() -> None:
    found = of(*["0", "1", "2", "3"] * 30, words="choices")

    assert found.reason.startswith("the references are an index into choices")


@pytest.mark.parametrize(
    ("references", "asked", "expected"),
    [
        (["A", "B"], "Which? A) x B) y C) z D) w", ["A", "B", "C", "D"]),
        (["a", "b"], "Which? a) x b) y c) z", ["a", "b", "c"]),
        (["A", "E"], "Which? A) x B) y C) z", ["A", "B", "C", "D", "E"]),
        (["A", "B"], "Which? A) x B) y H) z", ["A", "B"]),
        (["A", "B"], "Which?", ["A", "B"]),
        (["negative", "Negative", "Negative", "positive", "positive."], "?", ["Negative", "positive"]),
        (["not spam", "not_spam", "not_spam", ""], "?", ["not_spam"]),
    ],
)
def test_the_classes_are_those_that_class_match_tells_apart(
    references: list[str], asked: str, expected: list[str]
) -> None:
    assert classes(Texts([asked] * len(references), [[text] for text in references])) == expected


def test_the_sections_of_qa_are_the_defaults() -> None:
    bundled = settings()

    assert {**PLANS["qa"].lexical} == bundled["lexical"]
    assert {**PLANS["qa"].semantic} == bundled["semantic"]
    assert (bundled["judge"]["provider"], bundled["gate"]["primary"]) == ("offline", None)
    assert [task for task in TASKS if PLANS[task].judged] == ["qa"]


@pytest.mark.parametrize("task", TASKS)
def test_the_primary_measure_of_a_task_is_one_of_its_metrics(task: str) -> None:
    plan = PLANS[task]  # type: ignore[index]  # one of TASKS
    metrics = [
        configure(family, name, options)
        for family, section in (("lexical", plan.lexical), ("semantic", plan.semantic))
        for name, options in section.items()
    ]

    columns = {name for metric in metrics for column in metric.columns for name in (column, f"{column}.value")}
    assert plan.primary is None or plan.primary in columns


TEXT = st.text(max_size=30) | st.sampled_from(["A", "#### 1", "{}", "[{", "\\boxed{", "1", "\ud800", "①", "１２"])


@given(st.lists(st.tuples(st.none() | TEXT, st.lists(TEXT, min_size=1, max_size=3)), max_size=30))
def test_any_texts_have_a_task(rows: list[tuple[str | None, list[str]]]) -> None:
    texts = Texts([asked for asked, _ in rows], [references for _, references in rows])

    found = recognised(texts)

    assert found.task in TASKS
    assert found.reason
    assert sections(found).lexical.keys() == PLANS[found.task].lexical.keys()
    assert classes(texts) == sorted({*classes(texts)})
    ClassNames(dict.fromkeys(classes(texts), ()))


@pytest.mark.parametrize("task", ["summary", "translation", "text"])
def test_no_pass_rate_is_invented_for_long_texts(task: Task) -> None:
    plan = PLANS[task]
    both = [("lexical", plan.lexical), ("semantic", plan.semantic)]

    metrics = [configure(family, name, options) for family, of in both for name, options in of.items()]

    assert [metric.name for metric in metrics if metric.has_pass_rate] == []
