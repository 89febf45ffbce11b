"""Connections to servers: the certificates that are trusted, and why there is no connection, with what helps."""

import errno
import os
import socket
import ssl
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit
from urllib.request import proxy_bypass

from goldmeter.errors import ModelError

# Variables that name trusted certificates: those of OpenSSL, which the HTTP client reads, and those of other tools.
OF_OPENSSL = ("SSL_CERT_FILE", "SSL_CERT_DIR")
OF_OTHERS = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
NO_ROUTE = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN})


class ConnectionProblem(NamedTuple):
    """Why there is no connection. is_of_setup: a later attempt can't succeed."""

    sentence: str
    is_of_setup: bool = False


def trusted_certificates() -> ssl.SSLContext | bool:
    """Return the certificates that environment variables name; True for those of the HTTP client.

    Raises:
        ModelError: A variable names no file or folder of certificates.
    """
    variable = next((name for name in (*OF_OPENSSL, *OF_OTHERS) if os.environ.get(name)), None)
    if variable is None:
        return True
    path = Path(os.environ[variable])
    try:
        is_folder = path.is_dir()
        return ssl.create_default_context(
            cafile=None if is_folder else str(path), capath=str(path) if is_folder else None
        )
    except (OSError, ValueError) as error:
        raise ModelError(
            f"the environment variable {variable} names no certificates: {path}: {getattr(error, 'strerror', error)}; "
            "correct it, or unset it"
        ) from None


def connection_problem(error: BaseException, url: str, setting: str) -> ConnectionProblem | None:
    """Return why there was no connection to a server; None if there was one.

    Args:
        error: Of the HTTP client, or one that it caused.
        url: The address of the server.
        setting: The path in params.yaml of the address.
    """
    causes = [*_causes(error)]
    names = {type(cause).__name__ for cause in causes}
    if not names & {"ConnectError", "ConnectTimeout", "ProxyError"}:
        return None
    host, proxy = urlsplit(url).hostname or "", proxy_variable(url)
    if "ProxyError" in names:
        said = next(str(cause) for cause in causes if type(cause).__name__ == "ProxyError")
        sentence = f"the proxy in {proxy} refuses the connection ({said}); correct {proxy}, or list {host} in NO_PROXY"
        return ConnectionProblem(sentence, is_of_setup=True)
    if (of_tls := next((cause for cause in causes if isinstance(cause, ssl.SSLError)), None)) is not None:
        return ConnectionProblem(_of_tls(of_tls, host, setting), is_of_setup=True)
    os_errors = [cause for cause in causes if isinstance(cause, OSError)]
    whose = f"the proxy in {proxy}" if proxy else _shown(url)
    what = _what_failed(os_errors, whose, is_timeout="ConnectTimeout" in names) or f"{whose}: {causes[-1]}"
    behind = "" if proxy else "; behind a proxy, set HTTPS_PROXY"
    return ConnectionProblem(f"{what}; correct {proxy or setting}, or check the network{behind}")


def _what_failed(errors: Sequence[OSError], whose: str, *, is_timeout: bool) -> str | None:
    """Return what failed before a connection was there; None if it is unknown."""
    if any(isinstance(one, socket.gaierror) for one in errors):
        return f"the name of {whose} is not known"
    if any(isinstance(one, ConnectionRefusedError) for one in errors):
        return f"nothing listens at {whose}: is it started?"
    if any(one.errno in NO_ROUTE for one in errors):
        return f"the network has no way to {whose}"
    return f"{whose} does not answer when a connection is opened" if is_timeout else None


def proxy_variable(url: str) -> str | None:
    """Return the environment variable that names the proxy to a server; None if it is asked directly."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    names = (f"{parts.scheme}_proxy", "all_proxy")
    variable = next((name for one in names for name in (one, one.upper()) if os.environ.get(name)), None)
    return None if variable is None or proxy_bypass(host) else variable


def _of_tls(error: ssl.SSLError, host: str, setting: str) -> str:
    if not isinstance(error, ssl.SSLCertVerificationError):
        why = getattr(error, "reason", None) or error
        return f"{host} does not speak TLS ({why}); if it is a server without TLS, begin {setting} with http://"
    said = error.verify_message
    if error.verify_code in _OTHER_NAME:
        return f"the certificate of {host} is not accepted ({said}); use a name that it holds in {setting}"
    if error.verify_code == _EXPIRED:
        return f"the certificate of {host} is not accepted ({said}); check the clock, or have it renewed"
    return (
        f"the certificate of {host} is not accepted ({said}); name the file with the certificates of your organisation "
        "in the environment variable SSL_CERT_FILE"
    )


# Codes of OpenSSL: another name, another address; expired.
_OTHER_NAME, _EXPIRED = frozenset({62, 64}), 10


def _shown(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what caused it, each once."""
    seen = set[int]()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__
