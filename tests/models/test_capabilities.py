import json

import pytest

from tasks.models.chat.capabilities import FORMATS, CapabilityStore, Support


def test_less_and_less_is_asked_for():
    support = Support()

    support = support.reduced("Unsupported value: 'temperature' does not support 0")
    assert support == Support("json_schema", ("temperature",))

    formats = []
    while support := support.reduced("no"):
        formats.append(support.format)
    assert formats == [*FORMATS[1:]]


def test_what_was_found_out_is_remembered_by_server(tmp_path):
    memory = CapabilityStore(tmp_path / "servers.json")
    memory.save("here a", Support("text", ("seed",)))
    memory.save("there b", Support())

    assert CapabilityStore(tmp_path / "servers.json").load("here a") == Support("text", ("seed",))
    assert memory.load("there b") == Support()
    assert memory.load("elsewhere") is None
    assert [path.name for path in tmp_path.iterdir()] == ["servers.json"]


@pytest.mark.parametrize(
    "content", ["", "no json", "[1]", '{"here": 1}', '{"here": {"format": "xml"}}', '{"here": {"format": ["text"]}}']
)
def test_what_can_not_be_read_is_found_out_again(tmp_path, content):
    (tmp_path / "servers.json").write_text(content)

    assert CapabilityStore(tmp_path / "servers.json").load("here") is None


def test_a_folder_that_can_not_be_written_is_no_error(tmp_path):
    CapabilityStore(tmp_path / "nowhere" / "servers.json").save("here", Support())


def test_unknown_options_in_the_memory_are_left_out(tmp_path):
    (tmp_path / "servers.json").write_text(json.dumps({"here": {"format": "text", "dropped": ["seed", "model"]}}))

    assert CapabilityStore(tmp_path / "servers.json").load("here") == Support("text", ("seed",))
