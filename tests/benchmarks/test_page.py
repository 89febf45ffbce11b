"""The controls that the benchmark of the page uses are those of the page."""

from benchmarks.page import RESPONSES
from goldmeter.reporting.page import FOLDER


def test_each_control_is_there_with_its_value() -> None:
    section = (FOLDER / "sections/explorer.html.j2").read_text(encoding="utf-8")

    for _, control, value in RESPONSES:
        _, found, element = section.partition(f'id="rows-{control}"')
        options = element.partition("</select>")[0]
        assert found
        assert control in {"search", "candidate"} or f'value="{value}"' in options
