"""Recognition of lines of tc in scripts, transcripts of shells, files of network labs, and output of tc.

*Source*: tc(8); ip-netns(8); the manual of Kathara for ``NAME.startup`` and for ``NAME[exec]`` in ``lab.conf``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MOST_LINES = 10_000

_EXEC = r"(?:kathara|docker|podman)\s+exec\s+(?:-\S+\s+(?:\S*/\S*\s+)?)*(?P<exec>[\w.-]+)\s+(?:--\s+)?"
_BEFORE = (
    r"\s*(?:\S*[$#>]\s+)?(?:(?P<lab>[\w.-]+)\[exec\]=)?[\"']?(?:sudo\s+(?:-\S+\s+)*)?"
    rf"(?:ip\s+netns\s+exec\s+(?P<netns>\S+)\s+|{_EXEC}|mnexec\s+(?:-\S+\s+|\d+\s+)*)?[\"']?"
)
"""Pattern of text before a command: a prompt, and programs that start another program."""

SHOWN = re.compile(r"\s*(?:qdisc|class) [a-z_]+ [\da-f]*:[\da-f]* (?:offloaded )?(?:dev|root|parent) ")
"""Pattern of the beginning of a line of ``tc qdisc show`` or ``tc class show``."""

LAB = re.compile(r"^[\w.-]+\[(?:\d+|exec)\]=", re.MULTILINE)
"""Pattern of the beginning of a line of Kathara's ``lab.conf``: the network of an interface, or a command."""

_TYPED = re.compile(rf"{_BEFORE}(?:\S*/)?tc\s+(?P<tc>(?:-\S+\s+)*(?:qdisc|class|filter)\s.*)")


class Line(NamedTuple):
    """A command line of the shell, or a line of output, and its number in the text."""

    number: int
    text: str


class Command(NamedTuple):
    """Words after tc, and the host on which tc runs; the host is empty if the line does not name one."""

    words: list[str]
    host: str


def is_tc(text: str) -> bool:
    """Whether a text has lines of tc.

    Examples
    --------
    >>> is_tc("qdisc noqueue 0: dev lo root refcnt 2"), is_tc("time_s,rate_bps")
    (True, False)
    """
    return any(SHOWN.match(line.text) or command(line.text) for line in lines_of(text[:100_000]))


def lines_of(text: str) -> list[Line]:
    """Split a text into lines as a shell does: ``&&`` and ``;`` end a command, a backslash continues it."""
    found: list[Line] = []
    begun: Line | None = None
    for at, line in enumerate(text.splitlines()[:MOST_LINES], 1):
        number, before = begun or (at, "")
        begun = Line(number, f"{before}{line[:-1]} ") if line.endswith("\\") else None
        if begun is None:
            found += [Line(number, part) for part in re.split(r"&&|;", before + line)]
    return found if begun is None else [*found, begun]


def command(line: str) -> Command | None:
    """Return the tc command in a line, without comments; None for other lines, such as prose about tc.

    Examples
    --------
    >>> command('r1[exec]="tc qdisc add dev eth0 root netem delay 20ms"')
    Command(words=['qdisc', 'add', 'dev', 'eth0', 'root', 'netem', 'delay', '20ms'], host='r1')
    """
    found = _TYPED.match(line)
    if found is None:
        return None
    words = re.sub(r"\s#.*", "", found["tc"]).rstrip(" \"'").split()
    host = found["lab"] or found["netns"] or found["exec"] or ""
    return Command([word for word in words if not re.fullmatch(r"-[a-z]+", word)], host)
