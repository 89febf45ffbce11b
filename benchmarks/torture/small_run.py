"""A small project whose verdicts and vectors are paid for, by a server that counts; run from load to report."""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import Any, NamedTuple
from unittest.mock import patch

from benchmarks.data import PARAMS, ROOT
from benchmarks.project import Project, copy
from goldmeter.pipeline import params
from goldmeter.pipeline.dvc_yaml import stages
from tests.judge_server import Reply, completion, verdict

DIMENSION = 16


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
        if "input" in body:
            return _embedded(texts)
        reply: dict[str, Any] = Reply(*completion(verdict(body), model="m-1")).body
        return reply


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


def _embedded(texts: list[str]) -> dict[str, Any]:
    """A vector of each text, made from its hash."""
    vectors = [[byte - 127.5 for byte in hashlib.sha256(text.encode()).digest()[:DIMENSION]] for text in texts]
    data = [{"object": "embedding", "index": i, "embedding": vector} for i, vector in enumerate(vectors)]
    return {"object": "list", "model": "m", "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}}


QUESTIONS, PART_ROWS = 12, 10
OUTPUTS, LEDGER, DATA = ("data", "reports"), "ledger", "data/examples/qa.jsonl"
Files = Mapping[str, bytes]


class SmallRun(NamedTuple):
    """project: a folder with all that a run has written. paid: the server that it asked. files: its outputs."""

    project: Project
    paid: Paid
    files: Files


@contextmanager
def small_project(**run: object) -> Iterator[tuple[Project, Paid]]:
    """A project that has not run; run: options of the section `run`."""
    # The code of this checkout runs in the copy: its kernels are compiled.
    code = {"PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1"}
    with paid_server() as paid, copy() as project, patch.dict(os.environ, code):
        for old in (path for folder in OUTPUTS for path in (project.folder / folder).rglob("*.json")):
            old.unlink()
        data = project.folder / DATA
        data.write_bytes(b"".join(data.read_bytes().splitlines(keepends=True)[:QUESTIONS]))
        sections = params.effective(params.raw(PARAMS))
        server = {"provider": "openai", "model": "m", "base_url": paid.url, "api_key_env": None}
        judge = {**sections["judge"], **server, "canaries": False}
        project.configure({
            **sections, "load": {**sections["load"], "part_rows": PART_ROWS}, "embed": {**sections["embed"], **server},
            "judge": judge, "run": {**sections["run"], "workers": 1, **run},
        })  # fmt: skip
        yield project, paid


@contextmanager
def small_run() -> Iterator[SmallRun]:
    """A project that has run, by one process, and whose outputs are in DVC's cache."""
    with small_project() as (project, paid):
        run_all(project)
        project.dvc("commit", "--force")
        yield SmallRun(project, paid, contents(project.folder))


def run_all(project: Project) -> None:
    """Run every stage, in one process: its imports take most of the time."""
    code = "import sys; from goldmeter.runner import run; [run(stage) for stage in sys.argv[1:]]"
    project.python("-c", code, *stages(project.folder / "dvc.yaml"))


def contents(folder: Path) -> dict[str, bytes]:
    """Return all that a run has written: tables, evidence, reports and the ledger, by path in the folder."""
    below = (path for name in (*OUTPUTS, LEDGER) for path in sorted((folder / name).rglob("*")))
    return {str(path.relative_to(folder)): path.read_bytes() for path in below if path.is_file()}


def restore(folder: Path, files: Files) -> None:
    """Bring back what a run had written, and nothing else."""
    now = contents(folder)
    for name in now.keys() - files.keys():
        (folder / name).unlink()
    for name in files:
        if now.get(name) != files[name]:
            (folder / name).unlink(missing_ok=True)  # it may be a link to DVC's cache
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(files[name])
