"""What git knows of a folder: its repository, the commit it is at, and files as they were at a revision."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from ..errors import BenchError, one_line


@dataclass(frozen=True)
class Commit:
    """Where a working tree stands: the commit's hash, its subject line, and whether tracked files differ from it."""

    sha: str
    subject: str
    dirty: bool


def git(folder: Path, *arguments: str) -> bytes | None:
    """What a git command prints; None where it fails, where there is no git, or where the folder is in no repository."""
    command = ["git", "--no-optional-locks", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


def commit_of(folder: Path) -> Commit | None:
    """The commit a folder's repository is at; None outside a repository, and in one without a commit."""
    said = git(folder, "log", "-1", "--format=%H%x00%s")
    if said is None or b"\0" not in said:
        return None
    sha, _, subject = said.decode("utf-8", "replace").strip().partition("\0")
    return Commit(sha, one_line(subject), bool(git(folder, "status", "--porcelain", "--untracked-files=no")))


def resolve(folder: Path, revision: str) -> str:
    """The full hash of a revision. Raises BenchError outside a repository, and for a revision that this clone does not have."""
    if git(folder, "rev-parse", "--show-toplevel") is None:
        raise BenchError(f"{revision}: {folder} is in no git repository — run where the history is, or use a baseline")
    found = git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if found is None:
        raise BenchError(
            f"{revision}: no such revision in this clone — fetch it (actions/checkout: `fetch-depth: 0`), or check its name"
        )
    return found.decode().strip()


def file_at(sha: str, path: Path) -> tuple[str, bytes | None]:
    """A file's path in its repository, and its bytes at a commit (None: it was not there). Raises BenchError outside a repository."""
    top = git(path.parent, "rev-parse", "--show-toplevel") if path.parent.is_dir() else None
    if top is None:
        raise BenchError(f"{path.name}: its folder is in no git repository — --against needs its history")
    inside = path.resolve().relative_to(Path(top.decode().strip()).resolve()).as_posix()
    return inside, git(path.parent, "cat-file", "blob", f"{sha}:{inside}")
