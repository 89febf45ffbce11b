"""A judge's replies that are in the ledger: how long those to come will be, and what the server supports."""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain

import numpy as np

from tasks.asking.budget import CRITERION_TOKENS, REPLY_TOKENS
from tasks.asking.replies import replies
from tasks.asking.requests import Request
from tasks.ledger.verdicts import Verdicts
from tasks.models.chat.capabilities import Support

# Replies of a metric that are read: more change the mean little.
MOST = 200


class EarlierReplies:
    """The replies to requests of this run that are answered: of the same judge and prompt as the replies to come."""

    def __init__(self, ledger: Verdicts) -> None:
        self._ledger = ledger
        self._tokens: dict[str, list[int]] = {}
        self._asked = Counter[str]()

    def add(self, answered: Iterable[Request]) -> None:
        """Read the replies to requests, until there are enough of each metric."""
        room = {name: MOST - len(tokens) for name, tokens in self._tokens.items()}
        chosen = list[Request]()
        for request in answered:
            name = request.question.name
            if left := room.get(name, MOST):
                room[name] = left - 1
                chosen.append(request)
        for entry in replies(chosen, self._ledger).values() if chosen else ():
            self._asked.update(filter(None, [entry["asked"]]))
            if tokens := entry["tokens"]:
                self._tokens.setdefault(entry["metric"], []).append(tokens["completion"])

    def mean(self, calls: Mapping[str, int], criteria: Mapping[str, int]) -> float:
        """Return the expected tokens of a reply, reasoning included.

        A metric without replies has those of the others, and some for each criterion. Without any, a guess is returned
        that holds no reasoning.

        Args:
            calls: Metric → its calls.
            criteria: Metric → criteria that all its calls ask about.
        """
        everything = [*chain.from_iterable(self._tokens.values())]
        usual = float(np.mean(everything)) if everything else float(REPLY_TOKENS)
        tokens = [
            count * float(np.mean(own))
            if (own := self._tokens.get(name))
            else count * usual + CRITERION_TOKENS * criteria.get(name, 0)
            for name, count in calls.items()
        ]
        total = Counter(calls).total()
        return sum(tokens) / total if total else REPLY_TOKENS

    @property
    def support(self) -> Support | None:
        """What the server supports, by the way in which most of the replies were asked for; None without any."""
        return next((Support.of(summary) for summary, _ in self._asked.most_common(1)), None)

    @property
    def longest(self) -> int:
        """The most tokens of a reply; a guess without any."""
        return max(chain.from_iterable(self._tokens.values()), default=REPLY_TOKENS)
