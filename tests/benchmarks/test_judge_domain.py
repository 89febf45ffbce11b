from benchmarks.judge_domain import line, student_answers, table

XML = """<question id="q"><questionText>{}</questionText>
<referenceAnswers><referenceAnswer>Paris</referenceAnswer>
<referenceAnswer>the city of Paris</referenceAnswer></referenceAnswers>
<studentAnswers><studentAnswer accuracy="correct">It is Paris.</studentAnswer>
<studentAnswer accuracy="contradictory">Lyon</studentAnswer></studentAnswers></question>"""


def test_answers_of_students_are_read_from_every_file_below_a_folder(tmp_path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/one.xml").write_text(XML.format("Where is it?"), encoding="utf-8")

    rows = [*student_answers(tmp_path)]

    assert [(row.question, row.response, row.verdict) for row in rows] == [
        ("Where is it?", "It is Paris.", True),
        ("Where is it?", "Lyon", False),
    ]
    assert rows[0].references == ["Paris", "the city of Paris"]


def test_rows_outside_are_counted_by_reason(tmp_path) -> None:
    for name, question in (("one", "Where is it?"), ("two", "Why is it there?")):
        (tmp_path / f"{name}.xml").write_text(XML.format(question), encoding="utf-8")

    assert line("made", [*student_answers(tmp_path)]) == (
        "made", "4", "2", "1.000", "1.000", 'a question of kind "why" 2',
    )  # fmt: skip
    assert table({"made": tmp_path}).count("\n") == 2
