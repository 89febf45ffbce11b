"""Records and mappings to load both ways."""

from hypothesis import strategies as st

LETTERS = "ab \"'\\/[],{}:é東😀\0\t\n\r\x0b\x1c\x1f\x7f\x85\xa0\u2028\u200a\u3000_-.0"
WORDS = [
    "Paris", "a/b", " a / b ", "/", "['a', 'b']", '["a", "b"]', '["a", null]', '[ "\\"", "é" ]', "[]", "[null]", "[1]",
    '["\\u00e9"]', "[sic]", '["a"] ', ' ["a"]', "yes", "no", "TRUE", "0", "1", "1.0", "1.50", "-0.5", "2", "1e3",
    "1_0", "nan",
    "inf", "1e999", " 1 ", "x" * 12, "é" * 7, "x" * 51, "0" * 64, "\ud83d", "e3b0c44298fc1c149afbf4c8996fb924",
]  # fmt: skip
TEXTS = st.sampled_from(WORDS) | st.text(LETTERS, max_size=6)
SCALARS = st.one_of(TEXTS, TEXTS, st.none(), st.booleans(), st.integers(-2, 2), st.sampled_from([0.5, 1e300, -0.0]))
LISTS = st.lists(SCALARS, max_size=3)
OBJECTS = st.dictionaries(st.sampled_from(["a", "b", 'c"', "é"]), SCALARS | LISTS, max_size=3)
COLUMNS = ("id", "q", "ref", "ref2", "a", "b", "ok", "ok2", "who", "s", "t", "skip")
LABELS = st.sampled_from(["true", "false", "1", "0", "yes", "no", None, True, False, " ", "maybe", 3])
ANY = st.one_of(SCALARS, SCALARS, LISTS, OBJECTS, st.lists(LISTS, max_size=2))


@st.composite
def values(draw):
    """A record, of which some values may be anything."""
    record = {name: draw(TEXTS) for name in ("q", "a", "b", "who")}
    record["ref"] = draw(TEXTS | LISTS)
    record["ref2"] = draw(st.none() | TEXTS)
    record |= {"ok": draw(LABELS), "ok2": draw(LABELS), "labelled": draw(st.sampled_from([record["a"], None, "x"]))}
    record |= {"s": draw(st.sampled_from([1, 0.25, "0.5", None, "1.50", 0, 7])), "skip": draw(LABELS), "t": draw(LISTS)}
    if not draw(st.integers(0, 3)):
        record[draw(st.sampled_from(COLUMNS))] = draw(ANY)
    for name in draw(st.lists(st.sampled_from(COLUMNS), max_size=1)) if not draw(st.integers(0, 3)) else []:
        record.pop(name, None)
    return record


LIMITS = st.fixed_dictionaries(
    {},
    optional={
        "part_rows": st.integers(2, 5),
        "max_chars": st.sampled_from([5, 12, 100]),
        "require_references": st.booleans(),
    },
)
MAPPINGS = st.fixed_dictionaries(
    {},
    optional={
        "limits": LIMITS,
        "input": st.sampled_from(["q", None]),
        "references": st.sampled_from(["ref", ["ref", "ref2"], ["ref2"], None, "t"]),
        "reference_separator": st.sampled_from(["/", " / ", "é", ","]),
        "candidates": st.sampled_from(
            [
                {"m": {"response": "a"}, "n": {"response": "b"}},
                {"m": {"response": "a", "label": "ok"}},
                {"m": {"response": "a", "label": "ok", "labelled": "labelled"}, "n": {"response": "b", "label": "ok2"}},
                {"m": {"response": "a", "label": {"columns": ["ok", "ok2"], "invert": True}}},
                {"m": {"response": "a", "label": {"columns": ["ok", "ok2", "skip"]}}, "n": {"response": "b"}},
                {"m": {"response": "a", "label": {"columns": ["ok", "ok2"]}, "labelled": "labelled"}},
                {"m": {"response": "a", "label": {"column": "s", "at_least": 1}}},
                {"m": {"response": "a", "latency": "s"}, "n": {"response": "b", "tokens": ["s", "skip"]}},
                {"m": {"response": "a", "label": {"column": "ok", "right": ["yes", True], "wrong": ["no", 3]}}},
            ]
        ),
        "group": st.just("who"),
        "weight": st.sampled_from(["s", "s", "a"]),
        "slices": st.sampled_from([["who"], ["who", "ref2"], ["q"]]),
        "phrases": st.sampled_from(["t", "ref"]),
        "contexts": st.sampled_from(["t", "ref"]),
        "relevant": st.sampled_from(["t", "ref2"]),
        "scores": st.sampled_from(
            [
                {"x": {"column": "s", "bounds": (0, 1)}},
                {"x": {"column": "s"}},
                {"x": {"column": "{candidate}"}},
                {"x": {"columns": ["s", "ok"], "bounds": (0, 1), "human": True}},
            ]
        ),
        "missing_response": st.just("wrong"),
        "lists": st.sampled_from(["first", "join", "draws"]),
        "limit": st.integers(1, 4),
        "exclude": st.sampled_from([{"skip": True}, {"skip": None}, {"ok": "1", "who": "Paris"}, {"skip": "yes"}]),
        "id": st.sampled_from(["id", "id", "who", None]),
    },
).filter(lambda given: given.get("id", "id") or given.get("input", "q"))
