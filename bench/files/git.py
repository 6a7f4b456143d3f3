"""Access to git: the repository of a folder, its commit, the files of a revision.

A repository may be a stranger's. Programs in its configuration (a file monitor, hooks, filters) are
not started, nothing is fetched, and variables such as `GIT_DIR` that point to another repository
are ignored.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from ..model.errors import BenchError

_ANSWERS_S, _UNPACKS_S = 20.0, 300.0
"""The most seconds for an answer of git, and for writing the files of a commit."""

_ELSEWHERE = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR",
              "GIT_NAMESPACE", "GIT_PREFIX", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_TRACE")  # fmt: skip
"""Environment variables that would point git to another repository."""

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
_COMMIT = "%(if)%(*objectname)%(then)%(*objectname)%(else)%(objectname)%(end)"  # of a tag, too
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def git(
    folder: Path,
    *arguments: str,
    settings: tuple[str, ...] = (),
    more: Mapping[str, str] | None = None,
    most_s: float | None = None,
) -> bytes | None:
    """The output of a git command; None if it fails, takes too long or git is missing."""
    command = ["git", "--no-optional-locks"]
    for setting in (*_STARTS_NOTHING, *settings):
        command += ["-c", setting]
    command += ["-C", str(folder), *arguments]
    environment = {name: value for name, value in os.environ.items() if name not in _ELSEWHERE}
    try:
        done = subprocess.run(command, capture_output=True, check=False, input=b"", timeout=most_s or _ANSWERS_S,
                              env={**environment, **_QUIET, **(more or {})})  # fmt: skip
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def _without_filters(folder: Path) -> Iterator[str]:
    """Yield settings that disable the programs of all filters."""
    known = git(folder, "config", "--includes", "--name-only", "--get-regexp", r"^filter\.") or b""
    for name in sorted(set(_FILTER.findall(os.fsdecode(known)))):
        yield from (
            f"{name}.clean=",
            f"{name}.smudge=",
            f"{name}.process=",
            f"{name}.required=false",
        )


def top_of(folder: Path) -> Path | None:
    """The top folder of a folder's repository; None outside of one."""
    top = git(folder, "rev-parse", "--show-toplevel")
    name = os.fsdecode(top or b"").removesuffix("\n")
    return Path(name) if name and "\0" not in name else None


def resolve(folder: Path, revision: str) -> str:
    """The full hash of a revision.

    Raises BenchError where this clone does not have it, and for a name of several commits: a tag
    called like the branch, which anyone may push, would be taken in its place.
    """
    if top_of(folder) is None:
        raise BenchError(
            f"{revision}: {folder} is in no git repository — run where the history is, or use a baseline"
        )
    revision_id = git(
        folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
    )
    places = (f"refs/{kind}/{revision}" for kind in ("tags", "heads", "remotes"))
    known = git(folder, "for-each-ref", f"--format={_COMMIT}", *places) or b""
    if len(set(known.split())) > 1:
        what = "a tag and a branch have this name"
        raise BenchError(f"{revision}: {what} — write refs/heads/{revision} or refs/remotes/…")
    sha = (revision_id or b"").decode("ascii", "replace").strip()
    if not _HASH.fullmatch(sha):
        raise BenchError(
            f"{revision}: no such revision in this clone — fetch it (actions/checkout: `fetch-depth: 0`), or check its name"
        )
    return sha


def unpack(sha: str, top: Path, folder: Path, index: Path) -> None:
    """Write the files of a repository at a commit into an empty folder.

    Neither hooks nor filters are started, and the repository is not changed. Folders of submodules
    stay empty. `index` is the path of a temporary index file. Raises BenchError where this clone
    does not have the files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for arguments in (("read-tree", sha), ("checkout-index", "--all", "--index")):
        if _with_tree(top, folder, index, *arguments) is None:
            raise BenchError(
                f"{sha[:9]}: this clone lacks files of it — fetch it with `git fetch --refetch`"
            )


def _with_tree(top: Path, folder: Path, index: Path, *arguments: str) -> bytes | None:
    """The output of a git command for a repository with another work tree."""
    settings = ("core.sparseCheckout=false", *_without_filters(top))
    more = {"GIT_INDEX_FILE": str(index), "GIT_WORK_TREE": str(folder)}
    return git(top, *arguments, settings=settings, more=more, most_s=_UNPACKS_S)
