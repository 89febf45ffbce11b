"""Storage that speaks S3's protocol, on loopback."""

import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def serving(bucket: str) -> Iterator[str]:
    """A running server with an empty bucket, and its address; it ends with the block, and what it holds with it."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    try:
        address = "http://{}:{}".format(*server.get_host_and_port())
        make_bucket(address, bucket)
        yield address
    finally:
        server.stop()


def make_bucket(address: str, name: str) -> None:
    """Make an empty bucket on a running server."""
    urllib.request.urlopen(urllib.request.Request(f"{address}/{name}", method="PUT")).close()  # noqa: S310 (loopback)
