"""The page as one HTML file: what it shows as plain values, and the templates of this folder."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlencode

from goldmeter.console.format import (
    about,
    abridged,
    coefficient,
    count,
    counted,
    level,
    number,
    points_interval,
    rate,
    shown,
    visible,
)
from goldmeter.estimates.failures import KINDS
from goldmeter.estimates.metrics_report import AgreementEntry, MetricsReport
from goldmeter.estimates.primary import TargetVerdict
from goldmeter.pipeline.hashing import sha256
from goldmeter.reporting import axes, looks, reliability, score_tables, trends
from goldmeter.reporting.cards import CardGroup
from goldmeter.reporting.drawing import colour, shape
from goldmeter.reporting.explorer import NAME_CHARS, Explorer
from goldmeter.reporting.histograms import Distribution, histogram
from goldmeter.reporting.provenance import Provenance, StageChecks
from goldmeter.reporting.row_texts import word_diff
from goldmeter.reporting.score_tables import MetricScores, SliceTable, by_metric, passing
from goldmeter.reporting.survey import FieldTable
from goldmeter.reporting.trends import Series, Trend, trend_charts
from goldmeter.wording import claims, classes, comparison_lines, glossary, notes, robustness, several_lines
from goldmeter.wording.claims import AdoptDocument
from goldmeter.wording.classes import MEANING, ClassSection
from goldmeter.wording.comparison_document import ComparisonDocument, PairEntry, SeveralVersions
from goldmeter.wording.conclusion import Conclusion
from goldmeter.wording.evidence import SliceLines, by_column
from goldmeter.wording.first_screen import FirstScreen
from goldmeter.wording.preference import PreferenceSection, strength
from goldmeter.wording.repeated_answers import RepeatedAnswers
from goldmeter.wording.resources import ResourceTable
from goldmeter.wording.suspects import stale_corrections
from goldmeter.wording.verdicts import RELATIONS, Decision, Verdict

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


class ComparedVersions(NamedTuple):
    """Several versions, and the primary measure over them; trend: None if no version states it, or it is not shown."""

    document: SeveralVersions
    trend: Trend | None = None


class Content(NamedTuple):
    """The content of the page; the templates read these names.

    measured: reports/metrics.json. conclusion, first_screen: None if it has no headlines.
    card: what the page says first, as Markdown. worst_slices, trust: evidence beside it.
    version: of the tables, if it is known. agreement: candidate → metric → agreement with the human labels, the highest
    first.
    candidate_pairs: comparisons of every two candidates. repeated: None unless questions have several answers.
    preference: None unless the judge was asked for it. resources: what answers took. classes: of `class_match`.
    fields: by metric, of answers that json_fields scores.
    lead: the leading metric. families: title → its metrics. without_distribution: metric → the reason.
    slices: slice column → a table for each metric. small_n: fewer measured answers are marked as few.
    comparison: of another version with this one, as `python -m flows.compare --json` writes it; None without one.
    history: past runs by schedule; None without a history. several: three or more versions compared; beside a history,
    its runs with this version. explorer: None if no answer fits. max_chars: of a text.
    """

    measured: MetricsReport
    conclusion: Conclusion | None
    first_screen: FirstScreen | None
    card: str
    worst_slices: SliceLines
    trust: list[str]
    version: str | None
    candidates: list[str]
    lead: MetricScores | None
    families: dict[str, list[MetricScores]]
    distributions: list[Distribution]
    without_distribution: dict[str, str]
    slices: dict[str, list[SliceTable]]
    small_n: int
    card_groups: list[CardGroup]
    stages: list[StageChecks]
    agreement: dict[str, dict[str, AgreementEntry]]
    candidate_pairs: Sequence[PairEntry]
    repeated: RepeatedAnswers | None
    fields: Mapping[str, FieldTable]
    comparison: ComparisonDocument | None
    history: Sequence[Series] | None
    explorer: Explorer | None
    provenance: Provenance
    max_chars: int
    preference: PreferenceSection | None = None
    resources: Sequence[ResourceTable] = ()
    classes: Sequence[ClassSection] = ()
    several: ComparedVersions | None = None


FOLDER = Path(__file__).parent
# Verdict → its class in the style sheet; all others are open.
CLASSES: dict[str, str] = {
    **dict.fromkeys((Verdict.BETTER, Verdict.NO_WORSE, Decision.SHIP, TargetVerdict.MET), "right"),
    **dict.fromkeys((Verdict.WORSE, Decision.DO_NOT_SHIP, TargetVerdict.NOT_MET), "wrong"),
}
# What the field of a slice begins with in an address.
SLICE = "slice."
# Characters of the data set's hash in the head of the page.
HASH_CHARS = 12


def render(content: Content) -> str:
    """Render the page as one self-contained HTML file; the same content gives the same bytes."""
    history = content.history or ()
    over_versions = content.several and content.several.trend
    past = {name for series in history for name in series.candidates}
    past |= {point.candidate for point in over_versions.points} if over_versions else set()
    gone = sorted(past - {*content.candidates})
    candidates = [*sorted(content.candidates), *gone]  # colours and marks follow names, which change less than ranks
    swatches = {name: colour(number) for number, name in enumerate(candidates)}
    own = {name: swatches[name] for name in content.candidates}
    environment = _environment(content.max_chars)
    environment.globals["shapes"] = {name: shape(number) for number, name in enumerate(candidates)}
    charts = [(series, [(trend, trend_charts(trend, swatches)) for trend in series.trends]) for series in history]
    head, script = bundle("*.js"), bundle("sections/*.js") + explorer_script()
    return environment.get_template("index.html.j2").render(
        content._asdict() | {"history": charts},
        trend_of_versions=trend_charts(over_versions, swatches) if over_versions else None,
        histograms=[
            (scores, histogram(scores, own, rows_address if content.explorer else None))
            for scores in content.distributions
        ],
        identity=_identity(content),
        failure_kinds=KINDS,
        swatches=swatches,
        style=bundle("*.css") + bundle("sections/*.css"),
        head=head,
        script=script,
        scripts=" ".join(f"'{script_hash(text)}'" for text in (head, script)),
    )


def render_claims(document: AdoptDocument) -> str:
    """Render what `goldmeter adopt` found as one self-contained HTML file, without a script."""
    style = bundle("*.css") + bundle("sections/*.css")
    return _environment(0).get_template("adopted.html.j2").render(document=document, words=claims, style=style)


def _identity(content: Content) -> list[str]:
    """Say which data set and which version the page is about."""
    path = content.provenance.path
    hashed = content.measured["dataset"]["hash"][:HASH_CHARS]
    data = f"{Path(path).name} ({hashed})" if path else f"data set {hashed}"
    return [data, *([f"version {content.version}"] if content.version else [])]


def _environment(max_chars: int) -> "Environment":
    """Return the Jinja environment with the filters and modules that the templates use."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_environment
    from jinja2.filters import do_truncate

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    functions = [
        *(about, coefficient, number, rate, level, count, counted, visible),
        *(breakable, passing, terms, verdict_class, by_column, by_metric, expectation, strength, unbroken),
        *(trends.timestamp, trends.duration, trends.cost, stale_corrections),
    ]
    environment.filters |= {function.__name__: function for function in functions}
    environment.filters["truncate"] = pass_environment(partial(do_truncate, end="…"))
    environment.globals |= {
        "glossary": glossary.terms(),
        "say": comparison_lines,
        "noted": notes,
        "classed": classes,
        "robust": robustness,
        "relations": RELATIONS,
        "tell": several_lines,
        "points_interval": points_interval,
        "axis": axes,
        "reliability": reliability,
        "looks": looks,
        "classes_mean": MEANING,
        "pairwise": score_tables,
        "rows_address": rows_address,
        "word_diff": word_diff,
        "shown": partial(shown, limit=max_chars),
    }
    return environment


def bundle(pattern: str) -> str:
    """Concatenate the files of this folder that match a pattern."""
    return "".join(file.read_text(encoding="utf-8") for file in sorted(FOLDER.glob(pattern)))


def explorer_script() -> str:
    """Return the script of the row explorer: its files as one function, which starts after the first paint."""
    start = "requestAnimationFrame(() => setTimeout(() => start(block)));\n"
    head = 'const block = document.getElementById("answers");\nif (!block) return;\n'
    return f'(() => {{\n"use strict";\n{head}{bundle("sections/explorer/*.js")}{start}}})();\n'


def rows_address(**fields: str) -> str:
    """Return the address of the answers that match, as explorer/address.js reads it; a slice: `slice.` and its column.

    >>> rows_address(metric="f1", **{"slice.topic": "art & more"})
    '#rows?metric=f1&slice.topic=art+%26+more'
    """
    return f"#rows?{urlencode({_named(name): _named(value) for name, value in fields.items()})}"


def _named(text: str) -> str:
    """A name, or the field of a slice, as the row explorer has it."""
    field = text[: len(SLICE)] if text.startswith(SLICE) else ""
    return field + visible(abridged(text.removeprefix(SLICE), NAME_CHARS))


def script_hash(script: str) -> str:
    """Return the hash by which a content security policy allows a script. Source: CSP level 3, section 2.3.1."""
    return f"sha256-{b64encode(sha256(script)).decode()}"


def terms(text: str) -> "Markup":
    """Lead each term of the glossary to its meaning; a mark after it stays with it.

    >>> terms("+1 point [<0.1, 2]: <b>")
    Markup('+1 <a class="term" href="#term-25">point</a> <a class="term" href="#term-18">[&lt;0.1, 2]:</a> &lt;b&gt;')
    """
    from markupsafe import Markup

    linked, end, link = Markup(), 0, Markup('<a class="term" href="#term-{}">{}</a>')
    for term in glossary.found().finditer(text):
        linked += text[end : term.start()] + link.format(term.lastindex, term[0])
        end = term.end()
    return linked + text[end:]


def verdict_class(verdict: str) -> str:
    """The class of a verdict in the style sheet: right, wrong or open."""
    return CLASSES.get(verdict, "open")


def breakable(name: str) -> "Markup":
    """Mark where a narrow cell may break the name of a column: after underscores and points.

    >>> breakable("rouge_f1<b>")
    Markup('rouge_<wbr>f1&lt;b&gt;')
    """
    from markupsafe import Markup, escape

    return Markup("_<wbr>").join(Markup(".<wbr>").join(map(escape, part.split("."))) for part in name.split("_"))


def unbroken(text: str) -> str:
    """Keep each number on the line of its percent sign.

    >>> unbroken("78.7 % right")
    '78.7\\xa0% right'
    """
    return text.replace(" %", "\N{NO-BREAK SPACE}%")


def expectation(name: str) -> str:
    """Return the name of an expectation as words.

    >>> expectation("expect_column_values_to_not_be_null")
    'column values to not be null'
    """
    return name.removeprefix("expect_").replace("_", " ")
