import pytest

from goldmeter.models.chat.limits import FORMATS, Support, is_about_format


def test_less_and_less_is_asked_for():
    support = Support()

    support = support.reduced("Unsupported value: 'temperature' does not support 0")
    assert support == Support("json_schema", ("temperature",))

    formats = []
    while support := support.reduced("no"):
        formats.append(support.format)
    assert formats == [*FORMATS[1:]]


@pytest.mark.parametrize(
    ("message", "support"),
    [
        ("Unsupported value: 'temperature' does not support 0 with this model.", Support(dropped=("temperature",))),
        ("""[{'error': {'message': 'Unknown name "seed": Cannot find field.'}}]""", Support(dropped=("seed",))),
        ("Unrecognized request argument supplied: response_format", Support("json_object")),
        ('Either "json_schema" or "grammar" can be specified, but not both', Support("json_object")),
    ],
)
def test_refusals_of_known_servers_are_understood(message, support):
    assert Support().reduced(message) == support
    assert is_about_format(message)


@pytest.mark.parametrize(
    "support", [Support(), Support("text", ("seed",)), Support("json_object", ("temperature", "seed"))]
)
def test_a_summary_states_all_of_it(support):
    assert Support.of(support.summary) == support


@pytest.mark.parametrize("summary", ["", "xml", "json_schema without model", "text without"])
def test_another_summary_states_nothing(summary):
    assert Support.of(summary) is None
