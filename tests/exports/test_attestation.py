"""Attestations: what a statement claims, and that no changed one is confirmed."""

import base64
import json
import random
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from hypothesis import given, settings
from hypothesis import strategies as st

from goldmeter.errors import ExportError
from goldmeter.exports import attestation
from goldmeter.exports.attestation import attest, recheck
from goldmeter.wording.verdicts import Decision
from tasks.__main__ import main
from tests.exports.conftest import with_derived_numbers

VERSIONS = {"base": {"name": "v1", "commit": None}, "head": {"name": "workspace", "commit": None}}


@pytest.fixture(scope="module")
def attested_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the attested run, to be copied; empty before the first test."""
    return tmp_path_factory.mktemp("attested")


@pytest.fixture
def attested(run: Path, attested_run: Path) -> Path:
    """The run in a git repository, attested with a comparison: signed.json, and plain.json without a signature."""
    if not any(attested_run.iterdir()):
        make(run)
        shutil.copytree(run, attested_run, dirs_exist_ok=True)
    else:
        shutil.copytree(attested_run, run, dirs_exist_ok=True)
    return run


def make(run: Path) -> None:
    with_derived_numbers(run)
    compared = VERSIONS | {"decision": attestation._decided(VERSIONS)}
    (run / "comparison.json").write_text(json.dumps(compared), encoding="utf-8")
    key = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    (run / "key.pem").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    (run / "public.pem").write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    for command in (
        ["init", "-q"],
        ["add", "params.yaml", "dvc.yaml", "goldmeter.yaml"],
        ["add", "-f", "prompts"],
    ):
        subprocess.run(["git", *command], check=False)
    who = ["-c", "user.name=a", "-c", "user.email=a@b.example"]
    subprocess.run(["git", *who, "commit", "-qm", "run"], check=True)
    attest(Path("plain.json"), None, Path("comparison.json"))
    attest(Path("signed.json"), Path("key.pem"), Path("comparison.json"))


def outcomes(name: str, *, key: bool = False, comparison: bool = True) -> dict[str, str]:
    """Claim → outcome."""
    found = recheck(Path(name), Path("public.pem") if key else None, Path("comparison.json") if comparison else None)
    return {one.claim: one.outcome for one in found}


@pytest.mark.usefixtures("attested")
def test_what_was_attested_is_confirmed() -> None:
    statement = json.loads(Path("plain.json").read_text(encoding="utf-8"))

    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["predicate"]["comparison"]["decision"]["verdict"] in {*Decision}
    assert statement["predicate"]["comparison"]["base"] == VERSIONS["base"]
    assert statement["predicate"]["results"]["metrics"]["borealis"]["semantic_similarity"]["n_failed"] == 1
    assert "params.yaml" in [one["name"] for one in statement["subject"]]
    assert {*outcomes("plain.json").values()} == {"confirmed"}
    assert {*outcomes("signed.json", key=True).values()} == {"confirmed"}


def at_random(draw: random.Random, document: Any) -> None:
    """Change the document in one place: another value, a field or an entry more or less."""
    places = [(document, name) for name in document]
    for holder, name in places:
        inner = holder[name]
        if isinstance(inner, dict | list):
            places += [(inner, each) for each in (inner if isinstance(inner, dict) else range(len(inner)))]
    holder, name = draw.choice(places)
    kind = draw.choice(["value", "remove", "add"])
    if kind == "remove":
        del holder[name]
    elif kind == "add" and isinstance(holder, dict):
        holder[f"{name}x"] = holder[name]
    elif kind == "add":
        holder.append("x")
    else:
        old = holder[name]
        holder[name] = (
            not old if isinstance(old, bool)
            else old + draw.choice([1e-6, -1e-6, 1]) if isinstance(old, int | float)
            else f"{old}0" if isinstance(old, str)
            else draw.choice([1, True, "x", [1], {"x": 1}])
        )  # fmt: skip


def confirmed(name: str, *, key: bool) -> bool:
    """Whether every claim of a file is confirmed; a file that is no attestation is not."""
    try:
        return {*outcomes(name, key=key).values()} == {"confirmed"}
    except ExportError:
        return False


def derived_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers, files and the decision are derived once: they are the same each time."""
    compared = attestation._comparison(Path("comparison.json"))
    derived, decided, places = attestation._derived(), attestation._decided(compared), attestation._places()
    fresh = attestation._statement(derived, compared | {"decision": decided})
    values = {"_derived": derived, "_decided": decided, "_statement": fresh, "_places": places}
    for name, value in values.items():
        monkeypatch.setattr(attestation, name, lambda *_, value=value: value)


def rewritten() -> Iterator[tuple[bytes, bool]]:
    """Attestations that say something else, or the same in another way, and whether they are to be signed."""
    plain, signed = (Path(f"{name}.json").read_text(encoding="utf-8") for name in ("plain", "signed"))
    yield from ((change_digit(plain, place).encode(), False) for place in places_of(r"\d", plain))
    yield from ((plain.replace(old, new).encode(), False) for old, new in CONFUSABLE.items() if old in plain)
    statement, envelope = json.loads(plain), json.loads(signed)
    subjects = statement["subject"]
    for number, one in enumerate(subjects):
        digest = one["digest"]["sha256"]
        others = [{"sha256": digest.upper()}, {"sha256": digest[:-1]}, {"sha256": [digest]}, {"sha512": digest}, {}]
        for other in others:
            yield (
                json.dumps(statement | {"subject": replaced(subjects, number, one | {"digest": other})}).encode(),
                False,
            )
        for name in (one["name"] + " ", "./" + one["name"], one["name"].upper(), [one["name"]], ""):
            yield json.dumps(statement | {"subject": replaced(subjects, number, one | {"name": name})}).encode(), False
        moved = [*subjects[number + 1 :], *subjects[: number + 1]]
        if moved != subjects:
            yield json.dumps(statement | {"subject": moved}).encode(), False
        yield json.dumps(statement | {"subject": replaced(subjects, number)}).encode(), False
    for name in statement:
        yield plain.replace("{", f'{{"{name}": 1, ', 1).encode(), False
        escaped = f'"\\u{ord(name[0]):04x}{name[1:]}"'
        yield plain.replace("{", f"{{{escaped}: 1, ", 1).encode(), False
    for part in ("payload", "sig"):
        text = envelope[part] if part == "payload" else envelope["signatures"][0]["sig"]
        others = [
            text + "=",
            text.rstrip("=") or text,
            text + "\n",
            " " + text,
            text.replace("+", "-").replace("/", "_"),
        ]
        flipped = [text[:i] + ("A" if text[i] != "A" else "B") + text[i + 1 :] for i in range(0, len(text), 997)]
        for other in {*others, *flipped, text[:-4], ""} - {text}:
            change = {"payload": other} if part == "payload" else {"signatures": [{"sig": other}]}
            yield json.dumps(envelope | change).encode(), True
    for kind in ("", "application/vnd.in-toto+json ", "application/vnd.in‑toto+json", "text/plain", None, ["x"]):
        yield json.dumps(envelope | {"payloadType": kind}).encode(), True
    yield json.dumps(envelope | {"signatures": envelope["signatures"] * 2}).encode(), True
    yield json.dumps(envelope | {"signatures": [envelope["signatures"][0] | {"keyid": "a"}]}).encode(), True
    yield json.dumps(envelope | {"payload": base64.b64encode(b" " + plain.encode()).decode()}).encode(), True
    yield plain.encode(), True


# Character → another one that looks the same.
CONFUSABLE = {"aurora": "\u0430urora", "params.yaml": "params\u2024yaml", "f1": "f\u0031\u200b", "https": "http\u0455"}


def places_of(pattern: str, text: str) -> list[int]:
    return [found.start() for found in re.finditer(pattern, text)]


def change_digit(text: str, place: int) -> str:
    return f"{text[:place]}{(int(text[place]) + 1) % 10}{text[place + 1 :]}"


def replaced(values: list[Any], place: int, *others: Any) -> list[Any]:
    return [*values[:place], *others, *values[place + 1 :]]


@pytest.mark.long
def test_a_thousand_changed_attestations_are_not_confirmed(attested: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    derived_once(monkeypatch)
    bundles = {*rewritten()}

    for content, is_signed in bundles:
        (attested / "changed.json").write_bytes(content)
        assert not confirmed("changed.json", key=is_signed), content[:2000]
    assert len(bundles) >= 1000


@pytest.mark.property
def test_no_changed_statement_is_confirmed(attested: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    derived_once(monkeypatch)
    plain, signed = (Path(f"{name}.json").read_bytes() for name in ("plain", "signed"))
    meaning = json.loads(plain)

    @settings(max_examples=settings.default.max_examples * 5 if settings.default else 50)
    @given(st.integers(0, 2**32), st.booleans(), st.booleans())
    def no_mutation_passes(seed: int, is_signed: bool, is_bytes: bool) -> None:
        draw = random.Random(seed)  # noqa: S311
        content = bytearray(signed if is_signed else plain)
        if is_bytes:
            content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
        else:
            document = json.loads(content)
            at_random(draw, document)
            content = bytearray(json.dumps(document).encode())
        Path("changed.json").write_bytes(content)
        try:
            same = json.loads(content) == (json.loads(signed) if is_signed else meaning)
        except ValueError:
            same = False

        assert confirmed("changed.json", key=is_signed) <= same

    no_mutation_passes()
    assert attested


@pytest.mark.usefixtures("attested")
def test_the_order_of_keys_has_no_meaning() -> None:
    statement = json.loads(Path("plain.json").read_text(encoding="utf-8"))
    Path("sorted.json").write_text(json.dumps(statement, sort_keys=True), encoding="utf-8")

    assert confirmed("sorted.json", key=False)


def without_tables(run: Path) -> None:
    shutil.rmtree(run / "data/judge")


def other_settings(run: Path) -> None:
    text = (run / "params.yaml").read_text(encoding="utf-8")
    (run / "params.yaml").write_text(text + "\n", encoding="utf-8")


def other_scores(run: Path) -> None:
    for path in (run / "data/lexical").iterdir():
        path.write_bytes((run / "v1/data/lexical" / path.name).read_bytes())


@pytest.mark.parametrize(
    ("change", "claim", "outcome"),
    [
        (without_tables, "predicate / results / metrics / aurora / f1 / value", "could not be checked"),
        (without_tables, "subject / data/judge/", "could not be checked"),
        (other_settings, "subject / params.yaml / digest / sha256", "differs"),
        (other_settings, "predicate / commit", "differs"),
        (other_scores, "predicate / results / metrics / borealis / f1 / value", "differs"),
    ],
)
def test_a_changed_folder(attested: Path, change: Callable[[Path], None], claim: str, outcome: str) -> None:
    change(attested)

    found = outcomes("plain.json")

    assert {one for name, one in found.items() if name.startswith(claim)} == {outcome}


@pytest.mark.usefixtures("attested")
def test_a_decision_that_its_versions_do_not_give_is_neither_attested_nor_confirmed() -> None:
    document = json.loads(Path("comparison.json").read_text(encoding="utf-8"))
    document["decision"]["verdict"] = next(one for one in Decision if one != document["decision"]["verdict"])
    Path("comparison.json").write_text(json.dumps(document), encoding="utf-8")

    with pytest.raises(ExportError, match="another decision"):
        attest(Path("x.json"), None, Path("comparison.json"))
    assert outcomes("plain.json")["predicate / comparison / sha256"] == "differs"
    assert outcomes("plain.json")["predicate / comparison / decision / verdict"] == "confirmed"


@pytest.mark.usefixtures("attested")
def test_a_decision_without_its_base_could_not_be_checked(capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree("v1")

    status = main(["recheck", "plain.json", "--comparison", "comparison.json"])

    assert (status, {outcome for claim, outcome in outcomes("plain.json").items() if " / decision / " in claim}) == (
        2, {"could not be checked"}
    )  # fmt: skip
    assert "v1" in capsys.readouterr().out


@pytest.mark.usefixtures("attested")
def test_what_was_not_given_is_named_and_not_confirmed() -> None:
    found = outcomes("signed.json", comparison=False)

    unchecked = {claim for claim, outcome in found.items() if outcome != "confirmed"}
    assert {found[claim] for claim in unchecked} == {"could not be checked"}
    assert {claim.split(" / ")[1] for claim in unchecked if "/" in claim} == {"comparison"}
    assert "signature: no --key was given" in unchecked


@pytest.mark.usefixtures("attested")
def test_a_key_asks_for_a_signature(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["recheck", "plain.json", "--key", "public.pem"])

    assert (status, capsys.readouterr().out) == (2, "differs: signature: there is none\nconfirmed: 0 of 1 claim\n")
    assert main(["recheck", "signed.json", "--key", "public.pem", "--comparison", "comparison.json"]) == 0


@pytest.mark.usefixtures("attested")
def test_a_claim_can_not_print_a_line_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    statement = json.loads(Path("plain.json").read_text(encoding="utf-8"))
    statement["predicate"]["x\nconfirmed: 5 of 5 claims"] = 1
    Path("changed.json").write_text(json.dumps(statement), encoding="utf-8")

    assert main(["recheck", "changed.json"]) == 2

    assert "differs: predicate / x confirmed: 5 of 5 claims\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{}",
        b"\xff",
        b'{"payload": 1}',
        b"[" * 100_000,
        b'{"subject": [1]}',
        b'{"subject": [], "subject": []}',
    ],
)
def test_a_file_that_is_no_attestation(content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.json").write_bytes(content)

    with pytest.raises(ExportError, match=r"^x\.json: no "):
        recheck(Path("x.json"))


@pytest.mark.usefixtures("attested")
@pytest.mark.parametrize("name", ["public.pem", "params.yaml", "missing.pem"])
def test_what_is_no_private_key_is_refused(name: str) -> None:
    with pytest.raises((ExportError, OSError), match=name):
        attest(Path("x.json"), Path(name))


def test_the_signature_is_of_the_encoding_of_dsse() -> None:
    assert attestation._pae(b"hello") == b"DSSEv1 28 application/vnd.in-toto+json 5 hello"


@pytest.mark.usefixtures("attested")
def test_another_tool_verifies_the_envelope() -> None:
    envelope = json.loads(Path("signed.json").read_text(encoding="utf-8"))
    payload, signature = (base64.b64decode(one) for one in (envelope["payload"], envelope["signatures"][0]["sig"]))

    key = Ed25519PrivateKey.from_private_bytes(bytes(range(32))).public_key()
    key.verify(signature, f"DSSEv1 28 application/vnd.in-toto+json {len(payload)} ".encode() + payload)
