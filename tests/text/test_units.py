import pytest

from goldmeter.text.quantities import unit_at


@pytest.mark.parametrize(
    ("text", "dimension", "size"),
    [
        ("5 km", "m", 1000), ("5-kilometre", "m", 1000), ("5 square km", "m^2", 10**6), ("5 cm³", "m^3", 1e-6),
        ("5 km/h", "m/s", 5 / 18), ("5 miles per hour", "m/s", 0.44704), ("5%", "%", 0.01), ("5 per cent", "%", 0.01),
        ("5 percentage points", "pp", 1), ("5 degrees", "", 1), ("5 °C", "K", 1), ("5 USD", "$", 1),
        ("5 MB", "byte", 10**6),
    ],
)  # fmt: skip
def test_known_units(text, dimension, size):
    written = unit_at(text, 1)

    assert (written.unit.dimension, float(written.unit.size), written.stop) == (
        dimension,
        pytest.approx(size),
        len(text),
    )


@pytest.mark.parametrize("text", ["5", "5 apples", "5 in", "5 M", "5 kmx", "5  km", "5 Mb"])
def test_other_words_are_no_units(text):
    assert unit_at(text, 1) is None
