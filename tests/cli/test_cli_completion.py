"""Completion: the script that `bench completion` prints, run in each shell that is here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bench.cli import main

ROOT = Path(__file__).parents[2]
WORDS = {
    "bench r": {"run"},
    "bench run --up": {"--update-baseline"},
    "bench completion ": {"bash", "zsh", "fish"},
}

BASH = """
{script}
COMP_WORDS=({words})
COMP_CWORD={at}
_bench_completion bench
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
ZSH = """
autoload -Uz compinit && compinit -u -D
{script}
COMP_WORDS="{line}" COMP_CWORD={at} _BENCH_COMPLETE=zsh_complete bench
"""
FISH = """
{script}
complete --do-complete "{line}"
"""


@pytest.fixture
def there(tmp_path: Path) -> dict[str, str]:
    """The environment of a shell in which `bench` is this one."""
    command = tmp_path / "bin" / "bench"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m bench "$@"\n')
    command.chmod(0o755)
    return {
        **os.environ,
        "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "HOME": str(tmp_path),
    }


@pytest.mark.parametrize("line", WORDS)
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands_and_options(shell: str, line: str, there: dict[str, str]) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    printed = subprocess.run(
        ["bench", "completion", shell], env=there, capture_output=True, text=True, check=True
    ).stdout
    words = line.split(" ")
    template = {"bash": BASH, "zsh": ZSH, "fish": FISH}[shell]
    text = template.format(script=printed, line=line, at=len(words) - 1, words=" ".join(f"'{word}'" for word in words))
    done = subprocess.run([shell, "-c", text], env=there, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert WORDS[line] <= set(done.stdout.split())


def test_an_unknown_shell_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["completion", "tcsh"])
    assert ended.value.code == 2
    assert "tcsh" in capsys.readouterr().err
