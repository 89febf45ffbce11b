"""A receiver of webhooks on loopback, which answers as it is told and keeps what it got."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple


class Received(NamedTuple):
    """One request. headers: names in small letters."""

    path: str
    headers: dict[str, str]
    content: Any


class Webhook:
    """url: where it listens. received: what came. answers: (status, headers) of the next requests, then 200."""

    def __init__(self, answers: Sequence[tuple[int, dict[str, str]]] = ()) -> None:
        self.received: list[Received] = []
        self.answers = list(answers)
        self.url = ""

    def answer(self, request: Received) -> tuple[int, dict[str, str]]:
        self.received.append(request)
        return self.answers.pop(0) if self.answers else (200, {})


@contextmanager
def webhook(answers: Sequence[tuple[int, dict[str, str]]] = ()) -> Iterator[Webhook]:
    """A webhook that listens as long as the context lasts; its path is a secret, as a chat's is."""
    hook = Webhook(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, more = hook.answer(Received(self.path, headers, content))
            self.send_response(status)
            for name, value in ({"Content-Length": "0"} | more).items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, *_args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        hook.url = f"http://127.0.0.1:{server.server_port}/hooks/a-secret-path"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield hook
        finally:
            server.shutdown()
            thread.join()
