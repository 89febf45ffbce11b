"""The batch endpoints of the judge's server: files, batches, and their faults."""

import json
import re
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

# An answer (status, body) instead of the real one; CUT: the real one is lost on its way; None: no fault.
CUT = "cut"
Fault = Callable[[str], "tuple[int, Any] | str | None"]
Line = dict[str, Any]


class BatchEndpoints:
    """Files and batches in memory.

    reply: (status, body) of one request. faults: called with upload, create, list, get or content before each exchange.
    looks: how often a batch is looked at before it has ended. ending: the status of an ended batch. lines: changes the
    lines of results before they are written.
    """

    def __init__(self, reply: Callable[[Line], tuple[int, Any]]) -> None:
        self.reply = reply
        self.faults: Fault = lambda _: None
        self.looks, self.page = 1, 100
        self.ending: Callable[[Line], str] = lambda _: "completed"
        self.lines: Callable[[list[bytes]], list[bytes]] = lambda lines: lines
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, Line] = {}
        self.asked: Counter[tuple[str, int]] = Counter()
        self.exchanges: Counter[str] = Counter()
        self._lock = threading.Lock()

    def serve(self, method: str, path: str, query: dict[str, str], body: bytes) -> tuple[int, Any, bool]:
        """Return status, body and whether the connection is cut instead."""
        steps = path.strip("/").split("/")[1:]
        what = {("POST", "files"): "upload", ("POST", "batches"): "create"}.get((method, steps[0]))
        what = what or ("content" if steps[0] == "files" else "list" if len(steps) == 1 else "get")
        with self._lock:
            self.exchanges[what] += 1
            fault = self.faults(what)
            if isinstance(fault, tuple):
                return *fault, False
            status, answer = self._answer(what, steps, query, body)
            return status, answer, fault == CUT

    def _answer(self, what: str, steps: list[str], query: dict[str, str], body: bytes) -> tuple[int, Any]:
        if what == "upload":
            name = f"file-{len(self.files)}"
            self.files[name] = re.split(rb"\r\n\r\n", re.search(rb'name="file".*', body, re.DOTALL)[0], maxsplit=1)[1]  # type: ignore[index]
            self.files[name] = self.files[name].rpartition(b"\r\n--")[0].partition(b"\r\n--")[0]
            return 200, {"id": name, "object": "file", "bytes": len(self.files[name]), "purpose": "batch"}
        if what == "create":
            return 200, self._create(json.loads(body))
        if what == "list":
            return 200, self._list(query)
        if what == "content":
            return (200, self.files[steps[1]]) if steps[1] in self.files else (404, {"error": {"message": "no file"}})
        if steps[1] not in self.batches:
            return 404, {"error": {"message": "no batch"}}
        return 200, self._get(self.batches[steps[1]])

    def _create(self, options: Line) -> Line:
        name, lines = f"batch_{len(self.batches)}", self.files[options["input_file_id"]].splitlines()
        requests = [json.loads(line) for line in lines]
        self.asked.update((one["custom_id"], one["body"].get("seed", 0)) for one in requests)
        batch = {
            "id": name, "object": "batch", "endpoint": options["endpoint"], "status": "validating", "errors": None,
            "input_file_id": options["input_file_id"], "completion_window": options["completion_window"],
            "output_file_id": None, "error_file_id": None, "created_at": 2_000_000_000 + len(self.batches),
            "request_counts": {"total": len(requests), "completed": 0, "failed": 0},
            "metadata": options.get("metadata"), "looks": 0,
        }  # fmt: skip
        self.batches[name] = batch
        return batch

    def _list(self, query: dict[str, str]) -> Line:
        newest = [*reversed(self.batches.values())]
        names = [batch["id"] for batch in newest]
        start = names.index(query["after"]) + 1 if "after" in query else 0
        data = newest[start : start + self.page]
        return {"object": "list", "data": data, "has_more": start + self.page < len(newest)}

    def _get(self, batch: Line) -> Line:
        batch["looks"] += 1
        if batch["status"] in {"completed", "expired", "cancelled", "failed"}:
            return batch
        batch["status"] = "in_progress"
        if batch["looks"] > self.looks:
            self._end(batch)
        return batch

    def _end(self, batch: Line) -> None:
        batch["status"] = self.ending(batch)
        if batch["status"] == "failed":
            return
        requests = [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]
        if batch["status"] != "completed":  # half of the requests were answered
            late, requests = requests[len(requests) // 2 :], requests[: len(requests) // 2]
        else:
            late = []
        good, bad = list[bytes](), list[bytes]()
        for one in requests:
            status, body = self.reply(one["body"])
            result = {"id": "r", "custom_id": one["custom_id"], "error": None}
            result["response"] = {"status_code": status, "request_id": "1", "body": body}
            (good if status == 200 else bad).append(json.dumps(result).encode())
        for one in late:
            error = {"code": "batch_expired", "message": "This request could not be executed in time."}
            bad.append(json.dumps({"custom_id": one["custom_id"], "response": None, "error": error}).encode())
        for name, lines in (("output_file_id", good), ("error_file_id", bad)):
            if lines:
                batch[name] = f"file-{name}-{batch['id']}"
                self.files[batch[name]] = b"\n".join(self.lines(lines)) + b"\n"
        batch["request_counts"] |= {"completed": len(good), "failed": len(bad)}
