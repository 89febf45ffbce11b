"""Hostile replies to the judge, the embedding client and the webhook: each call ends in time, small, and here."""

import os
import resource
import traceback
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from unittest.mock import patch

import numpy as np
import psutil

from benchmarks.torture.campaign import Campaign, Trial
from benchmarks.torture.hostile_server import KEY, hostile_server
from goldmeter.errors import GoldmeterError

# Calls at the same time, each in a process of its own.
LANES = 8
TIMEOUT = 0.3
# Seconds beyond the timeouts of all attempts: the machine may be busy.
ALLOWANCE = 15.0
MB = 1_000_000
# Memory of a process beyond that of one that has received a sound reply; it may take no more than the second at all.
MOST_MORE, LIMIT = 300 * MB, 4_000 * MB
MOST_CHARS = 2_000
KEY_VARIABLE = "TORTURE_KEY"


def _trials(seed: int, trials: int) -> Iterator[Trial]:
    drawn = [([*CLIENTS][i % len(CLIENTS)], f"{seed}-{i}") for i in range(trials)]
    with TemporaryDirectory() as folder, hostile_server(Path(folder)) as url:
        context, ask = get_context("spawn"), partial(_trial, url, Path(folder))
        with ProcessPoolExecutor(LANES, context, initializer=_prepare, initargs=(url, Path(folder))) as pool:
            yield from pool.map(ask, *zip(*drawn, strict=True))


def _judge(url: str, _: Path) -> str:
    from goldmeter.models.chat.client import Chat
    from goldmeter.models.chat.exchange import Endpoint
    from goldmeter.models.chat.limits import ConcurrencyLimit
    from goldmeter.models.servers import ApiKey

    endpoint = Endpoint(url, "m", ApiKey(KEY_VARIABLE, "judge.api_key_env"), TIMEOUT, 0)
    with Chat(endpoint, ConcurrencyLimit(1)) as chat:
        reply = chat.ask("Judge.", "An answer", {"type": "object"}, temperature=0, seed=0)
    said = f"{reply.text}{reply.problem}{reply.model}"
    said.encode()  # else it can't be written down
    if KEY in said:
        raise ValueError(f"the key is in {reply}")
    return "answered" if reply.text is not None else "unmeasured"


def _embedding(url: str, _: Path) -> str:
    from goldmeter.models.embedding.remote import OpenAIEncoder

    vectors = OpenAIEncoder("m", url, KEY_VARIABLE, 1000).encode(["one", "two"])
    if vectors.shape[0] != 2 or not np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3):  # noqa: PLR2004
        raise ValueError(f"not two unit vectors: {vectors!r:.500}")
    return "answered"


def _webhook(url: str, _: Path) -> str:
    from goldmeter.pipeline.schedule import Notify
    from goldmeter.serving import notify

    receiver = Notify(url=url, header="Authorization", secret_env=KEY_VARIABLE, always=True)
    notify.call("nightly", receiver, notify.Outcome(ok=False, sentence="worse"), "run", pause=lambda _: None)
    return "answered"


CLIENTS: Mapping[str, Callable[[str, Path], str]] = {"judge": _judge, "embedding": _embedding, "webhook": _webhook}
# Attempts of a call: the judge asks for less and less, the webhook is called again.
ATTEMPTS = {"judge": 5, "embedding": 1, "webhook": 5}


def _prepare(url: str, folder: Path) -> None:
    """Set the limits of this process, and let each client receive a sound reply: it then has what it needs."""
    from goldmeter.models.embedding import remote
    from goldmeter.serving import notify

    os.environ[KEY_VARIABLE] = KEY
    for module, name, value in ((notify, "TIMEOUT", TIMEOUT), (remote, "TIMEOUT", TIMEOUT), (remote, "RETRIES", 0)):
        patch.object(module, name, value).start()
    for kind, client in CLIENTS.items():
        client(f"{url}/{kind}/sound", folder)
    _idle()
    limit = psutil.Process().memory_info().vms + LIMIT
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _trial(url: str, folder: Path, kind: str, seed: str) -> Trial:
    """Make one call, to which the reply of this seed is sent."""
    before, outcomes = _peak(), list[Trial]()
    call = Thread(target=lambda: outcomes.append(_call(f"{url}/{kind}/{seed}", folder, kind)), daemon=True)
    call.start()
    call.join(TIMEOUT * ATTEMPTS[kind] + ALLOWANCE)
    peak = _peak()
    trial = outcomes[0] if outcomes else Trial(f"{kind}: no end", "no end within its timeout")
    if (folder / seed).exists():
        trial = Trial(f"{kind}: redirected", "followed a redirect to another host")
    elif peak > before and peak - _idle() > MOST_MORE:
        trial = Trial(f"{kind}: memory", f"took {(peak - _idle()) / MB:.0f} MB")
    return trial if trial.failure is None else trial._replace(failure=f"{kind} {seed}: {trial.failure}")


def _call(url: str, folder: Path, kind: str) -> Trial:
    try:
        return Trial(f"{kind}: {CLIENTS[kind](url, folder)}")
    except GoldmeterError as error:
        message = str(error)
        is_named = kind != "embedding" or (message.startswith(f"embed: m at {url} ") and message.isprintable())
        is_told = len(message) <= MOST_CHARS and KEY not in message and is_named
        return Trial(f"{kind}: refused", None if is_told else f"message {message[:MOST_CHARS]!r}")
    except Exception:  # noqa: BLE001 (whatever is raised is what the campaign looks for)
        return Trial(f"{kind}: traceback", traceback.format_exc(limit=-3)[-MOST_CHARS:])


@cache
def _idle() -> int:
    """Return the largest memory before the first trial, in bytes."""
    return _peak()


def _peak() -> int:
    """Return the largest resident memory that this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


CAMPAIGN = Campaign(
    "hostile replies",
    "A call of judge, embedding server or webhook ends within its timeout and 300 MB, follows no redirect to another "
    "host, and gives an error of ours or a sound result.",
    trials=900,
    few=24,
    run=_trials,
)
