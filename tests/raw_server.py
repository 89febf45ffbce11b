"""A server on loopback that sends bytes as a script says, to any request."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

# Sends bytes to the connection until it returns; the connection ends then. The event is set when the server ends.
Script = Callable[[socket.socket, threading.Event], None]


class RawServer:
    """url: its address. requests: the heads and bodies that came. script: what it sends."""

    def __init__(self, script: Script) -> None:
        self.script, self.requests, self.ended = script, list[bytes](), threading.Event()
        self._threads: list[threading.Thread] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def accept(self) -> None:
        """Serve connections until the server ends."""
        with suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                if self.ended.is_set():
                    connection.close()
                    return
                self._threads.append(threading.Thread(target=self._serve, args=(connection,)))
                self._threads[-1].start()

    def end(self) -> None:
        """End the server and its connections."""
        self.ended.set()
        with suppress(OSError):
            socket.create_connection(self._listening.getsockname()).close()
        self._listening.close()
        for thread in self._threads:
            thread.join()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError), connection:
            self.requests.append(_request(connection))
            self.script(connection, self.ended)


def _request(connection: socket.socket) -> bytes:
    received = b""
    connection.settimeout(10)
    while b"\r\n\r\n" not in received:
        received += connection.recv(1 << 16) or b"\r\n\r\n"
    head, _, body = received.partition(b"\r\n\r\n")
    sizes = [line.split(b":")[1] for line in head.splitlines() if line.lower().startswith(b"content-length:")]
    while sizes and len(body) < int(sizes[0]):
        body += (piece := connection.recv(1 << 16))
        if not piece:
            break
    return head + b"\r\n\r\n" + body


@contextmanager
def raw_server(script: Script) -> Iterator[RawServer]:
    """A running server, which ends with the block."""
    server = RawServer(script)
    thread = threading.Thread(target=server.accept)
    thread.start()
    try:
        yield server
    finally:
        server.end()
        thread.join()


def dripping(pieces: Iterator[bytes], pause: float = 0.02) -> Script:
    """A script that sends one piece after the other, with pauses."""

    def script(connection: socket.socket, ended: threading.Event) -> None:
        for piece in pieces:
            connection.sendall(piece)
            if ended.wait(pause):
                return

    return script


def at_once(content: bytes) -> Script:
    """A script that sends everything and ends the connection."""
    return lambda connection, _: connection.sendall(content)
