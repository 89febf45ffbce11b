"""Sixty hostile texts in every place a data set and a judge have for text: the page shows them, and nothing happens."""

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from goldmeter.console.format import shown, visible
from tests import judge_server
from tests.browser import DESKTOP, PHONE, chromium, too_wide, visit
from tests.hostile_texts import TEXTS, WORD
from tests.whole.conftest import Project

__all__ = ["chromium", "visit"]
pytestmark = pytest.mark.long

CHARS = 600
CANDIDATES = (TEXTS[0], TEXTS[42] + TEXTS[49], TEXTS[38] + " — " + "long name " * 20)
SLICES = (TEXTS[15], TEXTS[50])
HALF = {"id": "half \ud800 of a pair"}
ELEMENTS = """() => [...new Set([...document.querySelectorAll("*")].flatMap((each) =>
  ["", ...each.getAttributeNames()].map((name) => `${each.namespaceURI} ${each.localName} ${name}`)))]"""


def opened(page: Any) -> list[str]:
    """Open every answer of the list; what each page of it says then."""
    said, answers = [], page.locator("#rows-body")
    following = page.get_by_role("button", name="Next", exact=True)
    answers.locator("tr").first.wait_for()
    while True:
        answers.evaluate("each => each.querySelectorAll('[aria-expanded]').forEach((row) => row.click())")
        said.append(answers.evaluate("each => each.textContent"))
        if following.is_disabled():
            return said
        following.click()


class Pages(NamedTuple):
    """The report of hostile texts, and that of the same rows with a word in the place of each."""

    hostile: Path
    harmless: Path


def rows(texts: list[str]) -> list[dict[str, Any]]:
    """A record of each text, which is all that it says; people find a third right, a third wrong."""
    records = []
    for number, text in enumerate(texts):
        label = [True, False, None][number % 3]
        answers = {f"answer {i}": texts[(number + 7 * i) % len(texts)] for i in range(3)}
        slices = dict.fromkeys(("slice 0", "slice 1"), text)
        fields = {"id": text, "input": text, "references": [text, texts[number - 1]], "label": label}
        records.append(fields | answers | slices)
    return records


def configure(project: Project, candidates: tuple[str, ...], slices: tuple[str, ...], judge: str) -> None:
    """Map the records; the names of slice columns are those of the file."""

    def change(params: dict[str, Any]) -> None:
        answers = {
            name: {"response": f"answer {i}", "label": "label", "about": {name: name}}
            for i, name in enumerate(candidates)
        }
        params["dataset"] |= {
            "path": "data/mine.jsonl", "id": "id", "input": "input", "references": "references", "candidates": answers,
            "group": None, "slices": list(slices),
        }  # fmt: skip
        params["semantic"] = {}
        params["load"] |= {"max_chars": 2 * len(WORD), "max_rejected": 0.1}
        params["judge"] |= {"provider": "openai", "base_url": judge, "api_key_env": None, "max_unmeasured": 1.0}
        params["judge"]["canaries"] = False
        params["aggregate"]["max_unmeasured"] = 1.0
        params["report"] |= {"rows_to_look_at": 500, "slice_values": 100, "max_chars": CHARS}

    project.change_params(change)


@contextmanager
def repeating_judge() -> Iterator[str]:
    """A judge whose reason, and whose own name, are what it was shown; its address."""

    def script(body: dict[str, Any]) -> judge_server.Answer:
        nonce, fields = judge_server.question(body)
        reply = {"nonce": nonce, "reason": fields["output"][:CHARS], "verdict": len(fields["output"]) % 2 == 0}
        return judge_server.completion(json.dumps(reply), model=CANDIDATES[0])

    with judge_server.serving() as server:
        server.script = script
        yield server.url


def report(project: Project, texts: list[str], candidates: tuple[str, ...], slices: tuple[str, ...]) -> Path:
    """The page of a real run on these texts."""
    lines = [
        {slices[int(name[-1])] if name.startswith("slice ") else name: value for name, value in record.items()}
        for record in [*rows(texts), rows(texts)[0] | HALF]
    ]
    data = "".join(json.dumps(line) + "\n" for line in lines)
    (project.folder / "data/mine.jsonl").write_text(data, encoding="utf-8")
    with repeating_judge() as judge:
        configure(project, candidates, slices, judge)
        project.run("dvc", "repro")
    kept = project.folder.parent / f"{len(list(project.folder.parent.glob('*.html')))}.html"
    return Path(shutil.copy(project.folder / "reports/index.html", kept))


@pytest.fixture(scope="module")
def pages(project: Project) -> Pages:
    words = [f"word {number}" for number in range(len(TEXTS))]
    harmless = report(project, words, ("one", "two", "three"), ("slice a", "slice b"))
    return Pages(report(project, TEXTS, CANDIDATES, SLICES), harmless)


def test_there_are_sixty() -> None:
    assert len({*TEXTS}) == len(TEXTS) == 60


def test_every_text_is_shown_as_text(pages: Pages, visit: Any) -> None:
    page = visit(pages.hostile)
    parts = {part: page.locator(part).evaluate("each => each.textContent") for part in ("#look", "#slices")}
    parts["#rows"] = "".join(opened(page))

    for part, most in (("#look", CHARS), ("#slices", 60), ("#rows", CHARS)):
        assert [text[:60] for text in TEXTS if shown(text, most).shown.removesuffix("…") not in parts[part]] == []
    said = page.evaluate("document.body.textContent")
    assert [name for name in (*CANDIDATES, *SLICES) if visible(name) not in said] == []


def test_no_text_makes_an_element_or_an_attribute(pages: Pages, visit: Any) -> None:
    hostile, harmless = visit(pages.hostile), visit(pages.harmless)
    for page in (hostile, harmless):
        opened(page)

    assert set(hostile.evaluate(ELEMENTS)) - set(harmless.evaluate(ELEMENTS)) == set()


def test_no_text_runs_or_leads_anywhere(pages: Pages, visit: Any) -> None:
    page = visit(pages.hostile)
    opened(page)

    assert page.evaluate("window.breached") is None
    assert re.fullmatch(r"mine\.jsonl \(\w{12}\), version [\w .-]+: goldmeter evaluation report", page.title())
    leads = "all => all.map((each) => each.getAttribute('href') ?? each.outerHTML)"
    links = page.eval_on_selector_all("a, area, [src], [data], [action]", leads)
    assert [link for link in links if not link.startswith("#")] == []


@pytest.mark.parametrize("screen", [DESKTOP, PHONE])
def test_no_text_widens_the_page(pages: Pages, visit: Any, screen: Any) -> None:
    assert too_wide(visit(pages.hostile, screen)) == []


def test_a_word_of_a_million_letters_is_cut_wherever_it_stands(pages: Pages) -> None:
    assert WORD[: 2 * CHARS] not in pages.hostile.read_text(encoding="utf-8")


def test_half_of_a_surrogate_pair_is_rejected_and_told(pages: Pages, project: Project, visit: Any) -> None:
    from goldmeter.pipeline.tables import Parts

    rejected = Parts(project.folder / "data/load_rejected").whole().to_pylist()

    assert {row["reason"] for row in rejected} == {"id: character 6 is half of a surrogate pair"}
    assert "3 rejected" in visit(pages.hostile).evaluate("document.body.innerText")
