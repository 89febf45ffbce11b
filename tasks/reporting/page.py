"""The page: everything it shows as plain values, and the template that shows them, all escaped."""

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tasks.comparison import wording as comparison_words
from tasks.console import format as formats
from tasks.reporting import axes, candidate_matrix
from tasks.reporting import trends as past
from tasks.reporting.charts import Distribution, colour, histogram, shape
from tasks.reporting.checks import Stage
from tasks.reporting.provenance import Provenance
from tasks.reporting.score_tables import Metric, SliceTable, by_metric, passing
from tasks.reporting.trend_charts import trend_charts
from tasks.reporting.trends import Series
from tasks.reporting.word_diff import word_diff

if TYPE_CHECKING:
    from markupsafe import Markup

    from tasks.reporting.explorer import Explorer

FOLDER = Path(__file__).parent
REFERENCES_SHOWN = 10


class Score(NamedTuple):
    """One score of one answer; verdict: pass, fail, unmeasured, or nothing where there is no threshold."""

    name: str
    value: float | None
    verdict: str


class Facts(NamedTuple):
    """What a metric says of a score, a fact a line: its names and its value. note: that something was cut."""

    lines: list[list[str]]
    note: str


class Answer(NamedTuple):
    """One candidate's answer to the input of a card.

    label: right, wrong or nothing. response: None = no response. reasons: why to look. missing: why scores are missing.
    """

    candidate: str
    response: formats.Text | None
    label: str
    reasons: list[str]
    scores: list[Score]
    details: list[tuple[str, formats.Text | Facts]]
    missing: list[str]


class Card(NamedTuple):
    """One input that people should look at."""

    id: str
    input: formats.Text | None
    references: list[formats.Text]
    more_references: int
    slices: dict[str, str]
    answers: list[Answer]


class Look(NamedTuple):
    """The cards of one kind; total: answers of that kind in the whole run."""

    title: str
    about: str
    total: int
    cards: list[Card]


class Content(NamedTuple):
    """What the page shows. confidence: of the intervals. lead: the metric of the first lines.

    agreement: candidate → metric → how far it agrees with people, best first; thresholds: metric → what labels teach;
    powered: metric → candidate → what a cheap score adds to few verdicts; correlations: of the scores; all as
    reports/metrics.json has them.
    compared: every two candidates, as reports/metrics.json has them; joint: the confidence of all their verdicts.
    comparison: another version beside this one, as `python -m flows.compare --json` writes it.
    history: past runs, a series per schedule.
    explorer: answers that people search and sort in the page. provenance: where the numbers come from.
    """

    dataset: dict[str, Any]
    confidence: float
    candidates: list[str]
    lead: Metric | None
    families: dict[str, list[Metric]]
    drawn: list[Distribution]
    not_drawn: dict[str, str]
    slices: dict[str, list[SliceTable]]
    small_n: int
    look: list[Look]
    stages: list[Stage]
    agreement: dict[str, dict[str, Any]]
    thresholds: dict[str, Any]
    powered: dict[str, dict[str, Any]]
    correlations: dict[str, Any]
    compared: list[dict[str, Any]]
    joint: float
    comparison: Mapping[str, Any] | None
    history: Sequence[Series] | None
    explorer: "Explorer | None"
    provenance: Provenance
    max_chars: int


def render(content: Content) -> str:
    """The page as one HTML file that needs nothing else; the same content gives the same bytes."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_environment
    from jinja2.filters import do_truncate

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": formats.number,
        "percent": formats.percent,
        "level": formats.level,
        "count": formats.count,
        "counted": formats.counted,
        "visible": formats.visible,
        "breakable": breakable,
        "passing": passing,
        "by_metric": by_metric,
        "expectation": expectation,
        "moment": past.moment,
        "duration": past.duration,
        "cost": past.cost,
        "truncate": pass_environment(partial(do_truncate, end="…")),
    }
    environment.globals |= {"say": comparison_words, "shown": partial(formats.shown, limit=content.max_chars)}
    environment.globals |= {"axis": axes, "pairwise": candidate_matrix, "word_diff": word_diff}
    page = environment.get_template("index.html.j2")
    series = content.history or ()
    gone = sorted({name for each in series for name in each.candidates} - {*content.candidates})
    swatches = {name: colour(number) for number, name in enumerate([*content.candidates, *gone])}
    environment.globals["shapes"] = {name: shape(number) for number, name in enumerate(swatches)}
    charts = [(each, histogram(each, content.candidates)) for each in content.drawn]
    history = [(each, [(trend, trend_charts(trend, swatches)) for trend in each.trends]) for each in series]
    head, script = _bundle("*.js"), _bundle("sections/*.js")
    return page.render(
        content._asdict() | {"history": history},
        charts=charts,
        swatches=swatches,
        style=_bundle("*.css") + _bundle("sections/*.css"),
        head=head,
        script=script,
        scripts=" ".join(f"'{_hash(each)}'" for each in (head, script)),
    )


def _bundle(pattern: str) -> str:
    """Every such file of this folder, one after another."""
    return "".join(file.read_text(encoding="utf-8") for file in sorted(FOLDER.glob(pattern)))


def _hash(script: str) -> str:
    """What a content security policy calls a script that may run. Source: CSP level 3, section 2.3.1."""
    return f"sha256-{b64encode(sha256(script.encode()).digest()).decode()}"


def breakable(name: str) -> "Markup":
    """The name of a column, which a narrow cell may break after an underscore or a point, and there first.

    >>> breakable("rouge_f1<b>")
    Markup('rouge_<wbr>f1&lt;b&gt;')
    """
    from markupsafe import Markup, escape

    return Markup("_<wbr>").join(Markup(".<wbr>").join(map(escape, each.split("."))) for each in name.split("_"))


def expectation(name: str) -> str:
    """An expectation's name as words.

    >>> expectation("expect_column_values_to_not_be_null")
    'column values to not be null'
    """
    return name.removeprefix("expect_").replace("_", " ")


def details_shown(details: str, limit: int) -> formats.Text | Facts:
    """The details of a score; of facts at most `limit` characters.

    >>> details_shown('{"threshold": 0.7, "similarities": {"Rom": 0.1}}', 99).lines
    [['threshold', '0.7'], ['similarities', 'Rom', '0.1']]
    """
    facts = json.loads(details)
    if not isinstance(facts, dict):
        return formats.shown(details, limit)
    lines = [*_facts(facts)]
    return Facts([*_first(lines, limit)], formats.shown("".join(map("".join, lines)), limit).note)


def _first(lines: Sequence[Sequence[str]], left: int) -> Iterator[list[str]]:
    """The lines as far as so many characters reach."""
    for line in lines:
        kept = []
        for part in line:
            kept.append(formats.shown(part, max(0, left)).shown)
            left -= len(part)
        yield kept
        if left <= 0:
            return


def _facts(facts: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for name, value in facts.items():
        if isinstance(value, dict):
            yield from ((name, each, _said(inner)) for each, inner in value.items())
        else:
            yield name, _said(value)


def _said(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
