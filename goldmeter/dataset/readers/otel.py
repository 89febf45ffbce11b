"""Spans and events of OpenTelemetry's conventions for generative AI: OTLP JSON, or an object a line.

Written for the conventions of 2026, and those up to 1.36, whose messages are events of their own. One record for each
answer that a span or its events hold; what happens within a span that has an answer is a part of it. Results of
evaluations are scores, because nothing says who gave them. Records pair by their texts, because each span has an id of
its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from json import JSONDecodeError
from math import fsum
from pathlib import Path
from typing import Any, NamedTuple

from goldmeter.dataset.formats.text_lines import text_lines
from goldmeter.dataset.readers import log, tables
from goldmeter.dataset.record import Record, file_name
from goldmeter.errors import DataError

# Where OTLP keeps spans and events.
ROOTS = {"resourceSpans": ("scopeSpans", "spans"), "resourceLogs": ("scopeLogs", "logRecords")}
OURS, EVALUATION, CHOICE, MESSAGE = "gen_ai.", "gen_ai.evaluation.result", "gen_ai.choice", ".message"
INPUTS = ("gen_ai.input.messages", "gen_ai.prompt")
OUTPUTS = ("gen_ai.output.messages", "gen_ai.completion")
RESPONSE_ID = "gen_ai.response.id"
ASKING = {"chat", "text_completion", "generate_content"}
NAMES = ("gen_ai.request.model", "gen_ai.response.model", "gen_ai.agent.name")
FAILED = {"2", "STATUS_CODE_ERROR"}
NANOSECONDS = 1e9


class Span(NamedTuple):
    """What a span and its events say; of events whose span is not there, only they.

    Attributes:
        about: Times, status and parent of the span.
        attributes: Those of the span and of its events, but evaluations.
        asked: Messages that are events of their own.
        answers: Choices that are events of their own.
        evaluations: The values of each evaluation by name.
    """

    at: Record
    about: dict[str, Any]
    attributes: dict[str, Any]
    asked: list[Any]
    answers: list[Any]
    evaluations: dict[str, list[Any]]


def recognises(head: log.Head) -> bool:
    """Tell whether a file is OTLP JSON, or begins with an object that has attributes of generative AI."""
    attributes = log.members(log.members(tables.first(head.value)).get("attributes"))
    return bool(ROOTS.keys() & head.keys) or any(name.startswith(OURS) for name in attributes)


def read(files: Sequence[Path]) -> Iterator[Record]:
    """Yield the records of all files.

    Raises:
        DataError: A file can't be read, or no span or event of it has messages.
    """
    spans: dict[str, Span] = {}
    for file in files:
        for line, entry in _entries(file):
            _add(spans, entry, Record(file_name(file), line, {}))
    _give_evaluations([*spans.values()])
    outer = [one for one in spans.values() if _is_answer(one) and not _is_within_answer(one, spans)]
    if not any(map(_has_messages, outer)):
        raise DataError(
            f"{file_name(files[0])}: no span or event with {INPUTS[0]} and {OUTPUTS[0]}; instrumentation records them "
            "only if asked to, for example by OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
        )
    yield from tables.keyed(lambda: (record for one in outer for record in _records(one)))


def _entries(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number and object of each span and event; a file of OTLP is one object, or has one a line."""
    begin = next(text_lines(file), "")
    try:
        is_lines = isinstance(log.decoded(begin), dict)
    except JSONDecodeError:
        is_lines = False
    number = 0
    for _, value in log.objects(file) if is_lines else log.values(file):
        for document in map(log.members, value if isinstance(value, list) else [value]):
            for entry in _within(document):
                number += 1
                yield number, entry


def _within(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the spans and events of a document of OTLP; else the document."""
    if not ROOTS.keys() & document.keys():
        yield {**document}
    for root, (scopes, entries) in ROOTS.items():
        for resource in map(log.members, log.items(document.get(root))):
            for scope in map(log.members, log.items(resource.get(scopes))):
                yield from ({**log.members(entry)} for entry in log.items(scope.get(entries)))


def _add(spans: dict[str, Span], entry: Mapping[str, Any], at: Record) -> None:
    """Add a span or event to what is known of its span."""
    context = {**log.members(entry.get("context")), **entry}
    key = str(tables.first_of(context, ("spanId", "span_id")) or f"{at.file} {at.line}")
    span = spans.setdefault(key, Span(at, {}, {}, [], [], {}))
    if "startTimeUnixNano" in entry:
        span.about.update(entry)
    for one in (entry, *map(log.members, log.items(entry.get("events")))):
        attributes, body = _attributes(one.get("attributes")), _plain(one.get("body"))
        name = str(tables.first_of({**attributes, **one}, ("eventName", "event.name", "name")))
        if name == EVALUATION:
            value = tables.first_of(attributes, ("gen_ai.evaluation.score.value", "gen_ai.evaluation.score.label"))
            span.evaluations.setdefault(str(attributes.get("gen_ai.evaluation.name")), []).append(value)
            span.attributes.setdefault(RESPONSE_ID, log.text_of(attributes.get(RESPONSE_ID)))
        elif name == CHOICE:
            span.answers.append(log.members(body).get("message"))
        elif name.startswith(OURS) and name.endswith(MESSAGE):
            span.asked.append({"role": name.split(".")[1], **log.members(body)})
        else:
            span.attributes.update(attributes)


def _attributes(value: Any) -> dict[str, Any]:
    """Return attributes by name: an object, or OTLP's list of keys and values."""
    pairs = {str(one.get("key")): _plain(one.get("value")) for one in map(log.members, log.items(value))}
    return {**log.members(value), **pairs}


def _plain(value: Any) -> Any:
    """Return what a value of OTLP holds, such as {"stringValue": "a"}; anything else as it is."""
    kind, held = next(iter(log.members(value).items()), ("", None))
    if not kind.endswith("Value"):
        return value
    if kind == "kvlistValue":
        return _attributes(log.members(held).get("values"))
    return [*map(_plain, log.items(log.members(held).get("values")))] if kind == "arrayValue" else held


def _give_evaluations(spans: Sequence[Span]) -> None:
    """Give evaluations whose event names the response, and not the span, to the span of the response."""
    answers = {log.text_of(one.attributes.get(RESPONSE_ID)): one for one in spans if _is_answer(one)}
    for one in spans:
        response = log.text_of(one.attributes.get(RESPONSE_ID))
        if response is not None and response in answers and not _is_answer(one):
            for name, values in one.evaluations.items():
                answers[response].evaluations.setdefault(name, []).extend(values)


def _has_messages(span: Span) -> bool:
    named = any(span.attributes.get(name) is not None for name in (*INPUTS, *OUTPUTS))
    return named or bool(span.asked or span.answers)


def _is_answer(span: Span) -> bool:
    return _has_messages(span) or span.attributes.get("gen_ai.operation.name") in ASKING


def _is_within_answer(span: Span, spans: Mapping[str, Span]) -> bool:
    seen: set[str] = set()
    while (parent := str(span.about.get("parentSpanId"))) in spans and parent not in seen:
        span = spans[parent]
        if _is_answer(span):
            return True
        seen.add(parent)
    return False


def _records(span: Span) -> Iterator[Record]:
    """Yield a record for each answer of a span; of several, none has a score."""
    given, status = span.attributes, log.members(span.about.get("status"))
    answers = [*map(_said, _messages(given, OUTPUTS) or span.answers)] or [None]
    failed = log.text_of(given.get("error.type")) or ("error" if status.get("code") in FAILED else None)
    times = [log.amount(span.about.get(name)) for name in ("startTimeUnixNano", "endTimeUnixNano")]
    tokens = [log.amount(given.get(f"gen_ai.usage.{side}_tokens")) for side in ("input", "output")]
    asked = _messages(given, INPUTS) or span.asked
    for answer in answers:
        values = log.flat(
            id="",
            input=log.conversation({**log.members(one), "content": _said(one)} for one in asked),
            response=answer,
            candidate=log.text_of(tables.first_of(given, NAMES)) or "model",
            error=(log.text_of(status.get("message")) or failed)
            if failed
            else None
            if answer is not None
            else "no output",
            latency=repr((float(times[1]) - float(times[0])) / NANOSECONDS) if times[0] and times[1] else None,
            tokens=repr(fsum(float(one) for one in tokens if one)) if any(tokens) else None,
            scores=tables.judged({name: _mean(values) for name, values in span.evaluations.items()})
            if len(answers) == 1
            else {},
            metadata={"conversation": one} if (one := given.get("gen_ai.conversation.id")) else {},
        )
        yield span.at._replace(values=values)


def _messages(given: Mapping[str, Any], names: Sequence[str]) -> list[Any]:
    value = tables.unpacked(tables.first_of(given, names))
    return [*value] if isinstance(value, list) else [] if value is None else [{"role": "user", "content": value}]


def _said(message: Any) -> str | None:
    """Return the text of a message, or of the parts of it that are text."""
    parts = log.members(message).get("parts")
    texts = [one.get("content") for one in map(log.members, log.items(parts)) if one.get("type") == "text"]
    return log.text_of(texts if isinstance(parts, list) else message)


def _mean(values: Sequence[Any]) -> Any:
    """Return the mean of numbers, or the last word."""
    numbers = [float(text) for text in map(log.number, values) if text is not None]
    return repr(fsum(numbers) / len(numbers)) if len(numbers) == len(values) else values[-1]
