"""A judge and an embedding model on loopback that always answer alike, and count what they are asked for."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

DIMENSION = 16
_DATA = re.compile(r"<data nonce=(?P<nonce>\w+)>\n(?P<fields>.*)\n</data nonce=\w+>", re.DOTALL)


class Paid:
    """url: the server's address. asked: how often each verdict and each vector was asked for."""

    def __init__(self) -> None:
        self.url, self.asked = "", Counter[str]()
        self._lock = Lock()

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the reply to a request, and count it."""
        texts = body["input"] if "input" in body else [body["messages"][1]["content"]]
        with self._lock:
            self.asked.update(texts)
        return _embedded(texts) if "input" in body else _judged(body["messages"])


@contextmanager
def paid_server() -> Iterator[Paid]:
    """A server in a thread, which ends with the block."""
    paid = Paid()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            content = json.dumps(paid.answer(body)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        server.handle_error = lambda *_: None  # type: ignore[method-assign]  # clients are killed
        paid.url = f"http://127.0.0.1:{server.server_port}/v1"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield paid
        finally:
            server.shutdown()
            thread.join()


def _judged(messages: list[dict[str, str]]) -> dict[str, Any]:
    """An honest verdict: right if the answer contains a reference."""
    found = _DATA.fullmatch(messages[1]["content"])
    if found is None:
        raise ValueError(f"not a request of goldmeter: {messages[1]['content']!r}")
    fields = json.loads(found["fields"])
    right = any(truth.lower() in fields["output"].lower() for truth in fields["ground_truth"])
    verdict = {"rating": 5 if right else 1} if "rating" in messages[0]["content"] else {"verdict": right}
    message = {"role": "assistant", "content": json.dumps({"nonce": found["nonce"], "reason": "compared", **verdict})}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    return {"id": "1", "object": "chat.completion", "created": 0, "model": "m-1", "choices": [choice], "usage": usage}


def _embedded(texts: list[str]) -> dict[str, Any]:
    """A vector of each text, made from its hash."""
    vectors = [[byte - 127.5 for byte in hashlib.sha256(text.encode()).digest()[:DIMENSION]] for text in texts]
    data = [{"object": "embedding", "index": i, "embedding": vector} for i, vector in enumerate(vectors)]
    return {"object": "list", "model": "m", "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}}
