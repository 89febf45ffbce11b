"""Pairs of a reference and a response that differs by one symbol, the order of two parts, a value or a withdrawal."""

from collections.abc import Callable, Mapping

import numpy as np

Rng = np.random.Generator
NAMES = ("Paris", "Lyon", "Oslo", "Lima", "Cairo", "Quito", "Delhi", "Kyoto", "Porto", "Turin", "Perth", "Dakar")
BLOOD, LANGUAGES = ("A+", "A-", "B+", "B-", "AB+", "AB-", "O+", "O-"), ("C", "C++", "C#", "F#", "J#", "Q#")
OPERATORS = ("<", ">", "<=", ">=", "==", "!=")
LETTERS = tuple("abcdxyzpq")
ACTIONS = ("beat", "defeated", "chases", "eats")
WITHDRAWALS = (
    "It is {r}. Sorry, I meant {a}.",
    "{r}. Actually, no: {a}.",
    "{r} was it until 1940; now it is {a}.",
    "{r}? No, {a}.",
    "{r} is wrong; it is {a}.",
    "It was once {r}, but today it is {a}.",
    "It is {a}, not {r}.",
    "Unlike {r}, {a} is the one.",
)


def other(rng: Rng, values: tuple[str, ...], value: str) -> str:
    return str(rng.choice([one for one in values if one != value]))


def symbol(rng: Rng) -> tuple[str, str]:
    kind = int(rng.integers(4))
    if kind == 0:
        first = str(rng.choice(BLOOD))
        return first, first[:-1] + {"+": "-", "-": "+"}[first[-1]]
    if kind == 1:
        first = str(rng.choice(LANGUAGES))
        return first, other(rng, LANGUAGES, first)
    if kind == 2:
        a, b = rng.choice(LETTERS, 2, replace=False)
        sign = str(rng.choice(OPERATORS))
        return f"{a}{sign}{b}", f"{a}{other(rng, OPERATORS, sign)}{b}"
    number, sign = int(rng.integers(2, 900)), str(rng.choice(["<", ">", "$", "€", "£"]))
    group = ("<", ">") if sign in "<>" else ("$", "€", "£")
    return f"{sign}{number}", f"{other(rng, group, sign)}{number}"


def order(rng: Rng) -> tuple[str, str]:
    kind = int(rng.integers(3))
    if kind == 0:
        a, b = rng.choice(np.arange(1, 60), 2, replace=False)
        return f"{a}:{b}", f"{b}:{a}"
    a, b = rng.choice(NAMES, 2, replace=False)
    if kind == 1:
        return f"from {a} to {b}", f"from {b} to {a}"
    action = str(rng.choice(ACTIONS))
    return f"{a} {action} {b}", f"{b} {action} {a}"


def value(rng: Rng) -> tuple[str, str]:
    kind, number = int(rng.integers(4)), int(rng.integers(2, 90))
    more = number + int(rng.integers(1, 9))
    template = ("H{}O", "{}", "{} km", "version {}.2.1")[kind]
    return template.format(number), template.format(more)


def withdrawal(rng: Rng) -> tuple[str, str]:
    r, a = rng.choice(NAMES, 2, replace=False)
    return str(r), str(rng.choice(WITHDRAWALS)).format(r=r, a=a)


KINDS: Mapping[str, Callable[[Rng], tuple[str, str]]] = {
    "symbol": symbol, "order": order, "value": value, "withdrawal": withdrawal,
}  # fmt: skip


def drawn(number: int, seed: int = 3) -> list[tuple[str, str, str]]:
    """Kind, reference and wrong response of so many pairs, kinds in turn."""
    rng = np.random.default_rng(seed)
    kinds = [*KINDS]
    return [(kinds[i % len(kinds)], *KINDS[kinds[i % len(kinds)]](rng)) for i in range(number)]
