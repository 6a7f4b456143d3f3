"""Short terminal sessions: an agent repairs two tickets of the same tree and reports them, without the audit of the long one."""

from __future__ import annotations

import re
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .terminal_investigation import SYSTEM, Repair, repair
from .terminal_session import Terminal, Transcript
from .terminal_workspace import DEFECTS, Defect, build

APART = 3
"""The distance of the two tickets of a session in the list of defects, so that they concern different modules."""


def sessions() -> Iterator[tuple[str, Transcript]]:
    """Every session with its name, one for each defect; each in a workspace of its own."""
    for number, first in enumerate(DEFECTS):
        second = DEFECTS[(number + APART) % len(DEFECTS)]
        with tempfile.TemporaryDirectory() as temporary:
            root = Path(temporary) / "workspace"
            build(root)
            log = Transcript(Terminal(root))
            _two_tickets(log, number, first, second)
            yield f"{first.ticket}_{second.ticket}".lower().replace("aud-", ""), log


def _two_tickets(log: Transcript, number: int, first: Defect, second: Defect) -> None:
    """Read the notes, repair both tickets, compare with the copy, write CHANGES.md, report."""
    log.say("system", SYSTEM)
    log.say(
        "user",
        f"Users reported defects in src/, a copy of some standard-library modules; NOTES.md lists them. Repair {first.ticket} "
        f"and {second.ticket} and no other. For each: reproduce it with its test, find the line that causes it, repair that line "
        "and show that the test passes. Then write CHANGES.md and report file, line and cause of both.",
    )
    notes = log.execute("NOTES.md says what was reported.", "cat NOTES.md")
    tickets = re.findall(r"AUD-\d+", notes.output)
    log.execute(
        f"{len(tickets)} tickets; mine are {first.ticket} and {second.ticket}. I keep a copy of the tree to compare with.",
        "cp -r src before",
    )
    log.execute("Which tests are there?", "wc -l tests/*.py")
    repairs = [repair(log, number + place, defect) for place, defect in enumerate((first, second))]
    _report(log, repairs)


def _report(log: Transcript, repairs: list[Repair]) -> None:
    changed = log.execute("Both are done. What differs from the copy?", "diff -r before src")
    hunks = re.findall(r"^\d+c\d+$", changed.output, re.MULTILINE)
    text = "\n".join(f"{item.ticket} {item.path}:{item.line} {item.cause}" for item in repairs)
    log.execute(
        f"{len(hunks)} changed lines, one for each ticket.",
        f"printf '%s\\n' {' '.join(shlex.quote(line) for line in text.splitlines())} > CHANGES.md",
    )
    log.execute("Read it back.", "cat CHANGES.md")
    log.say(
        "assistant",
        "Both tickets are repaired and their tests pass.\n\n"
        + "\n".join(
            f"- {item.ticket}: {item.path} line {item.line} (test {item.test}): {item.cause}." for item in repairs
        ),
    )
