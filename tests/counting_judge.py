"""A judge on loopback, a thread per connection, that counts the answers that it has sent completely."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.judge_server import Reply, completion, question, verdict


class CountingJudge:
    """url: its address. asked, answered: the nonces of requests, and of replies that were sent to their last byte.

    before: called with the number of each request before it is answered; it may wait.
    """

    def __init__(self, before: Callable[[int], object]) -> None:
        self.before, self.url = before, ""
        self.asked: list[str] = []
        self.answered: list[str] = []
        self._lock = threading.Lock()

    def serve(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer one request."""
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        nonce, _ = question(body)
        with self._lock:
            self.asked.append(nonce)
            number = len(self.asked)
        self.before(number)
        content = json.dumps(Reply(*completion(verdict(body))).body).encode()
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)
        with self._lock:
            self.answered.append(nonce)


@contextmanager
def counting_judge(before: Callable[[int], object] = lambda _: None) -> Iterator[CountingJudge]:
    """A running server, which ends with the block."""
    judge = CountingJudge(before)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            judge.serve(self)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: Any) -> None:
            """Pass over clients that are gone."""

    with Server(("127.0.0.1", 0), Handler) as server:
        judge.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield judge
        finally:
            server.shutdown()
            thread.join()
