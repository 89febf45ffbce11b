"""Section `report` of params.yaml."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from goldmeter.estimates.primary import ShareOrMaximum
from goldmeter.pipeline.settings import Positive, Section


class Report(Section):
    """How much the page shows.

    rows_to_look_at: ids with a card. answers: answers in the row explorer. max_chars: characters of a text.
    slice_values: values of a slice column. small_n: fewer measured answers than these are marked as few.
    targets: measure → minimum rate; of latency, tokens and cost {max: number}.
    """

    rows_to_look_at: Annotated[int, Field(ge=0)]
    answers: Annotated[int, Field(ge=0)]
    max_chars: Positive
    slice_values: Positive
    small_n: Annotated[int, Field(ge=0)]
    targets: Mapping[Annotated[str, Field(min_length=1)], ShareOrMaximum]
