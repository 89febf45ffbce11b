"""Data in a request to a judge: one visible line of JSON between two marker lines that carry a nonce."""

import json

# The message about a row, which follows the instructions.
LAYOUT = "<data nonce={nonce}>\n{fields}\n</data nonce={nonce}>"


def encode_fields(values: object) -> str:
    """Encode values as one line of JSON: printable characters as they are, all others as escapes.

    >>> encode_fields({"input": None, "ground_truth": ["Zürich"], "output": 'a "city"'})
    '{"input": null, "ground_truth": ["Zürich"], "output": "a \\\\"city\\\\""}'
    """
    text = json.dumps(values, ensure_ascii=False)
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else json.dumps(character)[1:-1] for character in text)
