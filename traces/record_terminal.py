"""Record the terminal sessions again: `python traces/record_terminal.py [FOLDER]` writes
terminal/session.json, its beginnings of 20, 40 and 100 commands, and the short sessions of
terminal_tickets/ into FOLDER.

FOLDER is this one by default. Needs CPython 3.11 and bash, grep, sed, awk, find, sort, wc, cp,
diff; takes a few seconds. The standard library of the interpreter that runs it is the tree that is
investigated, so another interpreter gives other line numbers.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from recorders.terminal_investigation import investigate
from recorders.terminal_session import Terminal, Transcript
from recorders.terminal_tickets import sessions
from recorders.terminal_workspace import build

BEGINNINGS = (20, 40, 100)
"""The numbers of commands at which document 002 is measured: the same session, as far as that."""


def main(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary) / "workspace"
        build(root)
        transcript = Transcript(Terminal(root))
        investigate(transcript)
        transcript.write(folder / "terminal" / "session.json")
        for commands in BEGINNINGS:
            transcript.write(folder / "terminal_beginnings" / f"{commands:03}_commands.json", commands)
    print(f"terminal/session.json: {transcript.commands} commands, {len(transcript.messages)} messages")
    for name, short in sessions():
        short.write(folder / "terminal_tickets" / f"{name}.json")
        print(f"terminal_tickets/{name}.json: {short.commands} commands, {len(short.messages)} messages")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
