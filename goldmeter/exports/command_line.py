"""`python -m tasks export`, `gx`, `attest` and `recheck`: their arguments and last lines; forms are imported late."""

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from goldmeter.console.arguments import Parser
from goldmeter.console.format import counted
from goldmeter.console.json_output import add_json, print_json, texts_to_stderr
from goldmeter.console.terminal import say
from goldmeter.errors import ExportError

WORKSPACE = "workspace"
FORMS = {
    "junit": "Write a comparison as JUnit XML, a test case per candidate and measure that can stop a release",
    "mlflow": "Write the results as runs of MLflow, one per candidate",
    "otel": "Write every score as an OpenTelemetry event, gen_ai.evaluation.result, in OTLP's JSON",
    "eee": "Write the results as JSON for Every Eval Ever, a file per candidate",
}


def add_arguments(export: Parser) -> None:
    """Add a subcommand for each form to `python -m tasks export`."""
    forms = export.add_commands("form", FORMS)
    _add_junit(forms["junit"])
    _add_mlflow(forms["mlflow"])
    _add_otel(forms["otel"])
    _add_eee(forms["eee"])
    for name in ("mlflow", "otel", "eee"):
        of_run = forms[name].add_argument
        of_run("--candidate", action="append", default=[], metavar="NAME", help="only this one; repeat; default: all")
        of_run("--version", default=WORKSPACE, help="commit, tag, branch or experiment; default: the workspace")


def add_gx(parser: Parser) -> None:
    """Add the arguments of `python -m tasks gx`."""
    parser.add_argument("folder", metavar="DIR", type=Path, help="where the context is written, in its folder gx")
    parser.set_defaults(run=_gx)


def add_attest(parser: Parser) -> None:
    """Add the arguments of `python -m tasks attest`."""
    _add_attestation(parser, "the JSON file to write", "private key (Ed25519, PEM) that signs it; default: not signed")
    add_json(parser)
    parser.set_defaults(run=_attest)


def add_recheck(parser: Parser) -> None:
    """Add the arguments of `python -m tasks recheck`."""
    _add_attestation(parser, "what `attest` wrote", "public key (Ed25519, PEM) by which it has to be signed")
    add_json(parser)
    parser.set_defaults(run=_recheck)


def _add_attestation(parser: Parser, target: str, key: str) -> None:
    parser.add_argument("target", metavar="FILE", type=Path, help=target)
    parser.add_argument("--key", metavar="PEM", type=Path, help=key)
    comparison = "the file of `flows.compare --json`, for the gate's decision"
    parser.add_argument("--comparison", metavar="JSON", type=Path, help=comparison)


def _add_junit(parser: Parser) -> None:
    parser.add_argument("target", metavar="FILE", type=Path, help="the XML file to write")
    parser.add_argument("base", metavar="BASE", help="the older version; or the file of `flows.compare --json`")
    head = "the newer version; default: the workspace"
    parser.add_argument("head", metavar="HEAD", nargs="?", default=WORKSPACE, help=head)
    parser.set_defaults(run=_junit)


def _add_mlflow(parser: Parser) -> None:
    uri = "MLflow's tracking URI, such as sqlite:///mlflow.db or http://127.0.0.1:5000"
    parser.add_argument("uri", metavar="URI", help=uri)
    experiment = "MLflow's experiment; default: %(default)s"
    parser.add_argument("--experiment", default="goldmeter", metavar="NAME", help=experiment)
    parser.set_defaults(run=_mlflow)


def _add_otel(parser: Parser) -> None:
    parser.add_argument("target", metavar="TARGET", help="a file, or the http address of an OTLP receiver")
    ids = "the ids of rows are those of traced responses: gen_ai.response.id"
    parser.add_argument("--response-ids", action="store_true", help=ids)
    parser.set_defaults(run=_otel)


def _add_eee(parser: Parser) -> None:
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="where the files are written")
    parser.add_argument("--dataset", required=True, metavar="NAME", help="the name of the data set")
    parser.add_argument("--organization", required=True, metavar="NAME", help="who evaluated")
    parser.add_argument(
        "--relationship",
        choices=("first_party", "third_party", "collaborative", "other"),
        default="other",
        help="of the organization to the developer of the models; default: %(default)s",
    )
    model = "the ID of a candidate's model, such as openai/gpt-5; repeat; default: the candidate's name"
    parser.add_argument("--model", action="append", default=[], metavar="CANDIDATE=ID", help=model)
    parser.set_defaults(run=_eee)


def _junit(chosen: argparse.Namespace) -> None:
    from goldmeter.exports import junit

    cases = junit.export(chosen.target, chosen.base, chosen.head)
    say(f"{chosen.target}: {counted(cases, 'test case')}")


def _mlflow(chosen: argparse.Namespace) -> None:
    from goldmeter.exports import mlflow_runs
    from goldmeter.exports.results import results

    with results(chosen.version, chosen.candidate) as found:
        for candidate, run in mlflow_runs.export(found, chosen.uri, chosen.experiment).items():
            say(f"{candidate}: MLflow run {run}")


def _otel(chosen: argparse.Namespace) -> None:
    from goldmeter.exports import otel_events
    from goldmeter.exports.results import results
    from goldmeter.pipeline.credentials import without_credentials

    with results(chosen.version, chosen.candidate) as found:
        events = otel_events.export(found, chosen.target, response_ids=chosen.response_ids)
    say(f"{without_credentials(chosen.target)}: {counted(events, 'event')}")


def _eee(chosen: argparse.Namespace) -> None:
    from goldmeter.exports import every_eval_ever
    from goldmeter.exports.results import results

    source = every_eval_ever.Source(chosen.dataset, chosen.organization, chosen.relationship, _models(chosen.model))
    with results(chosen.version, chosen.candidate) as found:
        for path in every_eval_ever.export(found, chosen.folder, source):
            say(path)


def _models(pairs: Sequence[str]) -> dict[str, str]:
    """Candidate → ID of each --model; raises ExportError for another form."""
    split = [pair.partition("=") for pair in pairs]
    for pair, (candidate, _, model) in zip(pairs, split, strict=True):
        if not (candidate and model):
            raise ExportError(f"--model {pair}: expected CANDIDATE=ID")
    return {candidate: model for candidate, _, model in split}


def _gx(chosen: argparse.Namespace) -> None:
    from goldmeter.exports import gx_context

    found = gx_context.export(chosen.folder)
    met = f"not met: {', '.join(found.failed)}" if found.failed else "all met"
    say(f"{chosen.folder}: {counted(found.suites, 'suite')} with {counted(found.expectations, 'expectation')}, {met}")
    say(f"Data Docs: {found.page}")


def _attest(chosen: argparse.Namespace) -> None:
    from goldmeter.exports import attestation

    attestation.attest(chosen.target, chosen.key, chosen.comparison)
    if chosen.json:
        print_json({"file": chosen.target, "signed": chosen.key is not None})
        return
    say(f"{chosen.target}: {'signed' if chosen.key else 'not signed'}")


def _recheck(chosen: argparse.Namespace) -> None:
    from goldmeter.exports import attestation

    checked = attestation.recheck(chosen.target, chosen.key, chosen.comparison)
    others = [one for one in checked if one.outcome != "confirmed"]
    with texts_to_stderr(is_json=chosen.json):
        for one in others:
            if one.why is None:
                say(f"{one.outcome}: {' '.join(one.claim.split())}")
        for why, number in Counter(one.why for one in others if one.why is not None).items():
            say(f"could not be checked: {counted(number, 'claim')}: {why}")
        say(f"confirmed: {len(checked) - len(others):,} of {counted(len(checked), 'claim')}")
    if chosen.json:
        print_json({"confirmed": not others, "claims": checked})
    if others:
        differing = sum(one.outcome == "differs" for one in others)
        unchecked = f"{len(others) - differing:,} could not be checked"
        raise ExportError(f"{chosen.target}: {differing:,} of {counted(len(checked), 'claim')} differ, {unchecked}")
