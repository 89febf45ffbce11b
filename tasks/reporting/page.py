"""The page as one HTML file: content and templates, all escaped."""

from base64 import b64encode
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tasks.comparison import wording as comparison_words
from tasks.console import format as formats
from tasks.pipeline.hashing import sha256
from tasks.reporting import axes, candidate_matrix
from tasks.reporting import trends as past
from tasks.reporting.content import Content
from tasks.reporting.drawing import colour, shape
from tasks.reporting.histograms import histogram
from tasks.reporting.score_tables import by_metric, passing
from tasks.reporting.trend_charts import trend_charts
from tasks.reporting.word_diff import word_diff

if TYPE_CHECKING:
    from markupsafe import Markup

FOLDER = Path(__file__).parent


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
        "timestamp": past.timestamp,
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
    return f"sha256-{b64encode(sha256(script)).decode()}"


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
