"""What Prefect's page for a quick run offers."""

from pathlib import Path

from flows.schedule import ON_DEMAND
from goldmeter.serving.on_demand import deployment_name, deployments

COMMON = Path("/srv/nq/.git")


def test_each_is_named_after_the_checkout_and_runs_one_at_a_time() -> None:
    made = deployments(ON_DEMAND, COMMON, ["goldmeter", "here:/srv/nq/.git"])

    assert [(each.flow_name, each.name, each.entrypoint) for each in made] == [
        ("evaluate", "nq", "flows.evaluate.evaluate"),
        ("compare", "nq", "flows.compare.compare"),
    ]
    assert {(each.concurrency_limit, tuple(each.tags)) for each in made} == {(1, ("goldmeter", "here:/srv/nq/.git"))}
    assert all(each.description and "/srv/nq" in each.description for each in made)
    assert deployment_name(Path("/srv/bare.git")) == "bare.git"
    assert deployment_name(COMMON, "nightly") == "nq-nightly"
    assert deployment_name(Path("/srv/other/.git"), "nightly") == "other-nightly"


def test_every_parameter_has_a_type_a_meaning_and_a_default() -> None:
    shown = {each.flow_name: each._parameter_openapi_schema for each in deployments(ON_DEMAND, COMMON, [])}
    options = {flow: schema.properties for flow, schema in shown.items()}

    assert {flow: [*properties] for flow, properties in options.items()} == {
        "evaluate": ["retry_failed"],
        "compare": ["base", "head", "more", "against", "renamed", "rescore"],
    }
    for properties in options.values():
        for option in properties.values():
            assert option["description"]
            assert option["type"] in {"string", "boolean", "array", "object"}
            assert option["default"] is not None
    assert options["compare"]["against"]["enum"] == ["first", "last"]
