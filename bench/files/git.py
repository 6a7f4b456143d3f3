"""Facts that git knows of a folder: its repository, its commit, the files of a revision.

A repository may be a stranger's. What its configuration says to start (a monitor of files, hooks,
filters) is not started, nothing is fetched from anywhere, and what `GIT_DIR` and its kind say of
another repository is not heard.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from ..model.errors import BenchError

_ANSWERS_S, _UNPACKS_S = 20.0, 300.0
"""The most seconds that git may take: for an answer, and to write the files of a commit."""

_ELSEWHERE = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR",
              "GIT_NAMESPACE", "GIT_PREFIX", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_TRACE")  # fmt: skip
"""Variables by which git is sent to another repository than the one that is asked."""

_QUIET = {
    "GIT_ALLOW_PROTOCOL": "none",  # a clone without all its files would fetch them
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",  # a commit is what its hash says, whatever this clone puts in its place
    "GIT_GRAFT_FILE": os.devnull,
}
_STARTS_NOTHING = (
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    "log.showSignature=false",
)
_FILTER = re.compile(r"(?m)^(filter\..+)\.[a-z]+$")
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def git(
    folder: Path,
    *arguments: str,
    settings: tuple[str, ...] = (),
    more: Mapping[str, str] | None = None,
    most_s: float | None = None,
) -> bytes | None:
    """The output of a git command; None where it fails, takes too long or there is no git."""
    options = [part for setting in (*_STARTS_NOTHING, *settings) for part in ("-c", setting)]
    command = ["git", "--no-optional-locks", *options, "-C", str(folder), *arguments]
    environment = {name: value for name, value in os.environ.items() if name not in _ELSEWHERE}
    try:
        done = subprocess.run(command, capture_output=True, check=False, input=b"", timeout=most_s or _ANSWERS_S,
                              env={**environment, **_QUIET, **(more or {})})  # fmt: skip
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def _without_filters(folder: Path) -> Iterator[str]:
    """Settings that take the programs out of all filters."""
    known = git(folder, "config", "--includes", "--name-only", "--get-regexp", r"^filter\.") or b""
    for name in sorted(set(_FILTER.findall(os.fsdecode(known)))):
        yield from (
            f"{name}.clean=",
            f"{name}.smudge=",
            f"{name}.process=",
            f"{name}.required=false",
        )


def top_of(folder: Path) -> Path | None:
    """The top folder of the repository that a folder is in; None outside of one."""
    top = git(folder, "rev-parse", "--show-toplevel")
    name = os.fsdecode(top or b"").removesuffix("\n")
    return Path(name) if name and "\0" not in name else None


def resolve(folder: Path, revision: str) -> str:
    """The full hash of a revision. Raises BenchError where this clone does not have it."""
    if top_of(folder) is None:
        raise BenchError(
            f"{revision}: {folder} is in no git repository — run where the history is, or use a baseline"
        )
    revision_id = git(
        folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
    )
    sha = (revision_id or b"").decode("ascii", "replace").strip()
    if not _HASH.fullmatch(sha):
        raise BenchError(
            f"{revision}: no such revision in this clone — fetch it (actions/checkout: `fetch-depth: 0`), or check its name"
        )
    return sha


def unpack(sha: str, top: Path, folder: Path, index: Path) -> None:
    """Write the files of a repository at a commit into an empty folder.

    Neither hooks nor filters are started, and the repository itself is not changed. Folders of
    submodules stay empty. `index` is a new file of git's. Raises BenchError where this clone does
    not have the files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for arguments in (("read-tree", sha), ("checkout-index", "--all", "--index")):
        if _with_tree(top, folder, index, *arguments) is None:
            raise BenchError(
                f"{sha[:9]}: this clone does not hold what it was — fetch it with `git fetch --refetch`"
            )


def _with_tree(top: Path, folder: Path, index: Path, *arguments: str) -> bytes | None:
    """The output of a git command about another work tree of a repository."""
    settings = ("core.sparseCheckout=false", *_without_filters(top))
    more = {"GIT_INDEX_FILE": str(index), "GIT_WORK_TREE": str(folder)}
    return git(top, *arguments, settings=settings, more=more, most_s=_UNPACKS_S)
