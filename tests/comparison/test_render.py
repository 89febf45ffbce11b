"""A comparison on a terminal and in Markdown: whole, and harmless whatever its texts hold."""

import io
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from goldmeter.comparison.of_versions import CompareOptions, compare_versions
from goldmeter.comparison.render import to_markdown, to_terminal
from goldmeter.console.format import about
from goldmeter.wording import comparison_lines
from goldmeter.wording.verdicts import Decision
from tests.comparison.sample import GATE, Row, answers, gate, gate_on, row, version

HOSTILE = [
    "[red]red[/red] [link=https://evil.example]x[/link] [/]",
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "a | b | c\n| d |\n\n# head\n</details>",
    "[click](https://evil.example) ![x](https://evil.example/x.png) www.evil.example",
    "`code` **bold** ~~gone~~ \\ @everyone #1 GH#2 owner/repo#3",
    "\x1b[31mred\x1b]8;;https://evil.example\x07 \x00 \r \u202egnp.exe",
    "x" * 100_000,
]


def terminal(document: Any, width: int = 120, *, every: bool = True) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    to_terminal(document, console, every=every)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def document(tmp_path: Path, older: list[Row], newer: list[Row], **options: Any) -> Any:
    request = options.pop("request", CompareOptions())
    return compare_versions(version(tmp_path / "a", older), version(tmp_path / "b", newer), gate(**options), request)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Everything that others write is hostile: texts, candidates, slices, ids, a version's name."""
    folder = tmp_path_factory.mktemp("hostile")
    names = {"candidate": "[red]\x1b[31m<b>|@x", "topic": "[/]|\x1b[31m<i>"}
    topics = [names["topic"]] * 19 + ["other"]
    older = [row(n, "right", **names | {"topic": topic}) for n, topic in enumerate(topics)]
    newer = [row(n, HOSTILE[n % len(HOSTILE)], **names | {"topic": topic}) for n, topic in enumerate(topics)]
    lonely = [row(1, "x", "[link=https://evil.example]only\x1b[31m")]
    base = version(folder / "a [red]|<b>@x", older)
    return compare_versions(base, version(folder / "b", newer + lonely), GATE)


def test_the_terminal_shows_all_there_is(tmp_path: Path) -> None:
    shown = terminal(document(tmp_path, answers("+" * 60), answers("+" * 35 + "." * 25)))

    assert "aurora: a → b" in shown
    assert "60 shared rows" in shown
    assert re.search(r"f1 \(primary\) +100 % +58\.3 % +−41\.7 \[−\d+\.\d, −\d+\.\d\] +worse +60", shown)
    assert "25 rows changed result by some measure; lost: f1 25, exact_match 25, bleu 25" in shown
    assert shown.count("something else") == 5
    assert shown.splitlines()[:3] == [
        f"{Decision.DO_NOT_SHIP.capitalize()}: worse by f1, −41.7 points [−54.4, −27.3], and by 2 other measures.",
        "· Significant loss (f1: −41.7 points, 95 % CI −54.4 to −27.3, 60 rows).",
        "· Guard exact_match: Significant loss (exact_match: −41.7 points, 95 % CI −54.4 to −27.3, 60 rows).",
    ]


def test_one_row_is_no_rows(tmp_path: Path) -> None:
    shown = terminal(document(tmp_path, answers("+"), answers(".")))

    assert "\n1 shared row\n" in shown
    assert "1 row changed result" in shown


def test_what_did_not_change_takes_one_line(tmp_path: Path) -> None:
    found = document(tmp_path, answers("++."), answers("++."))

    assert "all 3 measures unchanged on every row" in terminal(found)
    assert "- all 3 measures unchanged on every row" in to_markdown(found)
    assert "| f1 |" not in to_markdown(found)


def test_a_terminal_of_80_columns_shows_every_name_and_number(tmp_path: Path) -> None:
    found = document(tmp_path, answers("+." * 100), answers(".+" * 4 + "+." * 96))
    shown, measure = terminal(found, 80).splitlines(), found["pairs"][0]["measures"]["exact_match"]

    row = next(number for number, line in enumerate(shown) if line.split()[:1] == ["exact_match"])
    cells = " ".join(shown[row : row + 3]).split()
    assert max(map(len, shown)) <= 80
    wanted = [word for cell in comparison_lines.measure_cells("exact_match", measure) for word in cell.split()]
    assert {*wanted} <= {*cells}
    assert about(measure["needed"]["high"]) in wanted


@pytest.mark.parametrize("write", [terminal, to_markdown])
def test_it_says_what_a_name_stands_for(tmp_path: Path, write: Any) -> None:
    shown = write(document(tmp_path, answers("+" * 60), answers("+" * 35 + "." * 25)))

    assert " ".join(shown.split()).count("a name stands for its pass rate, .value for the score") == 1


VALUES = st.one_of(st.floats(-1e6, 1e6), st.sampled_from([0.0, 1.0, -1.23456e-5, 0.787]))
COUNTS = st.integers(1, 10_000_000)
MEASURES = st.fixed_dictionaries(
    {
        "base": VALUES,
        "head": VALUES,
        "difference": st.fixed_dictionaries(
            {"value": VALUES, "low": VALUES, "high": VALUES, "method": st.just("bootstrap")}
        ),
        "verdict": st.sampled_from(["worse", "better", "no worse", "unchanged", "cannot tell"]),
        "n": COUNTS,
        "needed": st.none()
        | st.fixed_dictionaries(
            {"unit": st.sampled_from(["row", "labelled row", "question"]), "low": COUNTS, "high": COUNTS}
            | {"difference": st.just(0.02)}
        ),
        "detectable": st.none() | VALUES,
        "unmeasured": st.just({"failed_base": 0, "failed_head": 0, "not_asked": 0}),
        "split": st.just({"composition": None}),
        "role": st.sampled_from(["primary", "guard", "secondary"]),
        "unit": st.sampled_from(["points", "score"]),
        "higher_is_better": st.just(True),
        "margin": st.just(0.0),
    }
)
NUMBER = re.compile(r"[+−±]*\d+(?:,\d{3})*(?:\.\d+)?(?:e[+−]?\d+)?")
NAMED = st.sampled_from(["f1", "non_llm_string_similarity", "semantic_list_contains.value", "x" * 90]) | st.text()


@given(st.dictionaries(NAMED, MEASURES, min_size=1, max_size=5), st.integers(20, 200))
def test_no_number_is_cut_however_narrow_the_terminal(measures: dict[str, Any], width: int) -> None:
    pair = {
        "base": "a", "head": "a", "rows": {"shared": 12_345, "only_base": 0, "only_head": 0, "data_changed": 0},
        "measures": measures, "refused": [], "duplicates": [], "crossed": None,
        "flips": {"rows": 1_234, "lost": {"f1": 1_234}, "gained": {}, "worst": []},
    }  # fmt: skip
    found = {
        "base": {"name": "a"}, "head": {"name": "b"}, "pairs": [pair], "gate": {"margin": 0, "max_unmeasured": 0.05},
        "blocked": False, "failed": False, "candidates": {"only_base": [], "only_head": []},
        "decision": {"verdict": "ship", "sentence": "Ship: better by f1.", "reasons": [], "worst_slice": None},
    }  # fmt: skip

    shown = terminal(found, width)

    unchanged = all(each["verdict"] == "unchanged" for each in measures.values())
    cells = [] if unchanged else [comparison_lines.measure_cells(name, each)[1:] for name, each in measures.items()]
    wanted = NUMBER.findall(" ".join(cell for row in cells for cell in row))
    assert not Counter(wanted) - Counter(NUMBER.findall(shown))
    assert all(cell_len(line) <= width for line in shown.splitlines())


@pytest.mark.parametrize(("width", "is_table"), [(120, True), (100, True), (80, True), (60, False)])
def test_the_usual_measures_stand_in_a_table_from_80_columns_on(tmp_path: Path, width: int, is_table: bool) -> None:
    metrics = {"non_llm_string_similarity": {"threshold": 0.5}, "string_presence": {}, "exact_match": {}}
    older, newer = (answers(text) for text in ("+" * 300, "." * 3 + "+" * 297))
    found = compare_versions(
        *(version(tmp_path / name, rows, metrics=metrics) for name, rows in (("a", older), ("b", newer))),
        gate_on("exact_match"),
    )

    lines = terminal(found, width).splitlines()

    assert any(line.split()[:4] == ["measure", "before", "after", "difference"] for line in lines) == is_table


def test_what_has_room_on_one_line_is_not_broken(tmp_path: Path) -> None:
    shown = terminal(document(tmp_path, answers("+" * 1000), answers("." * 3 + "+" * 997)), 90).splitlines()

    [line] = [line for line in shown if line.startswith("exact_match ")]
    assert line.split()[4:10] == ["99.7", "%", "−0.3", "[−0.8,", "+0.1]", "cannot"]


def test_answers_stand_below_one_another_where_there_is_no_room_beside(tmp_path: Path) -> None:
    shown = terminal(document(tmp_path, [row(0, "right")], [row(0, "something else")]), 40)

    assert "\nQuestion 0?\n  before: right\n  after: something else\n  lost: f1, exact_match, bleu\n" in shown


@pytest.mark.parametrize("write", [terminal, to_markdown])
def test_nothing_of_others_reaches_a_terminal_as_a_control(hostile: Any, write: Any) -> None:
    shown = write(hostile)

    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", shown)
    assert "⟨U+001B⟩" in shown


def test_brackets_are_shown_and_not_obeyed(hostile: Any) -> None:
    shown = terminal(hostile, 300)

    assert "[red]⟨U+001B⟩[31m<b>|@x: a [red]|<b>@x → b" in shown
    assert "[link=https://evil.example]only⟨U+001B⟩[31m" in shown
    assert "where topic = [/]|⟨U+001B⟩[31m<i>" in shown


def test_an_answer_on_the_terminal_is_shown_as_it_is(tmp_path: Path) -> None:
    shown = terminal(document(tmp_path, [row(0, "right")], [row(0, "[red]no[/red] [/] [link=x]y[/link]")]), 300)

    assert "[red]no[/red] [/] [link=x]y[/link]" in shown


def test_markdown_holds_no_markup_of_others(hostile: Any) -> None:
    shown = to_markdown(hostile)

    tags = set(re.findall(r"(?<!\\)<[^>]*>", shown))
    assert tags == {"<details>", "<summary>", "</summary>", "</details>"}
    assert not re.search(r"(?<!\\)(\]\(|`)", shown)
    assert not re.search(r"[@#]\w", shown)
    assert not re.search(r"://|www\.", shown)


def test_every_row_of_a_markdown_table_has_its_cells(hostile: Any) -> None:
    lines = to_markdown(hostile).replace(r"\|", "").splitlines()

    assert {line.count("|") for line in lines if line.startswith("| ") and "measure" in line} == {9}
    tables = [line.count("|") for line in lines if line.startswith("|")]
    assert set(tables) == {9, 6, 4}
    assert sum(line.count("|") == 4 for line in lines) == 4
    assert sum(line.count("|") == 6 for line in lines) == 2 + 20


def test_a_text_of_100000_characters_is_cut(hostile: Any) -> None:
    assert max(map(len, to_markdown(hostile).splitlines())) < 3000


def test_what_follows_a_closed_block_starts_a_paragraph_of_its_own(hostile: Any) -> None:
    lines = to_markdown(hostile).splitlines()
    end = lines.index("</details>")

    assert lines[end + 1] == ""
    assert lines[end + 2].startswith("- only after, not compared: ")


def test_a_refused_measure_is_told_in_both(tmp_path: Path) -> None:
    found = document(tmp_path, answers("++"), answers("++"), primary="f1", metrics={"label": 0.0})

    for shown in (terminal(found), to_markdown(found)):
        assert "label not compared: no such measure" in " ".join(shown.split())
        assert "Undecided: something that the gate asks for could not be compared" in shown


def test_the_forms_can_be_made_from_the_json(hostile: Any) -> None:
    read = json.loads(json.dumps(hostile))

    assert (terminal(read), to_markdown(read)) == (terminal(hostile), to_markdown(hostile))


def test_a_score_from_0_to_1_is_written_as_on_cards_and_a_rate_in_percent(tmp_path: Path) -> None:
    said = {"base": "right", "head": "rightly"}
    metrics: dict[str, Any] = {"f1": {"threshold": 0.5}, "chrf": {}}
    made = [version(tmp_path / name, [row(i, text) for i in range(9)], metrics=metrics) for name, text in said.items()]

    found = compare_versions(made[0], made[1], gate(primary="chrf", metrics={"f1": 0.0}))

    [comment] = [line for line in to_markdown(found).splitlines() if line.startswith("| chrf (primary)")]
    [rate] = [line for line in to_markdown(found).splitlines() if line.startswith("| f1 (guard)")]
    assert comment.startswith("| chrf (primary) | 1.00 | 0.8")
    assert "%" not in comment
    assert rate.startswith("| f1 (guard) | 100 % | 0 % | −100.0")
    assert "points" not in found["decision"]["sentence"]


def test_one_changed_answer_takes_at_most_fifteen_lines(tmp_path: Path) -> None:
    found = document(tmp_path, answers("+" * 60), answers("+" * 59 + "."))

    lines = terminal(found, every=False).splitlines()

    assert len(lines) <= 15
    assert [line.split()[0] for line in lines if "points [" in line and line[0].isalpha()][-3:] == [
        "f1",
        "exact_match",
        "bleu",
    ]
    assert lines[-1].startswith("· lost: ")
    assert len(terminal(found).splitlines()) > 15


def test_at_most_six_measures_are_shown_first_those_that_decide_and_then_those_that_moved(tmp_path: Path) -> None:
    pair = document(tmp_path, answers("+" * 60), answers("+" * 35 + "." * 25))["pairs"][0]
    [(name, one)] = [(name, one) for name, one in pair["measures"].items() if one["role"] == "primary"]
    guards = {f"guard{n}": one | {"role": "guard"} for n in range(3)}
    moved = {f"m{n}": one | {"role": "secondary", "head": one["head"] - n / 50} for n in range(1, 9)}
    same = {"copy": one | {"role": "secondary"}}
    still = {"still": one | {"role": "secondary", "verdict": "unchanged"}}

    shown = comparison_lines.first(pair | {"measures": {name: one} | still | same | moved | guards})

    assert [*shown.measures][:4] == [name, "guard0", "guard1", "guard2"]
    assert len(shown.measures) == 6
    assert not {"still", "copy"} & shown.measures.keys()
    assert shown.rest == "8 more, 1 of them with the same difference: --all"


def test_versions_without_a_difference_take_a_line_each(tmp_path: Path) -> None:
    shown = terminal(document(tmp_path, answers("+." * 20), answers("+." * 20)), every=False)

    assert "measures unchanged on every row" in shown
    assert len(shown.splitlines()) < 10


@pytest.mark.parametrize("width", [40, 80, 120])
def test_hostile_texts_stay_harmless_in_short(hostile: Any, width: int) -> None:
    shown = terminal(hostile, width, every=False)

    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert all(cell_len(line) <= width for line in shown.splitlines())
