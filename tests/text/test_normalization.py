import sys
import unicodedata

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from goldmeter.metrics.pairs import Pairs
from goldmeter.text import normalization
from goldmeter.text.normalization import normalize, normalized_column

TRICKY = st.lists(
    st.sampled_from(list("aAnǰŉßİıΐ½ﬁ⁄/.,:;+-−–±$€!5٣٫´`^ \t\u00a0\u0301\u0345\u200d\ufe0f❤👩🏽ϓſK")),
    max_size=12,
).map("".join)
OPTIONS = st.fixed_dictionaries(
    {
        "unicode": st.sampled_from(["NFC", "NFKC", "none"]),
        "case": st.booleans(),
        "punctuation": st.booleans(),
        "articles": st.booleans(),
    }
)
ALL = {"unicode": "NFKC", "case": True, "punctuation": True, "articles": True}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  New\n\tYork ", "new york"),
        ("Paris!", "paris"),
        ("1,000", "1000"),
        ("3.5", "3.5"),
        ("3.", "3"),
        ("U.S.A.", "usa"),
        ("-5", "-5"),
        ("\u22125", "-5"),  # minus sign
        ("-$5", "-5"),
        ("a - b", "a b"),
        ("12:30", "12:30"),
        ("at 12: noon", "at 12 noon"),
        ("1914\u20131918", "1914-1918"),  # en dash
        ("½", "1/2"),
        ("2/3 and/or", "2/3 andor"),
        ("٣٫٥", "٣.٥"),
        ("Ｐａｒｉｓ　２０２４", "paris 2024"),
        ("STRASSE Straße", "strasse strasse"),
        ("rock´n´roll", "rocknroll"),  # NFKC makes a space and a mark of each accent
        ("20℃", "20c"),
        ("「東京」", "東京"),
        ("I ❤️ NY 👩🏽‍🚀", "i ny"),
        ("!!!", ""),
        ("", ""),
    ],
)
def test_normal_forms(text, expected):
    assert normalize(text) == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"articles": True}, "cafe 1 nan"),
        ({"case": False}, "The Cafe 1 AN nan"),
        ({"case": False, "articles": True}, "Cafe 1 nan"),
        ({"punctuation": False}, 'the "cafe" 1, an nan'),
        ({"unicode": "none"}, "the cafe ① an nan"),
    ],
)
def test_options(options, expected):
    assert normalize(' The "Cafe"  ①, AN nan'.replace(",", "" if "unicode" in options else ","), **options) == expected


@given(st.text() | TRICKY, OPTIONS)
def test_normalising_twice_changes_nothing(text, options):
    once = normalize(text, **options)

    assert normalize(once, **options) == once


@given(st.text() | TRICKY)
def test_case_and_composition_do_not_matter(text):
    assert normalize(text.casefold()) == normalize(text)
    assert normalize(unicodedata.normalize("NFC", text)) == normalize(unicodedata.normalize("NFD", text))


@given(TRICKY)
def test_the_default_form_is_nfkc_and_has_single_blanks(text):
    form = normalize(text)

    assert form == unicodedata.normalize("NFKC", form)
    assert form == " ".join(form.split())


def test_every_punctuation_mark_and_symbol_is_known():
    known = set(normalization._characters("PSMC"))
    categories = {c: unicodedata.category(c) for c in map(chr, range(sys.maxunicode + 1))}

    assert {c for c, category in categories.items() if category[0] in "PSM" or category == "Cf"} <= known


def test_pairs_bring_their_normal_forms_or_get_them():
    pairs = Pairs.of(["A b!", None], [["A", "B."], ["C"]])

    responses, references = pairs.normalized_texts

    assert responses.to_pylist() == ["a b", None]
    assert references.to_pylist() == ["a", "b", "c"]

    forms = (pa.array(["x", None], pa.string()), pa.array(["p", "q", "r"]))
    assert Pairs(pairs.responses, pairs.references, normalized=forms).normalized_texts is forms


@given(st.lists(st.none() | st.lists(TRICKY | st.text(), max_size=4).map(" ".join), max_size=4), OPTIONS)
@example([None, "", "  ", "a -5 ! \u0301 b", "a. the 3. , x", "\u00b4 \u0301a", "qzx 'qzx'"], ALL)
def test_columns_are_normalised_as_their_texts_are(texts, options):
    column = normalized_column(pa.array(texts, pa.string()), **options)

    assert column.to_pylist() == [None if text is None else normalize(text, **options) for text in texts]
