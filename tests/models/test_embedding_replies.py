"""Odd replies of embedding servers: each is one sentence that names the server, and nothing of it is used."""

import gzip
import json
from base64 import b64encode

import httpx2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.console.terminal import TRY_LATER, USER_ERROR, exit_status
from goldmeter.errors import GoldmeterError
from goldmeter.models.bounded_client import BoundedClient
from goldmeter.models.embedding import remote
from goldmeter.models.embedding.remote import OpenAIEncoder
from goldmeter.models.servers import open_client
from tests.raw_server import at_once, raw_server

TEXTS = ["a", "bbbb"]
NO_SERVER = "is no embedding server: its reply "


def reply(*vectors, **facts):
    data = [{"object": "embedding", "index": i, "embedding": vector} for i, vector in enumerate(vectors)]
    return json.dumps({"object": "list", "model": "m", "data": data} | facts).encode()


def indexed(*indices):
    return reply(data=[{"index": index, "embedding": [1.0]} for index in indices])


# Body of a reply with status 200 → what the message says.
BODIES = {
    "HTML": (b"<!doctype html><html><body>Welcome</body></html>", NO_SERVER + "is not JSON"),
    "nothing": (b"", NO_SERVER + "is not JSON"),
    "two documents": (reply([1.0], [2.0]) * 2, NO_SERVER + "is not JSON"),
    "UTF-16": (reply([1.0], [2.0]).decode().encode("utf-16"), NO_SERVER + "is not JSON"),
    "a number without end": (b'{"data": ' + b"9" * 10_000 + b"}", NO_SERVER + "is not JSON"),
    "lists in lists": (b"[" * 200 + b"]" * 200, NO_SERVER + "is not a JSON object"),
    "lists without end": (b"[" * 100_000, NO_SERVER + "has too many"),
    "objects in objects": (b'{"data":' * 290 + b"1" + b"}" * 290, NO_SERVER + "has no list"),
    "a million texts": (b'{"data":[' + b'"ab",' * 1_000_000 + b'""]}', NO_SERVER + "has too many"),
    "a large page": ("<p>Z\u00fcrich \U0001f4a9".encode() * 10_000, "is not JSON.*: '<p>Z..rich"),
    "null": (b"null", NO_SERVER + "is not a JSON object"),
    "a list": (b"[[1.0],[2.0]]", NO_SERVER + "is not a JSON object"),
    "an empty object": (b"{}", NO_SERVER + "has no list `data`"),
    "data is null": (b'{"data": null}', NO_SERVER + "has no list `data`"),
    "data is text": (b'{"data": "[1.0]"}', NO_SERVER + "has no list `data`"),
    "no vectors": (reply(), NO_SERVER + "has 0 vectors for 2 texts"),
    "too many": (reply([1.0], [2.0], [3.0]), NO_SERVER + "has 3 vectors for 2 texts"),
    "items are null": (reply(data=[None, None]), NO_SERVER + "has an item of `data` without an `index`"),
    "index null": (indexed(None, None), NO_SERVER + "has an item of `data` without an `index`"),
    "index truth": (indexed(False, True), NO_SERVER + "has an item of `data` without an `index`"),
    "index twice": (indexed(0, 0), NO_SERVER + "has 2 vectors for 2 texts, or not one of each `index`"),
    "index twice and once": (indexed(0, 1, 1), NO_SERVER + "has 3 vectors for 2 texts"),
    "index huge": (indexed(0, 10**400), NO_SERVER + "has 2 vectors for 2 texts, or not one of each `index`"),
    "no embedding": (reply(data=[{"index": 0}, {"index": 1}]), NO_SERVER + "has an `embedding` that is not a list"),
    "embedding a number": (reply(1.0, 2.0), NO_SERVER + "has an `embedding` that is not a list"),
    "base64": (reply(*[b64encode(bytes(16)).decode()] * 2), NO_SERVER + "has an `embedding` that is not a list"),
    "text for numbers": (reply(["1.0"], ["2.0"]), NO_SERVER + "has an `embedding` that is not a list"),
    "null for numbers": (reply([1.0, None], [2.0, 1.0]), NO_SERVER + "has an `embedding` that is not a list"),
    "truth for numbers": (reply([True], [False]), NO_SERVER + "has an `embedding` that is not a list"),
    "huge integers": (reply([10**400], [1]), "gave vectors that are not of numbers"),
    "different lengths": (reply([1.0], [1.0, 2.0]), "gave vectors of different lengths"),
    "empty vectors": (reply([], []), "gave 2 of 2 vectors that are empty, zero, not finite or out of range"),
    "one zero vector": (reply([1.0, 0.0], [0.0, 0.0]), r"gave 1 of 2 vectors .* the first \[0, 0, …\]"),
    "not a number": (reply([float("nan")], [1.0]), r"gave 1 of 2 vectors .* the first \[nan, …\]"),
    "infinite": (reply([1.0], [float("inf")]), "gave 1 of 2 vectors"),
    "a length that overflows": (reply([1e308, 1e308], [1.0, 0.0]), r"gave 1 of 2 vectors .* the first \[1e\+308, 1e"),
    "a length that vanishes": (reply([1e-170, 1e-170], [1.0, 0.0]), "gave 1 of 2 vectors"),
    "an error": (b'{"error": {"message": "no model m", "code": 404}}', "answered with an error: 'no model m'"),
    "an error in words": (b'{"error": "no model m"}', "answered with an error: 'no model m'"),
    "an odd error": (b'{"error": [1, {"message": null}]}', "answered with an error: '{"),
    "an error with escapes": (b'{"error": "\\u001b[2J\\ud800\\n\\n"}', "answered with an error: '.x1b"),
}  # fmt: skip
HEAD = b"HTTP/1.1 %b\r\nContent-Length: %d\r\n"
JSON = b"Content-Type: application/json\r\n"


def sent(body, status=b"200 OK", headers=JSON):
    return HEAD % (status, len(body)) + headers + b"\r\n" + body


GOOD = reply([3.0, 4.0], [0.0, 2.0])
# A reply as it is sent → exit status, and what the message says.
REPLIES = {
    **{name: (sent(body), USER_ERROR, said) for name, (body, said) in BODIES.items()},
    **{f"redirect {status}": (sent(b"", b"%d Moved" % status, b"Location: http://127.0.0.2:9/v1\r\n"), USER_ERROR,
                              f"answered {status}: it redirects, which is not followed")
       for status in (300, 304, 307)},
    "no content": (sent(b"", b"204 No Content"), USER_ERROR, NO_SERVER + "is not JSON"),
    "an overload in words": (sent(b'{"error": {"message": "later", "code": 429}}'), TRY_LATER, "an error: 'later'"),
    "a gateway in words": (sent(b'{"error": {"message": "down", "status": 502}}'), TRY_LATER, "with an error: 'down'"),
    "a bad request": (sent(b'{"error": {"message": "too long"}}', b"400 Bad Request"), USER_ERROR, "answered 400"),
    "a bad request that is HTML": (sent(b"<html>\x1b[2J", b"404 Not Found"), USER_ERROR, "404; .*: '<html>.x1b"),
    "a bad request of 9 MB": (sent(b'["' + b"x" * 9_000_000, b"400 Bad Request"), USER_ERROR, "answered 400"),
    "a bad gateway": (sent(b"<html>", b"502 Bad Gateway"), TRY_LATER, "answered 502"),
    "an overload": (sent(b"", b"429 Too Many Requests"), TRY_LATER, "answered 429"),
    "a status of its own": (sent(b"", b"799 Odd"), TRY_LATER, "answered 799"),
    "no HTTP": (b"SSH-2.0-OpenSSH_9.2\r\n", TRY_LATER, "did not answer"),
    "nothing at all": (b"", TRY_LATER, "did not answer"),
    "half a body": (sent(GOOD)[:-9], TRY_LATER, "did not answer"),
    "a bomb": (sent(gzip.compress(bytes(1 << 25)), headers=b"Content-Encoding: gzip\r\n"), TRY_LATER,
               "did not answer: 'the reply is too large'"),
    "another compression": (sent(GOOD, headers=b"Content-Encoding: br\r\n"), TRY_LATER, "did not answer"),
    "no compression": (sent(GOOD, headers=b"Content-Encoding: gzip\r\n"), TRY_LATER, "did not answer"),
}  # fmt: skip
FINE = {
    "plain": sent(GOOD),
    "without a type": sent(GOOD, headers=b""),
    "called HTML": sent(GOOD, headers=b"Content-Type: text/html\r\n"),
    "of an odd charset": sent(GOOD, headers=b"Content-Type: application/json; charset=hex\r\n"),
    "with a null error": sent(reply([3.0, 4.0], [0.0, 2.0], error=None)),
    "of integers": sent(reply([3, 4], [0, 2])),
    "with odd facts": sent(reply([3.0, 4.0], [0.0, 2.0], model=["\ud800"], usage={"prompt_tokens": 10**400})),
    "compressed": sent(gzip.compress(GOOD), headers=b"Content-Encoding: gzip\r\n"),
}


@pytest.fixture(autouse=True)
def _asks_once(monkeypatch):
    monkeypatch.setattr(remote, "RETRIES", 0)


def asking(url):
    return OpenAIEncoder("m", f"{url}/v1", None, 8192, "s")


@pytest.mark.parametrize(("content", "status", "said"), REPLIES.values(), ids=REPLIES)
def test_an_odd_reply_is_one_sentence_that_names_the_server(content, status, said, capsys):
    with raw_server(at_once(content)) as server, pytest.raises(GoldmeterError, match=said) as caught:
        asking(server.url).encode(TEXTS)

    message = str(caught.value)
    assert message.startswith(f"embed: m at {server.url}/v1 ")
    assert len(message) < 800
    assert message.isprintable()

    def raise_it():
        raise caught.value

    assert exit_status(raise_it) == status
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("content", FINE.values(), ids=FINE)
def test_vectors_are_read_however_the_reply_is_labelled(content):
    with raw_server(at_once(content)) as server:
        vectors = asking(server.url).encode(TEXTS)

    assert vectors == pytest.approx(np.array([[0.6, 0.8], [0.0, 1.0]]), abs=1e-6)


def test_a_later_reply_of_another_dimension_is_not_broadcast(monkeypatch):
    monkeypatch.setattr(remote, "REQUEST_TEXTS", 2)
    replies = iter([reply([3.0, 4.0], [0.0, 2.0]), reply([1.0], [1.0])])
    encoder = encoder_of(lambda _: httpx2.Response(200, content=next(replies)))

    with pytest.raises(GoldmeterError, match="gave vectors of 1 numbers, its earlier ones have 2"):
        encoder.encode(["a", "b", "cccc", "dddd"])


def test_no_sentence_shows_the_key_however_the_reply_spells_it(monkeypatch):
    key = "sk-secret-of-ours"
    monkeypatch.setenv("A_KEY", key)
    for body in (f"<p>{key}", f'{{"error": "{key}"}}', '"s\\u006b-secret-of-ours"', "x" * 290 + key):
        encoder = encoder_of(lambda _, body=body: httpx2.Response(200, content=body.encode()), key=key)
        with pytest.raises(GoldmeterError) as caught:
            encoder.encode(TEXTS)
        assert "secret" not in str(caught.value)


def encoder_of(answer, key=None):
    """An encoder whose server is a function of the request."""
    encoder = OpenAIEncoder("m", "http://host/v1", "A_KEY" if key else None, 8192, "s")
    http = BoundedClient(20, remote.MOST_BYTES, transport=httpx2.MockTransport(answer))
    encoder.__dict__["_client"] = open_client(encoder.base_url, key, 0, http)
    return encoder


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9) | st.just(10**400)
NUMBERS = st.lists(st.floats() | st.integers(-9, 9), max_size=3)
ITEMS = st.fixed_dictionaries({"index": st.integers(-1, 2) | SCALARS, "embedding": NUMBERS | SCALARS})
ANY = st.recursive(SCALARS, lambda each: st.lists(each, max_size=4) | st.dictionaries(
    st.sampled_from(["data", "error", "index", "embedding", "message", "code", "x"]), each, max_size=4))  # fmt: skip
BODY = ANY | st.fixed_dictionaries({"data": st.lists(ITEMS | ANY, max_size=3)}, optional={"error": ANY})


@given(BODY.map(json.dumps).map(str.encode) | st.binary(), st.sampled_from([200, 200, 200, 201, 400, 500, 307]))
def test_any_reply_is_unit_vectors_or_one_sentence(body, status):
    encoder = encoder_of(lambda _: httpx2.Response(status, content=body))

    message, vectors = "", np.ones((2, 1))
    try:
        vectors = encoder.encode(TEXTS)
    except GoldmeterError as error:
        message = str(error)

    assert message.isprintable()
    assert not message or message.startswith("embed: m at http://host/v1 ")
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1.0, 1.0], abs=1e-6)
