"""docs/how-to/migrate.md, typed as it stands: a small log of each tool is mapped and loaded."""

import json
import re
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.dataset.readers.test_openai_evals import EVALUATION, item, page, run
from tests.dataset.readers.test_ragas import ROWS
from tests.documents import blocks, commands
from tests.small_project import ROOT

pytestmark = pytest.mark.exhaustive

PAGE, LOGS = ROOT / "docs/how-to/migrate.md", ROOT / "tests/dataset/readers/logs"
COPIED = {
    "promptfoo.json": "promptfoo.json",
    "deepeval.json": "deepeval.json",
    "traces.jsonl": "mlflow_traces.jsonl",
    "capitals.eval": "inspect.eval",
}
API = {
    "/evals/eval_tickets": EVALUATION,
    "/evals/eval_tickets/runs": page(run(), run("r2", "second prompt")),
    "/evals/eval_tickets/runs/r1/output_items": page(item(0, "Hardware"), item(1, "Software", score=0.0)),
    "/evals/eval_tickets/runs/r2/output_items": page(item(0, "Hardware", key="r2"), item(1, "Hardware", key="r2")),
}


class _Api(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = json.dumps(API[self.path.partition("?")[0]]).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), _Api) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_each_tools_log_is_mapped_and_loaded(project: Any, address: str) -> None:
    project.environment |= {"OPENAI_BASE_URL": address, "OPENAI_API_KEY": "none"}
    data = Path(project.folder, "data")
    for name, log in COPIED.items():
        shutil.copy(LOGS / log, data / name)
    pd.DataFrame(ROWS).to_csv(data / "ragas.csv", index=False)

    loaded = {}
    for block in blocks(PAGE):
        if block.mark.startswith("file: "):
            (project.folder / block.mark.removeprefix("file: ")).write_text(block.text, encoding="utf-8")
        for command in commands(block) if block.runs else ():
            output = project.run("sh", "-c", command.line, status=command.status)
            if found := re.search(r"^(\d+) rows: (\d+) systems?.*\nnone rejected$", output, re.MULTILINE):
                loaded[command.line.split("/")[-1]] = int(found[1]), int(found[2])

    assert loaded == {
        "openai-evals.jsonl": (4, 2),
        "promptfoo.json": (4, 2),
        "deepeval.json": (3, 1),
        "traces.jsonl": (3, 1),
        "ragas.csv": (2, 1),
        "capitals.eval": (6, 1),
    }
