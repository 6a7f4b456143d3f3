"""Access to git: the repository of a folder, its commit, the files of a revision.

A repository may be a stranger's. Programs in its configuration (a file monitor, hooks, filters) are
not started, nothing is fetched, and variables such as `GIT_DIR` that point to another repository
are ignored.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

from ..model.errors import BenchError

_ANSWERS_S, _UNPACKS_S = 20.0, 300.0
"""The most seconds for an answer of git, and for writing the files of a commit."""

_KEPT = ("GIT_CEILING_DIRECTORIES", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM",
         "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_EXEC_PATH")  # fmt: skip
"""The variables of git that are obeyed; the others would point it to another repository."""

_QUIET = {
    "GIT_ALLOW_PROTOCOL": "none",  # a clone without all its files would fetch them
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",  # a commit is what its hash says, whatever this clone puts in its place
    "GIT_GRAFT_FILE": os.devnull,
}
_STARTS_NOTHING = "core.fsmonitor=false", f"core.hooksPath={os.devnull}", "log.showSignature=false"
_FILTER = re.compile(r"(?m)^(filter\..+)\.[a-z]+$")
_COMMIT = "%(if)%(*objectname)%(then)%(*objectname)%(else)%(objectname)%(end)"  # of a tag, too
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def git(
    folder: Path,
    *arguments: str,
    settings: Iterable[str] = (),
    most_s: float | None = None,
    **variables: str,
) -> bytes | None:
    """The output of a git command; None if it fails, takes too long or git is missing."""
    command = ["git", "--no-optional-locks"]
    for setting in (*_STARTS_NOTHING, *settings):
        command += ["-c", setting]
    command += ["-C", str(folder), *arguments]
    given = {
        name: value
        for name, value in os.environ.items()
        if name in _KEPT or not name.startswith("GIT_")
    }
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            input=b"",
            timeout=most_s or _ANSWERS_S,
            env={**given, **_QUIET, **variables},
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


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


def unpack(sha: str, top: Path, folder: Path) -> None:
    """Write the files of a repository at a commit into an empty folder, and beside it an index.

    Neither hooks nor filters are started, and the repository is not changed. Folders of submodules
    stay empty. Raises BenchError where this clone does not have the files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    settings = ["core.sparseCheckout=false"]
    known = git(top, "config", "--includes", "--name-only", "--get-regexp", r"^filter\.") or b""
    for name in sorted(set(_FILTER.findall(os.fsdecode(known)))):
        settings += [f"{name}.{program}=" for program in ("clean", "smudge", "process")]
        settings.append(f"{name}.required=false")
    variables = {"GIT_INDEX_FILE": f"{folder}.index", "GIT_WORK_TREE": str(folder)}
    for arguments in (("read-tree", sha), ("checkout-index", "--all", "--index")):
        if git(top, *arguments, settings=settings, most_s=_UNPACKS_S, **variables) is None:
            raise BenchError(
                f"{sha[:9]}: this clone lacks files of it — fetch it with `git fetch --refetch`"
            )
