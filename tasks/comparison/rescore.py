"""Score BASE's answers again by HEAD's settings, for the lexical metrics, which need no model."""

from dataclasses import replace
from pathlib import Path

from tasks.comparison.version_scores import VersionScores
from tasks.dataset.normalized import Normalize, normalized
from tasks.errors import ComparisonError
from tasks.metrics.catalogue import configure
from tasks.pipeline.tables import Parts, about, write_part
from tasks.scores.column_facts import stated
from tasks.scores.tables import pairs_of, score_table
from tasks.versions.version import Version

FAMILY = "lexical"


def rescored(base: VersionScores, head: Version, folder: Path) -> VersionScores:
    """BASE with HEAD's lexical metrics in place of its own, written to `folder`.

    Raises:
        ComparisonError: HEAD's data/normalize does not state how texts were normalised.
    """
    chosen = about(head.parts("normalize").schema).get("normalize")
    if chosen is None:
        raise ComparisonError(f"{head.name}: its data/normalize does not say how texts were normalised; run it again")
    options = {facts.metric: facts.options for facts in stated(head.parts(FAMILY).about).values()}
    settings, metrics = Normalize(**chosen), {name: configure(FAMILY, name, own) for name, own in options.items()}
    folder.mkdir(parents=True)
    for number, part in enumerate(base.load):
        rows = normalized(part, settings)
        write_part(score_table(rows, pairs_of(rows), metrics), folder, number)
    return replace(base, tables={**base.tables, FAMILY: Parts(folder)}, fitted={})  # HEAD's thresholds, too
