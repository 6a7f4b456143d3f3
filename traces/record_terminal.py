"""Record the terminal session again: `python traces/record_terminal.py [FOLDER]` writes terminal/session.json into FOLDER.

FOLDER is this one by default. Needs CPython 3.11 and bash, grep, sed, awk, find, sort, wc, cp, diff; takes a few seconds. The standard library of
the interpreter that runs it is the tree that is investigated, so another interpreter gives other line numbers.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from recorders.terminal_investigation import investigate
from recorders.terminal_session import Terminal, Transcript
from recorders.terminal_workspace import build


def main(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary) / "workspace"
        build(root)
        transcript = Transcript(Terminal(root))
        investigate(transcript)
        transcript.write(folder / "terminal" / "session.json")
    print(f"terminal/session.json: {transcript.commands} commands, {len(transcript.messages)} messages")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
