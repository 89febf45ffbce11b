"""Files of OpenAI's Batch API: the requests joined with the outputs and errors by custom_id. Written for API version 1.

One record for each request, and for each of the choices that it asked for. Name a folder with all files; without the
file of requests, records have no input, requests that were never answered are not known, and an error is of the model
that all replies name.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from goldmeter.dataset.readers import log
from goldmeter.dataset.record import Record, Value, file_name
from goldmeter.errors import DataError

OK = 200
# The candidate, if no line names a model.
NO_MODEL = "batch"
# The API's limit of `n`.
MOST_CHOICES = 128


class Reply(NamedTuple):
    """A line of an output or error file, and its place."""

    file: str
    line: int
    values: Mapping[str, Any]


class Batch(NamedTuple):
    """What is taken for a reply without a response: the model, and how many choices it should have."""

    model: str | None
    choices: int


def recognises(head: log.Head) -> bool:
    """Tell whether a file is of requests, outputs or errors."""
    return "custom_id" in head.keys and (
        {"method", "url", "body"} <= head.keys or bool({"response", "error"} & head.keys)
    )


def read(files: Sequence[Path]) -> Iterator[Record]:
    """Yield the records in the order of the requests; without requests, of the replies.

    Raises:
        DataError: A line is neither request nor reply, a reply has no request although there are requests, or an error
            is of a model that is not known.
    """
    requests, replies = _lines(files)
    unasked = next((reply for custom_id, reply in replies.items() if requests and custom_id not in requests), None)
    if unasked:
        raise DataError(f"{unasked.file}, line {unasked.line}: no request has this custom_id; is it another batch's?")
    batch = Batch(None, 1) if requests else _batch(replies.values())
    for custom_id in requests or replies:
        request, reply = requests.get(custom_id), replies.get(custom_id)
        place = reply or request
        for values in _records(custom_id, request, reply, batch):
            if place is not None:
                yield Record(place.file, place.line, values)


def _lines(files: Sequence[Path]) -> tuple[dict[str, Reply], dict[str, Reply]]:
    requests: dict[str, Reply] = {}
    replies: dict[str, Reply] = {}
    for file in files:
        name = file_name(file)
        for line, values in log.objects(file):
            custom_id = log.part(values, "custom_id", str, f"{name}, line {line}")
            group = requests if "body" in values and "method" in values else replies
            if custom_id in group:
                first = group[custom_id]
                raise DataError(f"{name}, line {line}: {custom_id[:60]!r} is also in {first.file}, line {first.line}")
            group[custom_id] = Reply(name, line, values)
    return requests, replies


def _records(custom_id: str, request: Reply | None, reply: Reply | None, batch: Batch) -> Iterator[dict[str, Value]]:
    body = log.members(request.values.get("body")) if request else {}
    answered, error = _body(reply)
    texts, usage = _texts(answered) if error is None else [], log.members(answered.get("usage"))
    draws = max(len(texts), _choices(body) if request else batch.choices)
    for draw, text in enumerate([*texts, *[None] * (draws - len(texts))], 1):
        yield log.flat(
            id=custom_id,
            input=_input(body),
            response=text,
            candidate=log.text_of(body.get("model")) or log.text_of(answered.get("model")) or batch.model or NO_MODEL,
            error=error or (None if text is not None else "no text in the response"),
            draw=draw if draws > 1 else None,
            tokens=log.amount(usage.get("total_tokens")) if draws == 1 else None,  # of all choices together
        )


def _choices(body: Mapping[str, Any]) -> int:
    """Return how many choices a request asks for."""
    number = body.get("n")
    return min(int(number), MOST_CHOICES) if isinstance(number, str) and re.fullmatch("[1-9][0-9]{0,9}", number) else 1


def _batch(replies: Iterable[Reply]) -> Batch:
    """Return what replies without requests tell of those that have no response.

    Raises:
        DataError: There are errors, and replies of several models.
    """
    bodies = [(reply, _body(reply)[0]) for reply in replies]
    models = sorted({model for _, body in bodies if (model := log.text_of(body.get("model")))})
    unnamed = next((reply for reply, body in bodies if not log.text_of(body.get("model"))), None)
    if unnamed and len(models) > 1:
        raise DataError(
            f"{unnamed.file}, line {unnamed.line}: of which model? The replies are of {', '.join(models)[:200]}; "
            "put the file of requests into the folder, and name the folder in dataset.path"
        )
    return Batch(models[0] if models else None, max([1, *(len(_texts(body)) for _, body in bodies)]))


def _body(reply: Reply | None) -> tuple[Mapping[str, Any], str | None]:
    """Return the body of a response, and the error that there is none."""
    if reply is None:
        return {}, log.MISSING
    response, error = log.members(reply.values.get("response")), reply.values.get("error")
    body = response.get("body")
    if not isinstance(body, dict):
        return {}, _message(error) or "no response"
    if response.get("status_code") not in {str(OK), None}:
        return body, _message(body.get("error")) or f"status {response.get('status_code')}"
    return body, _message(error) or _message(body.get("error"))


def _message(error: Any) -> str | None:
    if not error:
        return None
    if isinstance(error, dict):
        return log.text_of(error.get("message")) or log.text_of(error.get("code"))
    return log.text_of(error)


def _input(body: Mapping[str, Any]) -> str | None:
    """Return the messages of a chat, the input of a response, or the prompt of a completion."""
    asked = body.get("messages", body.get("input", body.get("prompt")))
    instructions = log.text_of(body.get("instructions"))
    text = log.messages_of(asked)
    return f"system: {instructions}\n\n{text}" if instructions and text else text


def _texts(body: Mapping[str, Any]) -> list[str | None]:
    """Return the text of each choice; a refusal is a text."""
    choices, output = body.get("choices"), body.get("output")
    if isinstance(choices, list):
        return [_choice(choice) for choice in choices if isinstance(choice, dict)]
    if isinstance(output, list):
        messages = [item.get("content") for item in output if isinstance(item, dict) and item.get("type") == "message"]
        return [log.text_of(messages)]
    return []


def _choice(choice: Mapping[str, Any]) -> str | None:
    message = choice.get("message")
    if isinstance(message, dict):
        content = log.text_of(message.get("content"))
        return content or log.text_of(message.get("refusal")) or content
    return log.text_of(choice.get("text"))
