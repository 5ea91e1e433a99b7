"""Inputs that are almost valid: texts and bytes changed at random places, by a generator seeded with a number."""

import random
import re
from collections.abc import Callable

TOKEN = re.compile(r'"[^"\n]*"|[A-Za-z_][\w-]*|\d+(?:\.\d+)?|\s+|.')

ODD = (
    *("0", "-1", "1", "nan", "inf", "-inf", "1e308", "1e-308", "9" * 30, "9" * 5000, "0x10", "1_000", "true", "false"),
    *('""', '"\\u0000"', '"auto"', '"bdp"', '"0 packets"', '"4000000000 packets"', '"1e9 bdp"', '"1000 Tbit/s"'),
    *('"1 bit/s"', '"0 s"', '"1e6 s"', '"1 ps"', '"10 % bdp"', '"1 bdp/sqrt(n)"', '"λ→∞"', '"a\\tb"', '"../../x"'),
    *('"/dev/zero"', '"$x$"', '"=1+1"', "[]", "{}", "[[]]", "{ a = 1 }", "[" * 300 + "]" * 300, "{ from = 1, to = 2 }"),
    *('{ law = "bbr" }', '{ discipline = "red" }', "1979-05-27", "'''", '"""', "#", "\\"),
)
"""Values given by mistake or malice."""

LETTERS = "\0\t\n\"'=[]{}λ🐘"
NUMBERS = (0, 1, 2, 2**31, 2**32, 2**53, 2**63, 2**64, 10**18)


def text(chance: random.Random, corpus: list[str]) -> str:
    """Change one of `corpus` by some tokens or letters, or join two."""
    found = chance.choice(corpus)
    for _ in range(chance.choice((0, 1, 1, 1, 2, 3, 8))):
        tokens = TOKEN.findall(found)
        if not tokens:
            return found
        chance.choice(CHANGES)(chance, tokens, TOKEN.findall(chance.choice(corpus)) or [""])
        found = "".join(tokens)
    return found


def _odd(chance: random.Random, tokens: list[str], _: list[str]) -> None:
    tokens[chance.randrange(len(tokens))] = chance.choice(ODD)


def _odd_value(chance: random.Random, tokens: list[str], _: list[str]) -> None:
    _replace(chance, tokens, lambda token: token[0] in '"0123456789', lambda _: chance.choice(ODD))


def _number(chance: random.Random, tokens: list[str], _: list[str]) -> None:
    _replace(chance, tokens, lambda token: token[0].isdecimal(), lambda _: str(chance.choice(NUMBERS)))


def _amount(chance: random.Random, tokens: list[str], _: list[str]) -> None:
    def other(token: str) -> str:
        return re.sub(r"\d+(\.\d+)?", lambda _: f"{10 ** chance.uniform(-9, 15):.6g}", token)

    _replace(chance, tokens, lambda token: token[0] == '"', other)


def _replace(
    chance: random.Random, tokens: list[str], suits: Callable[[str], bool], change: Callable[[str], str]
) -> None:
    places = [i for i, token in enumerate(tokens) if suits(token)]
    if places:
        at = chance.choice(places)
        tokens[at] = change(tokens[at])


def _other(chance: random.Random, tokens: list[str], other: list[str]) -> None:
    tokens[chance.randrange(len(tokens))] = chance.choice(other)


def _joined(chance: random.Random, tokens: list[str], other: list[str]) -> None:
    at, begin = chance.randrange(len(tokens)), chance.randrange(len(other))
    tokens[at:at] = other[begin : begin + chance.randrange(1, 40)]


def _gone(chance: random.Random, tokens: list[str], _: list[str]) -> None:
    at = chance.randrange(len(tokens))
    del tokens[at : at + chance.randrange(1, 20)]


def _twice(chance: random.Random, tokens: list[str], _: list[str]) -> None:
    tokens.insert(chance.randrange(len(tokens)), chance.choice(tokens))


def _letter(chance: random.Random, tokens: list[str], _: list[str]) -> None:
    at = chance.randrange(len(tokens))
    within = chance.randrange(len(tokens[at]) + 1)
    tokens[at] = tokens[at][:within] + chance.choice(LETTERS) + tokens[at][within + chance.randrange(2) :]


CHANGES = (_odd, _odd_value, _number, _amount, _other, _joined, _gone, _twice, _letter)


def raw(chance: random.Random, corpus: list[bytes]) -> bytes:
    """Change one of `corpus` by some bytes, cut it, or lengthen it."""
    found = bytearray(chance.choice(corpus))
    for _ in range(chance.choice((1, 1, 2, 4, 16))):
        at = chance.randrange(len(found) + 1)
        change = chance.randrange(5)
        if change == 0 and found:
            found[at % len(found)] = chance.randrange(256)
        elif change == 1:
            del found[at:]
        elif change == 2:
            del found[at : at + chance.randrange(1, 64)]
        elif change == 3:
            found[at:at] = chance.randbytes(chance.randrange(1, 64))
        else:
            found[at:at] = found[: chance.randrange(1, 256)]
    return bytes(found)
