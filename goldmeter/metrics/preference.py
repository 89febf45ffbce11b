"""The question which of two answers is better: a prompt in a file, and the verdict A, B or tie."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from pydantic import model_validator

from goldmeter.metrics.catalogue import validated
from goldmeter.metrics.judged import texts_of
from goldmeter.metrics.prompt_template import NONCE, render
from goldmeter.metrics.prompted import LAST_LINE, Prompted
from goldmeter.metrics.verdict_types import Labels, VerdictType

NAME = "preference"
# Verdicts in the order of their numbers in the ledger: the answer shown first, the other one, neither.
TIE = "tie"
VERDICTS = ("A", "B", TIE)
_OF_ONE = ("response", "contexts")


class Preference(Prompted):
    """A question about two answers, A and B, to one input; no metric, because it scores no single answer.

    prompt: the file, in the folder prompts. The template reads input, references, slices, and response_a, response_b,
    contexts_a and contexts_b.
    """

    task: ClassVar[str] = "You compare two answers, A and B, of two systems by the question in the message."
    variables: ClassVar[Mapping[str, Any]] = {
        "input": "",
        "references": [],
        "response_a": "",
        "response_b": "",
        "contexts_a": [],
        "contexts_b": [],
        "slices": None,
    }

    @model_validator(mode="after")
    def _check_threshold(self) -> Self:
        if missing := [name for name in ("response_a", "response_b") if name not in self.reads]:
            raise ValueError(f"{self.prompt} does not read {' and '.join(missing)}")
        return self

    @property
    def name(self) -> str:
        return NAME

    @property
    def verdict(self) -> VerdictType:
        return Labels(labels=VERDICTS, passing=frozenset())

    @property
    def reads_contexts(self) -> bool:
        """Whether the prompt shows what was retrieved."""
        return any(name.startswith("contexts") for name in self.reads)

    def signature_fields(self) -> dict[str, object]:
        return {}

    def fields_of(self, first: Mapping[str, Any], second: Mapping[str, Any], references: Sequence[str]) -> str:
        """Return what a request says of two rows of data/normalize with one id.

        Args:
            first: The row whose response is shown first, as A.
            second: The other one.
            references: All texts that count as right.

        Raises:
            TemplateError: The request can't be made from these rows.
        """
        values: dict[str, Any] = {"references": texts_of([*references])}
        for name in self.reads:
            kind, _, side = name.rpartition("_")
            if kind in _OF_ONE:
                values[name] = (first if side == "a" else second).get(kind)
            elif name != "references":
                values[name] = first.get(name)
        return render(self.text, {name: values[name] for name in self.reads}) + LAST_LINE.format(nonce=NONCE)


def preference(prompt: Any, path: str) -> Preference:
    """Return the question of a prompt; path: where it stands in params.yaml.

    Raises:
        ParamsError: The prompt can't be used; the message names its path.
    """
    return validated(Preference, {"prompt": prompt}, path)
