import pytest

from tasks.metrics import score


@pytest.mark.parametrize(
    ("response", "reference", "literal", "normalised"),
    [("It is paris.", "Paris", 0.0, 1.0), ("about 1,000 people", "1000", 0.0, 1.0), ("Rome", "Paris", 0.0, 0.0)],
)
def test_the_normalised_form_stands_beside_the_literal_one(response, reference, literal, normalised):
    assert score("string_presence", [response], [reference]).tolist() == [literal]
    assert score("string_presence_normalized", [response], [reference]).tolist() == [normalised]
    assert score("string_presence", [response], [reference], normalize=True).tolist() == [normalised]
