import io
import json
from types import ModuleType

from rich.console import Console

from benchmarks.report import Floor, Result, Table, keep, show

RESULT = Result(
    (Table("Rates", ({"metric": "bleu", "ratio": 123.456789, "difference": None},)),),
    (Floor("each alone", "at least", 1.0, "x", 123.456789), Floor("memory", "at most", 3.0, "GB", 4.0)),
    {"cores": "one core"},
)
LEXICAL, STAGE = (ModuleType(f"benchmarks.{name}", "Rates.\n\nOn {cores}.") for name in ("lexical", "stage"))
OTHER = Result((), (), {"cores": ""})


def test_a_section_is_written_with_machine_and_floors(tmp_path):
    keep(LEXICAL, RESULT, 12.34567, {"cpu": "x", "memory_gib": 7.77777}, tmp_path / "reports/benchmarks.json")

    assert json.loads((tmp_path / "reports/benchmarks.json").read_text()) == {
        "schema": 1,
        "machine": {"cpu": "x", "memory_gib": 7.778},
        "sections": {
            "lexical": {
                "seconds": 12.35,
                "about": ["On one core."],
                "tables": [{"title": "Rates", "rows": [{"metric": "bleu", "ratio": 123.5, "difference": None}]}],
                "floors": [
                    {
                        "what": "each alone",
                        "sense": "at least",
                        "target": 1.0,
                        "unit": "x",
                        "measured": 123.5,
                        "met": True,
                    },
                    {"what": "memory", "sense": "at most", "target": 3.0, "unit": "GB", "measured": 4.0, "met": False},
                ],
            }
        },
    }


def test_sections_of_the_same_machine_stay_and_those_of_another_go(tmp_path):
    path = tmp_path / "benchmarks.json"
    keep(LEXICAL, RESULT, 1.0, {"cores": 2}, path)

    keep(STAGE, OTHER, 1.0, {"cores": 2}, path)
    assert list(json.loads(path.read_text())["sections"]) == ["lexical", "stage"]
    keep(STAGE, OTHER, 1.0, {"cores": 4}, path)
    assert list(json.loads(path.read_text())["sections"]) == ["stage"]


def test_a_section_is_printed():
    shown = io.StringIO()

    show(LEXICAL, RESULT, Console(file=shown, width=100))

    assert "123.5" in shown.getvalue()
    assert "at most 3 GB" in shown.getvalue()
