"""A run's results as an in-toto Statement, and whether what one claims can be derived again from the files here.

Source: https://github.com/in-toto/attestation, spec/v1/statement.md; https://github.com/secure-systems-lab/dsse,
protocol.md and envelope.md.
"""

import base64
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

from goldmeter.comparison.gate import Gate
from goldmeter.comparison.of_versions import compare_versions
from goldmeter.errors import ExportError, GoldmeterError
from goldmeter.estimates.estimate_rows import REPEATED
from goldmeter.estimates.metrics_report import METRICS
from goldmeter.exports.results import results, written
from goldmeter.history.labelled_answers import compare_options
from goldmeter.pipeline import git, params, revisions
from goldmeter.pipeline.contents import report_of
from goldmeter.pipeline.dvc_yaml import GOLDMETER_YAML, stages
from goldmeter.pipeline.files import to_json
from goldmeter.pipeline.hashing import sha256
from goldmeter.pipeline.tables import Parts
from goldmeter.reporting.metrics_document import aggregate
from goldmeter.text.json_objects import unique_members
from goldmeter.versions.version import LOCK, PARAMS, PIPELINE, WORKSPACE, versions

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "urn:goldmeter:evaluation-result:v1"
PAYLOAD = "application/vnd.in-toto+json"
_COMMIT = re.compile("[0-9a-f]{40,64}")
_NAMES_A_MODEL = {"provider", "model", "revision", "precision"}
_COMPARED = ("sha256", "base", "head", "decision")
_HEADLINE = ("measure", "value", "low", "high", "n", "status", "by")
# Files that git keeps and numbers depend on.
_IN_GIT = (PARAMS, PIPELINE, LOCK, GOLDMETER_YAML, "prompts", "tasks")
Outcome = Literal["confirmed", "differs", "could not be checked"]
# Position of a value in the statement: names of members, and numbers in lists.
Place = tuple[str | int, ...]
Claims = dict[Place, Any]
_COMMIT_AT, _RESULTS_AT, _COMPARISON_AT = (("predicate", name) for name in ("commit", "results", "comparison"))
_DECISION_AT = (*_COMPARISON_AT, "decision")


class Checked(NamedTuple):
    """A claim of an attestation, and what came of it; why: the reason, if its source is not here."""

    claim: str
    outcome: Outcome
    why: str | None = None


def attest(target: Path, key: Path | None = None, comparison: Path | None = None) -> None:
    """Write the statement of the workspace; with a private key (Ed25519, PEM) in a signed DSSE envelope.

    Args:
        target: The file.
        key: Of the private key.
        comparison: What `flows.compare --json` wrote, for the gate's decision.

    Raises:
        VersionError: There are no results, or older ones than settings and data; or a compared version is not here.
        ExportError: A file can't be read or written, or its comparison has another decision if it is made again.
    """
    document = _comparison(comparison) if comparison else {}
    if document and document["decision"] != _decided(document):
        options = "`python -m tasks attest` takes what `python -m flows.compare` wrote without --map and --rescore"
        raise ExportError(f"{comparison}: its versions and settings give another decision now; {options}")
    with results(WORKSPACE) as found:
        text = to_json(_statement(cast(Mapping[str, Any], found.report), document))
    if key:
        text = to_json(_envelope(text.encode(), _key(key, "private").sign(_pae(text.encode()))))
    with written(target) as temporary:
        temporary.write_text(text, encoding="utf-8")


def recheck(path: Path, key: Path | None = None, comparison: Path | None = None) -> list[Checked]:
    """Derive every claim of an attestation again: digests from the files here, numbers from the tables with scores.

    Args:
        path: What `attest` wrote.
        key: The public key (Ed25519, PEM), if it has to be signed.
        comparison: The file that `attest` was given.

    Raises:
        ExportError: The file is no attestation, or a file can't be read.
    """
    payload, signature = _opened(path, key)
    if signature and signature.outcome == "differs":
        return [signature]
    claimed = _claims(_decoded(payload, path), path)
    document = _comparison(comparison) if comparison else {}
    unknown: dict[Place, str] = {} if document else {_COMPARISON_AT: "no --comparison was given"}
    report = _unless_unknown(_derived, _RESULTS_AT, unknown)
    decision = _unless_unknown(lambda: _decided(document), _DECISION_AT, unknown) if document else None
    now = _claims(_statement(report or {}, document and document | {"decision": decision}), path)
    checked = [signature] if signature else []
    for place in dict.fromkeys([*claimed, *now]):
        why = next((why for source, why in unknown.items() if place[: len(source)] == source), None)
        outcome = _outcome(place, claimed, now) if why is None else "could not be checked"
        checked.append(Checked(" / ".join(map(str, place)), outcome, why))
    return checked


def _unless_unknown(derive: Callable[[], dict[str, Any]], place: Place, unknown: dict[Place, str]) -> Any:
    """What can be derived; None if that fails, whose reason is then added to `unknown`."""
    try:
        return derive()
    except (GoldmeterError, OSError, LookupError) as error:
        unknown[place] = str(error)
        return None


def _outcome(place: Place, claimed: Claims, now: Claims) -> Outcome:
    """Compare a claim with what was derived; what has no counterpart differs, unless it is a file that is not here."""
    if place not in claimed:
        return "differs"
    if place == _COMMIT_AT and claimed[place] is not None:
        return _of_commit(claimed[place])
    if place in now:
        is_same = json.dumps(claimed[place]) == json.dumps(now[place])
        return "confirmed" if is_same else "could not be checked" if place == _COMMIT_AT else "differs"
    is_missing = place[0] == "subject" and not (file := Path(str(place[1]))).is_file()
    return "could not be checked" if is_missing and any(file.is_relative_to(one) for one in _places()) else "differs"


def _of_commit(claimed: Any) -> Outcome:
    """Whether the files that git keeps are those of a commit."""
    if git.answer("rev-parse", "--git-dir") is None:
        return "could not be checked"
    if not (isinstance(claimed, str) and _COMMIT.fullmatch(claimed)):
        return "differs"
    same = git.answer("diff", "--quiet", f"{claimed}^{{commit}}", "--", *_IN_GIT)
    return "differs" if same is None else "confirmed"


def _statement(report: Mapping[str, Any], comparison: Mapping[str, Any]) -> dict[str, Any]:
    """The statement of the files here. report: as reports/metrics.json; comparison: the document; {} leaves one out."""
    library, settings = revisions.read(), params.effective()
    decide = {name: value for name, value in settings.items() if name != "run"}
    clean = git.answer("status", "--porcelain", "--", *_IN_GIT) == ""
    predicate = {
        "library": {"name": "goldmeter", "version": library.version, "revisions": library.revisions},
        "commit": git.answer("rev-parse", "--verify", "--quiet", "HEAD") if clean else None,
        "settings": {
            "sha256": sha256(json.dumps(decide, sort_keys=True)).hex(),
            **{name: settings[name] for name in ("aggregate", "gate")},
        },
        "models": {name: models for name, section in decide.items() if (models := _models(section))},
    }
    files = [
        {"name": name, "digest": {"sha256": sha256(Path(name)).hex()}} for name in _files() if Path(name).is_file()
    ]
    predicate |= {"results": _numbers(report)} if report else {}
    predicate |= {"comparison": {name: comparison[name] for name in _COMPARED}} if comparison else {}
    return {"_type": STATEMENT, "subject": files, "predicateType": PREDICATE, "predicate": predicate}


def _numbers(report: Mapping[str, Any]) -> dict[str, Any]:
    """The data's hash, the headlines, and each metric of each candidate with its interval, counts and bounds."""
    headlines = report.get("headlines", {})
    return {
        "data": {name: report["dataset"][name] for name in ("hash", "rows")},
        "confidence": report["confidence"],
        "primary": report.get("primary"),
        "headlines": {of: {name: one.get(name) for name in _HEADLINE} for of, one in headlines.items()},
        "metrics": {
            of: {metric: {name: one.get(name) for name in (*REPEATED, "pass_rate")} for metric, one in metrics.items()}
            for of, metrics in report["candidates"].items()
        },
    }


def _derived() -> dict[str, Any]:
    """What reports/metrics.json would be if the stage ran now."""
    tables = {name: Parts(Path("data", name)) for name in stages()["aggregate"].tables_read}
    with tempfile.TemporaryDirectory(prefix="goldmeter-") as scratch:
        [output] = aggregate(tables, params.for_stage("aggregate"), scratch=Path(scratch))
    return cast(dict[str, Any], json.loads(cast(str, output[METRICS])))


def _files() -> list[str]:
    """The files below these places that are no cache."""
    every = {path for place in _places() for path in (Path(place), *Path(place).rglob("*")) if not path.is_dir()}
    return sorted(path.as_posix() for path in every if not {"__pycache__", "ledger"} & {*path.parts})


def _places() -> set[str]:
    """The files and folders of a version: settings, data, prompts, and what stages wrote up to the numbers."""
    entries = stages()
    read = {dep for entry in entries.values() for dep in entry.deps if not dep.startswith("goldmeter/")}
    wrote = {out for entry in entries.values() for out in entry.outs if out.startswith("data/")}
    reports = {METRICS, *(str(report_of(name)) for name in entries if name != "report")}
    return {PARAMS, PIPELINE, LOCK, GOLDMETER_YAML, params.effective()["dataset"]["path"], *read, *wrote, *reports}


def _models(section: Any) -> Any:
    """What of a section of params.yaml names a model; None if nothing does."""
    if isinstance(section, Mapping):
        found = {name: value if name in _NAMES_A_MODEL else _models(value) for name, value in section.items()}
        unused = {"model"} if section.get("provider") == "offline" else set()
        return {name: value for name, value in found.items() if value is not None and name not in unused} or None
    return ([one for value in section if (one := _models(value))] or None) if isinstance(section, list) else None


def _comparison(path: Path) -> dict[str, Any]:
    """A comparison of two versions, with the digest of its file."""
    document = _decoded(path.read_bytes(), path)
    if not isinstance(document, dict) or not {"base", "head", "decision"} <= document.keys():
        raise ExportError(f"{path}: no comparison; `python -m flows.compare BASE --json FILE` writes one")
    return document | {"sha256": sha256(path).hex()}


def _decided(comparison: Mapping[str, Any]) -> dict[str, Any]:
    """The gate's decision on the two versions of a comparison by the settings here."""
    try:
        named = [str(comparison[side]["commit"] or comparison[side]["name"]) for side in ("base", "head")]
    except (LookupError, TypeError) as error:
        raise ExportError(f"the comparison does not name its versions ({error!r})") from None
    gate = params.section(Gate, params.raw(), "gate")
    with versions(named) as (base, head):
        return cast(dict[str, Any], compare_versions(base, head, gate, compare_options())["decision"])


def _claims(statement: Any, path: Path) -> Claims:
    """Every value of a statement by its position; a file's by its name instead of its place in the list."""
    try:
        files = {
            ("subject", str(one["name"])): {name: value for name, value in one.items() if name != "name"}
            for one in statement["subject"]
        }
        others = {(name,): value for name, value in statement.items() if name != "subject"}
        claims = dict(leaf for place, value in (files | others).items() for leaf in _leaves(value, place))
        names = [one["name"] for one in statement["subject"]]
        is_ordered = names == sorted({str(name) for name in names})
    except (LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ExportError(f"{path}: no in-toto Statement ({error!r}); `python -m tasks attest` writes one") from None
    if not is_ordered:
        raise ExportError(f"{path}: no statement of one digest for each file, by name")
    return claims


def _leaves(value: Any, place: Place) -> Iterator[tuple[Place, Any]]:
    """Yield the values below a position; an empty object or list is a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if not inner or not value:
        yield place, value
        return
    for name, one in inner:
        yield from _leaves(one, (*place, name))


def _pae(payload: bytes) -> bytes:
    """What a DSSE signature is of: the pre-authentication encoding."""
    return b"DSSEv1 %d %s %d %s" % (len(PAYLOAD), PAYLOAD.encode(), len(payload), payload)


def _envelope(payload: bytes, signature: bytes) -> dict[str, Any]:
    body, signed = (base64.b64encode(one).decode() for one in (payload, signature))
    return {"payloadType": PAYLOAD, "payload": body, "signatures": [{"sig": signed}]}


def _opened(path: Path, key: Path | None) -> tuple[bytes, Checked | None]:
    """The statement in a file, and what came of its signature; None where there is none and no key was given."""
    content = path.read_bytes()
    found = _decoded(content, path)
    if not isinstance(found, dict) or "payload" not in found:
        return content, Checked("signature: there is none", "differs") if key else None
    try:
        [signed] = found["signatures"]
        payload, signature = (base64.b64decode(text, validate=True) for text in (found["payload"], signed["sig"]))
        is_ours = found == _envelope(payload, signature)
    except (LookupError, TypeError, ValueError) as error:
        raise ExportError(f"{path}: no DSSE envelope of one signature ({error!r})") from None
    if not is_ours:
        raise ExportError(f"{path}: no envelope of {PAYLOAD} with the fields payloadType, payload and signatures only")
    if key is None:
        return payload, Checked("signature: no --key was given", "could not be checked")
    from cryptography.exceptions import InvalidSignature

    try:
        _key(key, "public").verify(signature, _pae(payload))
    except InvalidSignature:
        return payload, Checked("signature", "differs")
    return payload, Checked("signature", "confirmed")


def _key(path: Path, kind: Literal["private", "public"]) -> Any:
    """An Ed25519PrivateKey or Ed25519PublicKey of the package cryptography."""
    from cryptography.hazmat.primitives.asymmetric import ed25519
    from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

    content, key = path.read_bytes(), cast(Any, None)
    with suppress(ValueError, TypeError):  # TypeError: a passphrase is missing
        is_private = kind == "private"
        key = load_pem_private_key(content, None) if is_private else load_pem_public_key(content)
    if not isinstance(key, ed25519.Ed25519PrivateKey if kind == "private" else ed25519.Ed25519PublicKey):
        raise ExportError(f"{path}: no Ed25519 {kind} key in PEM without a passphrase")
    return key


def _decoded(content: bytes, path: Path) -> Any:
    try:
        return json.loads(content.decode(), object_pairs_hook=unique_members)
    except (ValueError, RecursionError) as error:
        raise ExportError(f"{path}: no JSON ({error})") from None
