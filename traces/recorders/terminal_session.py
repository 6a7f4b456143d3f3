"""A terminal that really runs commands, and the transcript that a scripted agent leaves: messages as mini-swe-agent writes them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
from dataclasses import dataclass, field
from pathlib import Path

SHOWN_ROOT = "/workspace"
SHOWN_LIBRARY = "/usr/lib/python3"
_SECONDS = re.compile(r"\bin \d+\.\d+s\b")


@dataclass(frozen=True)
class Answer:
    """What one command gave: its return code and its output, stdout and stderr together."""

    returncode: int
    output: str

    @property
    def lines(self) -> list[str]:
        return self.output.splitlines()

    def search(self, pattern: str) -> re.Match[str]:
        """The first match in the output. ValueError where there is none: the session took a turn that the script does not know."""
        found = re.search(pattern, self.output, re.MULTILINE)
        if found is None:
            raise ValueError(f"no {pattern!r} in the output: {self.output[:300]!r}")
        return found


@dataclass
class Terminal:
    """Runs one shell command after another in `root`, with a fixed environment and nothing volatile in what it prints.

    Three things are rewritten in the output: the temporary folder (to /workspace), the folder of the interpreter's own library (to
    /usr/lib/python3) and the seconds of a test run (to 0.000s).
    """

    root: Path

    def __post_init__(self) -> None:
        wrapper = self.root / ".bin" / "python3"
        wrapper.parent.mkdir()
        python = getattr(sys, "_base_executable", sys.executable)
        wrapper.write_text(f'#!/bin/sh\nexec "{python}" -B "$@"\n', encoding="utf-8")
        wrapper.chmod(0o755)

    def run(self, command: str) -> Answer:
        environment = {
            "PATH": f"{self.root / '.bin'}:/usr/local/bin:/usr/bin:/bin",
            "LC_ALL": "C",
            "PYTHONHASHSEED": "0",
            "PYTHONIOENCODING": "utf-8",
            "PYTHONPATH": "src",
            "HOME": str(self.root),
            "COLUMNS": "120",
        }
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=60,
        )
        text = done.stdout.decode("utf-8", "replace")
        for folder in sorted({str(self.root), os.path.realpath(self.root)}, key=len, reverse=True):
            text = text.replace(folder, SHOWN_ROOT)
        text = text.replace(sysconfig.get_paths()["stdlib"], SHOWN_LIBRARY)
        return Answer(done.returncode, _SECONDS.sub("in 0.000s", text))


@dataclass
class Transcript:
    """The messages so far. `execute` says something, runs a command for real, and adds both sides."""

    terminal: Terminal
    messages: list[dict[str, str]] = field(default_factory=list)
    commands: int = 0

    def say(self, role: str, content: str) -> None:
        self.messages.append({"role": role, "content": content})

    def execute(self, thought: str, command: str) -> Answer:
        if "\n" in command:
            raise ValueError(f"a command must fit on one line: {command!r}")
        self.say("assistant", f"{thought}\n\nexecute: {command}")
        answer = self.terminal.run(command)
        output = answer.output if answer.output.endswith("\n") or not answer.output else answer.output + "\n"
        self.say("user", f"<returncode>{answer.returncode}</returncode>\n<output>\n{output}</output>")
        self.commands += 1
        return answer

    def write(self, path: Path, commands: int | None = None) -> None:
        """Write the bare list of messages, indented, with a line break at the end; `commands`: as far as the turn after so many of them."""
        path.parent.mkdir(parents=True, exist_ok=True)
        end = None if commands is None else self._after(commands)
        path.write_text(json.dumps(self.messages[:end], ensure_ascii=False, indent=1) + "\n", encoding="utf-8")

    def _after(self, commands: int) -> int:
        """How many messages there are up to the turn that follows the given number of answered commands."""
        answers = [
            place for place, message in enumerate(self.messages) if message["content"].startswith("<returncode>")
        ]
        return answers[commands - 1] + 2
