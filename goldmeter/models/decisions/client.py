"""Client of a decision model: of OpenAI's `/decisions`, or of a System One API, `/systemone`."""

import json
from collections.abc import Mapping
from typing import Self

from goldmeter.models.chat.exchange import Body, Endpoint, Exchange, RefusedError
from goldmeter.models.chat.limits import ConcurrencyLimit, Support
from goldmeter.models.chat.negotiation import Negotiation, Other
from goldmeter.models.chat.refusals import Cause
from goldmeter.models.chat.replies import Reply, printable, since
from goldmeter.models.decisions.dialects import DECISIONS, SYSTEM_ONE, Dialect, decided, usage_of

NEEDED = " A decision model is asked at base_url/decisions or base_url/systemone."


class Decisions:
    """Calls one decision model; threads may share it, and the concurrency limit applies to all of them.

    The first call detects which of the two forms the server has.

    Args:
        endpoint: The server.
        limit: Of calls at once.
    """

    def __init__(self, endpoint: Endpoint, limit: ConcurrencyLimit) -> None:
        self._model = endpoint.model
        self._exchange = Exchange(endpoint, limit, NEEDED)
        self._ways = Negotiation(self._exchange, DECISIONS, is_known=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connections."""
        self._exchange.close()

    def ask(self, text: str, statements: Mapping[str, str]) -> Reply:
        """Return the probability of each statement about a text, asked in one call.

        Args:
            text: What the statements are about.
            statements: Name → statement.

        Raises:
            ModelError: No call can succeed: key, model or address are wrong.
        """

        def call(dialect: Dialect) -> Reply:
            body = dialect.body(self._model, text, statements)
            answer = self._exchange.post(dialect.path, body, other_paths=True)
            return answer if isinstance(answer, Reply) else self._read(answer, dialect, statements)

        return self._exchange.reply(lambda: self._ways.first_reply(call, _after) or call(self._ways.way))

    def stop(self) -> None:
        """Make no further call; every later `ask` raises ModelError."""
        self._exchange.stop()

    def _read(self, body: Body, dialect: Dialect, statements: Mapping[str, str]) -> Reply:
        try:
            content = json.loads(body.text)
        except (ValueError, RecursionError):
            content = None
        if not isinstance(content, dict) or "answers" not in content:
            return self._exchange.unusable(body.text, body.start, body.attempts)
        found, model = decided(content["answers"], statements), content.get("model")
        said = json.dumps(content["answers"], ensure_ascii=False)
        return Reply(
            text=self._exchange.clean(printable(said)),
            problem=found.problem,
            model=printable(self._exchange.clean(model)) if isinstance(model, str) else None,
            tokens=usage_of(content.get("usage")),
            latency=since(body.start),
            attempts=body.attempts,
            support=Support(dialect.name),
            probabilities=None if found.problem else found.probabilities,
        )


def _after(dialect: Dialect, refusal: RefusedError) -> Other[Dialect]:
    """Return the other form after a refusal; that the server lacks the path is certain, another refusal is not."""
    other = SYSTEM_ONE if dialect == DECISIONS and refusal.refusal.cause is not Cause.CONTEXT else None
    return Other(other, is_named=refusal.refusal.cause in {Cause.ADDRESS, Cause.UNSUPPORTED})
