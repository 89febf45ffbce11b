"""The comparison in HEAD's report: there, whole, and harmless whatever its texts hold."""

import json
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from goldmeter.comparison.of_versions import CompareOptions, compare_several, compare_versions
from goldmeter.comparison.render import to_markdown
from goldmeter.errors import VersionError
from goldmeter.estimates.estimates import rounded
from goldmeter.history.series import series, trend_of_versions
from goldmeter.ledger.entries import Entry, line_of
from goldmeter.pipeline.dvc_yaml import stages
from goldmeter.reporting.assembly import write_page
from goldmeter.reporting.page import ComparedVersions, terms
from goldmeter.versions.version import Version
from goldmeter.wording.verdicts import Decision
from tests.comparison.sample import gate_on
from tests.comparison.test_render import HOSTILE
from tests.reporting.made import ROWS, inputs, row, section_of, validation, written
from tests.reporting.past import DAY, FIRST, entry, past
from tests.reporting.policy import scripts
from tests.wording.test_release import document as made_document
from tests.wording.test_release import measure, pair

PAGE = "reports/index.html"
VOID = {"meta", "br", "col", "link", "img", "input", "hr", "wbr"}


class Tags(HTMLParser):
    """The names of all tags, the ids, and whether each tag is closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.ids: list[str] = []
        self.open: list[str] = []
        self.attributes: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A comparison of two versions whose newer one gives hostile answers, the rows of it, and its page."""
    tmp_path = tmp_path_factory.mktemp("hostile")
    older = [row(f"q{n}", "aurora", "Paris", True, 1.0, 0.9) for n in range(21)]
    newer = [
        row(f"q{n}", "aurora", HOSTILE[n % len(HOSTILE)], False, 0.0, 0.1, topic="<b>[red]|\x1b[31m") for n in range(21)
    ]
    found = compared({"<i>a\x1b[31m": older, "b": newer}, tmp_path, gate_on("label"))
    found["pairs"][0]["rows"]["stale_labels"] = 3
    return found, newer, page(newer, tmp_path / "page", found)


def compared(versions: dict[str, Any], folder: Path, gate: Any) -> Any:
    """The comparison of two versions, given their rows."""
    found = []
    for name, rows in versions.items():
        inputs(rows, folder / name / "data")
        found.append(Version(name, folder / name, None))
    return compare_versions(*found, gate, CompareOptions())


def page(rows: Any, folder: Path, found: Any) -> str:
    """The page of these rows with a comparison."""
    html: str = written(rows, folder, comparison=rounded(found))[PAGE]
    return html


def test_the_page_has_the_comparison_and_every_tag_of_it_is_closed(hostile: Any) -> None:
    _, _, html = hostile

    tags = Tags(html)
    assert tags.open == []
    assert sorted(set(tags.ids)) == sorted(tags.ids)
    assert {"comparison", "scores"} <= set(tags.ids)
    assert html.index('id="comparison"') < html.index('id="glance"')
    assert "21 rows changed result" in html
    assert f"{Decision.DO_NOT_SHIP.capitalize()}: worse by human labels" in html
    assert "<caption>Differences of aurora: &lt;i&gt;a⟨U+001B⟩[31m → b</caption>" in html
    assert "3 labels are of another answer (stale)" in html


def test_nothing_of_others_is_markup(hostile: Any) -> None:
    _, _, html = hostile

    tags = Tags(html)
    assert not tags.names & {"img", "iframe", "link", "object"}
    assert len(scripts(html)) == 2
    assert not {name for name in tags.attributes if name.startswith("on")}
    assert "<b>[red]" not in html
    assert "<i>a" not in html
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202e]", html)
    assert len(html) < 2_000_000
    for marked in re.findall(r"<(?:del|ins)>(.*?)</(?:del|ins)>", section_of(html, "comparison"), re.DOTALL):
        assert "<" not in marked


def test_answers_that_became_wrong_are_links_to_them(hostile: Any) -> None:
    _, _, html = hostile

    [changes] = re.findall(r'<p class="changes">(.*?)</p>', html, re.DOTALL)
    assert "21 newly wrong: " in changes
    assert re.findall(r'href="(.*?)"', changes)[0] == "#rows?open=q0&amp;of=aurora"
    assert " and 9 more" in changes


def test_a_number_that_is_unknown_is_a_dash(tmp_path: Path) -> None:
    split = {"base": None, "head": None, "shared": None, "composition": None}
    unknown = {"value": None, "low": None, "high": None, "p_value": 1.0, "method": "undefined score"}
    hollow = measure(base=None, head=None, difference=unknown, detectable=None, needed=None, split=split)

    section = section_of(page(ROWS, tmp_path, of_one({"bleu.value": hollow})), "comparison")

    assert "no interval" in section
    assert re.findall(r'<td class="right-aligned (\w+)">–</td>', section) == ["from", "to", "found"]


def test_a_row_that_failed_before_and_after_is_counted_once(tmp_path: Path) -> None:
    left = {"not_asked": 0, "failed_base": 2, "failed_head": 2, "worst": None, "best": None}
    rows = {"shared": 1236, "only_base": 0, "only_head": 0, "data_changed": 0}
    found = of_one({"f1": measure(unmeasured=left)}, rows=rows)

    section = section_of(page(ROWS, tmp_path, found), "comparison")

    assert '1,234 <br><span class="bad n">2 failed</span>' in section


@pytest.mark.parametrize(
    ("names", "head", "rows"),
    [
        (["f1", "label"], "Pass rate of", ["f1", "label"]),
        (["f1", "f1.value", "rouge_recall"], "Measure", ["f1 pass rate", "f1.value", "rouge_recall"]),
    ],
)
def test_a_pass_rate_is_told_from_a_score(names: list[str], head: str, rows: list[str], tmp_path: Path) -> None:
    section = section_of(page(ROWS, tmp_path, of_one({name: measure() for name in names})), "comparison")

    assert f'<th scope="col">{head}</th>' in section
    found = re.findall(r'<th scope="row">(.*?)</th>', section)
    assert [re.sub(r"<[^>]*>", "", each).replace(" primary", "") for each in found] == rows


def of_one(measures: dict[str, Any], **changed: Any) -> dict[str, Any]:
    """The comparison of one pair without changed rows."""
    flips = {"rows": 0, "lost": {}, "gained": {}, "worst": []}
    gate = {"margin": 0.0, "confidence": 0.95, "max_unmeasured": 0.05}
    return made_document(pairs=[pair(measures, flips=flips, **changed)], gate=gate)


def test_without_a_comparison_there_is_no_word_of_it(tmp_path: Path) -> None:
    html = written(ROWS, tmp_path)[PAGE]

    assert 'id="comparison"' not in html
    assert 'id="candidates"' in html


def test_the_same_comparison_makes_the_same_bytes(hostile: Any, tmp_path: Path) -> None:
    found, newer, html = hostile

    assert page(newer[::-1], tmp_path, json.loads(json.dumps(found))) == html


def test_a_version_without_its_numbers_has_no_page(tmp_path: Path, project: Path) -> None:
    inputs(ROWS, project / "run/data")

    with pytest.raises(VersionError, match=r"run: no reports/metrics\.json there"):
        write_page(Version("run", project / "run", None), tmp_path / "page.html")


def test_both_answers_are_shown_with_what_only_one_has(tmp_path: Path) -> None:
    answers = [("It is Paris, on the Seine", "It is Rome, on the Tiber")] * 5
    answers += [("Paris", None)] * 2 + [("Paris", "Rome, of course")] * 2
    older = [row(f"q{n}", "aurora", answer, True, 0.9, 0.9) for n, (answer, _) in enumerate(answers)]
    newer = [row(f"q{n}", "aurora", answer, False, 0.9, 0.9) for n, (_, answer) in enumerate(answers)]

    html = page(newer, tmp_path / "page", compared({"a": older, "b": newer}, tmp_path, gate_on("label")))
    section = section_of(html, "comparison")

    assert section.count("It is <del>Paris</del>, on the <del>Seine</del></div>") == section.count("<del>Paris") == 5
    assert section.count("It is <ins>Rome</ins>, on the <ins>Tiber</ins></div>") == 5
    assert section.count("no response") == section.count("no word in common") == 2
    assert section.count('<article class="card">') == 9
    assert "<summary>4 more</summary>" in section


def a_run(folder: Path, *, with_ledger: bool) -> Version:
    """An earlier run in a folder, judged by a server."""
    _, documents = inputs(ROWS, folder / "data")
    judged = {"code": "c0de", "params": {"judge": {"provider": "openai", "model": "gpt-5-mini"}}, "versions": {}}
    every = {source: validation() for source in stages()["report"].documents_read} | documents
    every |= {"reports/validation/judge.json": validation() | {"made": judged}}
    for source, body in every.items():
        (folder / source).parent.mkdir(parents=True, exist_ok=True)
        (folder / source).write_text(json.dumps(body), encoding="utf-8")
    if with_ledger:
        tokens = {"prompt": 10**6, "completion": 0}
        verdict: Entry = {"key": "a" * 64, "attempts": 1, "raw": "{}", "verdict": 1.0, "model": None, "tokens": tokens}
        (folder / "data/ledger/judge").mkdir(parents=True)
        (folder / "data/ledger/judge/verdicts.jsonl").write_bytes(line_of(verdict))
    return Version("run", folder, None)


@pytest.mark.parametrize(
    ("with_ledger", "words"),
    [(True, "1,000,000 prompt and 0 completion tokens: $0.25"), (False, "the ledger of its verdicts is unavailable")],
)
@pytest.mark.usefixtures("project")
def test_the_page_of_a_version_says_what_its_verdicts_cost(tmp_path: Path, words: str, *, with_ledger: bool) -> None:
    write_page(a_run(tmp_path / "run", with_ledger=with_ledger), tmp_path / "page.html")

    assert words in (tmp_path / "page.html").read_text(encoding="utf-8")


def several_of(tmp_path: Path, *names: str) -> ComparedVersions:
    """Versions with these names, of the same rows but for the last one, whose answers are wrong; with a trend."""
    versions = []
    for name in names:
        wrong = name == names[-1]
        rows = [row(f"q{n}", "aurora", "Rome" if wrong else "Paris", not wrong, 1.0, 0.9) for n in range(21)]
        inputs(rows, tmp_path / name / "data")
        versions.append(Version(name, tmp_path / name, None))
    document = rounded(compare_several(versions, gate_on("label"), "first"))
    numbers = {"metric": "label", "n": 21, "pass_rate": 0.9, "pass_rate_low": 0.8, "pass_rate_high": 1.0}
    entry = {"candidate": "aurora", "value": 0.9, "low": 0.8, "high": 1.0, "threshold": 0.5, **numbers}
    document["values"] = [
        entry | {"version": place, "signature": f"label|v:{place // 2}"} for place, _ in enumerate(names)
    ]
    return ComparedVersions(document, trend_of_versions(names, document["values"], "label"))


def test_several_versions_have_a_trend_and_each_comparison_one_click_away(tmp_path: Path) -> None:
    several = several_of(tmp_path, "<i>v1", "v2", "v3")

    html = written(ROWS, tmp_path / "page", several=several)[PAGE]

    tags, section = Tags(html), section_of(html, "versions")
    assert tags.open == []
    assert sorted(set(tags.ids)) == sorted(tags.ids)
    assert "<i>v1" not in html
    assert f"&lt;i&gt;v1 → v3: {Decision.DO_NOT_SHIP.capitalize()}" in section
    assert "3 versions from &lt;i&gt;v1 to v3; aurora: last 90.0 %" in section
    assert "From v3 on it is measured differently: v was 0, is 1." in section
    assert all(f'href="#compared-{n}"' in section and f'id="compared-{n}"' in section for n in (1, 2))
    assert re.findall(r"<text[^>]*>(&lt;i&gt;v1|v2|v3)<", section) == ["&lt;i&gt;v1", "v2", "v3"] * 2


def test_runs_of_the_history_open_their_comparison(tmp_path: Path) -> None:
    runs = [entry(FIRST, run="run-1"), entry(FIRST + DAY, run="run-2"), entry(FIRST + 2 * DAY, run="run-3")]
    several = several_of(tmp_path, "run-2", "run-3", "workspace")
    document = several.document | {"against": "last"}
    document["comparisons"] = [
        {"base": {"name": name, "commit": None}, "head": {"name": "workspace", "commit": None}, "document": found}
        for name, found in zip(("run-2", "run-3"), [one["document"] for one in document["comparisons"]], strict=True)
    ]

    html = written(ROWS, tmp_path / "page", history=series(past(*runs)), several=ComparedVersions(document))[PAGE]

    section = section_of(html, "history")
    assert '<a href="#compared-2"><code>run-3</code></a>' in section
    assert 'id="compared-2"' in section
    assert "<td><code>run-1</code></td>" in section
    assert 'id="versions"' not in html


def test_time_and_cost_have_a_table_of_their_own_that_says_what_is_better(tmp_path: Path) -> None:
    rows, slower = (
        [row(f"q{n}", "aurora", "Paris", True, 1.0, 0.9, latency=factor * (1.0 + n % 9)) for n in range(90)]
        for factor in (1.0, 3.0)
    )
    gate = gate_on("label").model_copy(update={"metrics": {"latency_p50": 0.1}})
    html = page(slower, tmp_path / "page", compared({"a": rows, "b": slower}, tmp_path, gate))
    section = " ".join(section_of(html, "comparison").partition("</button>")[2].split())

    assert Tags(html).open == []
    assert f"{Decision.DO_NOT_SHIP.capitalize()}: worse by the {terms('guard')} latency_p50, " in section
    assert "<summary>Time and cost: worse on 3</summary>" in section
    assert "latency in seconds, cost in US dollars; less is better" in section
    assert section.count("latency_p95") == 1  # not among the other measures, whose differences are drawn to one scale


def test_the_comparison_is_copied_as_markdown(hostile: Any) -> None:
    found, _, html = hostile

    copied = unescape(re.findall(r'data-copy="(.*?)"', html, re.DOTALL)[0])
    assert copied == to_markdown(rounded(found))
    assert html.count("data-copy=") == 1
