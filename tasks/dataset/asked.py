"""A candidate that the stage answer asks: its model, and how it is asked."""

from typing import Annotated, Any, Final

from pydantic import Field, field_validator

from tasks.pipeline.settings import Positive, Section, ServerName, ServerUrl

OPENAI = "https://api.openai.com/v1"
# Columns of data/answer that load reads as those of a candidate.
RESPONSE: Final = "response"


class AskedOptions(Section):
    """The model of a candidate that is asked. Options that are not sent to the model ask nothing again.

    model: is asked for the answers, instead of a column; as the server calls it.
    base_url: of a server with OpenAI's protocol.
    server: name of the server in the ledger; none: its address.
    api_key_env: environment variable that holds the key; not stated: OPENAI_API_KEY for OpenAI, else no key.
    prompt: template of the message over input, contexts and slices, in the folder prompts.
    system: file with the system message, in the folder prompts; none: there is none.
    temperature: none: the server's.
    seed: none: the server's.
    max_tokens: of an answer; none: the server's limit.
    draws: answers to each question.
    version: of the system behind the model; another one asks every question again.
    """

    model: Annotated[str, Field(min_length=1)]
    base_url: ServerUrl = OPENAI
    server: ServerName | None = None
    api_key_env: str | None = None
    prompt: str = "prompts/answer.txt"
    system: str | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    seed: int | None = None
    max_tokens: Positive | None = None
    draws: Positive = 1
    version: str | None = None

    @field_validator("version", mode="before")
    @classmethod
    def _as_text(cls, version: Any) -> Any:
        return str(version) if type(version) in {int, float} else version
