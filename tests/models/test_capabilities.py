import pytest

from goldmeter.models.chat.limits import FORMATS, KEYWORDS, LIMITS, OPTIONAL, Support
from goldmeter.models.chat.refusals import Said, said_in

SENT = [*OPTIONAL, LIMITS[0], *KEYWORDS, "response_format"]


def test_less_and_less_is_asked_for():
    support = Support()

    support = support.reduced(Said("Unsupported value: 'temperature' does not support 0"), SENT)
    assert support == Support("json_schema", ("temperature",))

    formats = []
    while support := support.reduced(Said("no"), SENT):
        formats.append(support.format)
    assert formats == [*FORMATS[1:]]


@pytest.mark.parametrize(
    ("body", "support"),
    [
        (
            '{"error": {"message": "Unsupported value: \'temperature\' does not support 0 with this model."}}',
            Support(dropped=("temperature",)),
        ),
        ("""[{"error": {"message": "Unknown name \\"seed\\": Cannot find field."}}]""", Support(dropped=("seed",))),
        ('{"error": {"message": "Unrecognized request argument supplied: response_format"}}', Support("json_object")),
        ('Either "json_schema" or "grammar" can be specified, but not both', Support("json_object")),
        (
            """{"message": {"detail": [{"loc": ["body", "response_format", "type"], "msg": "should be 'text'"}]}}""",
            Support("json_object"),
        ),
        (
            """{"error": {"message": "'max_tokens' is not supported; use 'max_completion_tokens'", "param": null}}""",
            Support(refused=("max_tokens",)),
        ),
        (
            """{"error": {"message": "In context=('properties', 'nonce'), 'maxLength' is not permitted."}}""",
            Support(refused=("maxLength",)),
        ),
        (
            '{"detail": [{"loc": ["body", "response_format", "json_schema", "strict"], "msg": "Extra inputs"}]}',
            Support(refused=("strict",)),
        ),
        ('{"error": {"message": "failed to parse the grammar of the schema"}}', Support(refused=("maxLength",))),
        ('{"error": {"message": "System role not supported"}}', Support(dropped=("system",))),
    ],
)
def test_refusals_of_known_servers_are_understood(body, support):
    assert Support().reduced(said_in(body), SENT) == support


@pytest.mark.parametrize("message", ["Please lower the temperature of your text", "the seed is in the answer"])
def test_a_refusal_about_the_text_of_a_row_takes_nothing_away(message):
    assert Support().without(Said(message), SENT) is None


def test_what_was_not_sent_is_not_left_out():
    assert Support().without(Said("'max_completion_tokens' is not supported"), SENT) is None


def test_limits_and_bounds_are_no_part_of_a_signature():
    assert Support(refused=("max_tokens", "maxLength")).summary == Support().summary


@pytest.mark.parametrize(
    "support", [Support(), Support("text", ("seed",)), Support("json_object", ("temperature", "seed"))]
)
def test_a_summary_states_all_of_it(support):
    assert Support.of(support.summary) == support


@pytest.mark.parametrize("summary", ["", "xml", "json_schema without model", "text without"])
def test_another_summary_states_nothing(summary):
    assert Support.of(summary) is None
