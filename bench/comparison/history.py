"""Every run that was kept, in one SQLite file: what each strategy scored, when, and at which commit."""

from __future__ import annotations

import datetime
import math
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from ..files.git import Commit
from ..files.writing import write_new
from ..model import Comparison, Moment, Signature
from ..model.errors import ResultsError, one_line
from .baselines import signature_from

SCHEMA = 1
_WAITS_S = 15  # seconds to wait while another process writes the history
_APPLICATION = 0x62656E63  # "benc": how a history is told from any other SQLite file
_CREATE = """
CREATE TABLE runs (
    run INTEGER PRIMARY KEY, title TEXT NOT NULL, commit_sha TEXT, subject TEXT, dirty INTEGER NOT NULL, at TEXT NOT NULL,
    signature TEXT NOT NULL
);
CREATE TABLE scores (
    run INTEGER NOT NULL REFERENCES runs, strategy TEXT NOT NULL, metric TEXT NOT NULL, case_id TEXT NOT NULL, value REAL,
    unit TEXT NOT NULL, n REAL NOT NULL, reason TEXT, PRIMARY KEY (run, strategy, metric, case_id)
) WITHOUT ROWID;
"""


@dataclass(frozen=True)
class Move:
    """A change of a metric of a strategy: its value in the run before and in this one."""

    before: Moment
    after: Moment


@contextmanager
def keeping(
    comparisons: Sequence[Comparison], path: Path, commit: Commit | None, at: datetime.datetime
) -> Iterator[list[Comparison]]:
    """The comparisons with the runs before them and themselves as their history; they are kept once the block has ended well, else not at all.

    `case_id` `""` is over all cases. Raises ResultsError for a file that is no history, is of another schema, or cannot be written.
    """
    place = Path(os.path.realpath(path))  # SQLite follows links
    if os.path.lexists(place):
        with _open(path, writing=True) as connection, connection:
            yield _kept(connection, comparisons, path, commit, at)
        return
    # A file that is new is there whole, or not at all.
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        _require_history(path, connection, True)
        found = _kept(connection, comparisons, path, commit, at)
        connection.execute("COMMIT")
        yield found
        if write_new(place, connection.serialize()):
            return
    with _open(path, writing=True) as connection, connection:  # another first run was there first
        _kept(connection, comparisons, path, commit, at)


def _kept(
    connection: sqlite3.Connection,
    comparisons: Sequence[Comparison],
    path: Path,
    commit: Commit | None,
    at: datetime.datetime,
) -> list[Comparison]:
    for comparison in comparisons:
        _add(connection, comparison, commit, at)
    return [msgspec.structs.replace(item, history=_moments(connection, path, item.title)) for item in comparisons]


def _add(connection: sqlite3.Connection, comparison: Comparison, commit: Commit | None, at: datetime.datetime) -> None:
    made = (commit.sha, commit.subject, int(commit.dirty)) if commit else (None, None, 0)
    signed = msgspec.json.encode(comparison.signature, order="sorted").decode()
    done = connection.execute(
        "INSERT INTO runs (title, commit_sha, subject, dirty, at, signature) VALUES (?, ?, ?, ?, ?, ?)",
        (comparison.title, *made, at.astimezone(datetime.UTC).isoformat(timespec="seconds"), signed),
    )
    scores = (
        (done.lastrowid or 0, row.strategy, row.metric, row.case or "", row.value, row.unit, row.n, row.reason)
        for row in chain(comparison.summary, comparison.rows)
    )
    connection.executemany("INSERT INTO scores VALUES (?, ?, ?, ?, ?, ?, ?, ?)", scores)


def titles(path: Path) -> tuple[str, ...]:
    """The scenarios that a history holds runs of, by title, sorted."""
    with _open(path) as connection:
        found = [row[0] for row in connection.execute("SELECT DISTINCT title FROM runs ORDER BY title")]
        return msgspec.convert(found, tuple[str, ...])


def subjects(path: Path) -> dict[str, str]:
    """The subject line of every commit in a history, by its hash."""
    with _open(path) as connection:
        found = connection.execute(
            "SELECT commit_sha, subject FROM runs WHERE commit_sha IS NOT NULL AND subject IS NOT NULL"
        )
        return msgspec.convert(dict(found), dict[str, str])


def moments(path: Path, title: str) -> tuple[Moment, ...]:
    """The values over all cases of the runs of one scenario, oldest first. No such run: none.

    Raises ResultsError as `keeping` does, and where the file does not exist.
    """
    with _open(path) as connection:
        return _moments(connection, path, title)


def _moments(connection: sqlite3.Connection, path: Path, title: str) -> tuple[Moment, ...]:
    runs = connection.execute(
        "SELECT run, commit_sha, dirty, at, signature FROM runs WHERE title = ? ORDER BY run", (title,)
    ).fetchall()
    signed = [_signature(path, text) for *_, text in runs]
    told = {
        run: {"run": place, "commit": sha, "dirty": bool(dirty), "at": at, "changed": _changed(before, now)}
        for place, ((run, sha, dirty, at, _), before, now) in enumerate(
            zip(runs, [*signed[:1], *signed], signed, strict=False), 1
        )
    }
    scores = connection.execute(
        "SELECT run, strategy, metric, value FROM scores JOIN runs USING (run) WHERE title = ? AND case_id = '' "
        "ORDER BY run, strategy, metric",
        (title,),
    )
    found = [{**told[run], "strategy": name, "metric": of, "value": value} for run, name, of, value in scores]
    kept = msgspec.convert(found, tuple[Moment, ...])  # SQLite keeps any type in any column
    if any(moment.value is not None and math.isinf(moment.value) for moment in kept):
        raise ResultsError(f"{path}: a value is infinite — give a history as it was made")
    return kept


def moves(kept: Sequence[Moment]) -> tuple[Move, ...]:
    """Find where values changed from one run to the next that has the same strategy and metric, oldest first.

    >>> kept = [Moment(run=n, commit=None, dirty=False, at="", strategy="a", metric="m", value=v) for n, v in enumerate((1, 1, 2), 1)]
    >>> [(move.before.run, move.after.run) for move in moves(kept)]
    [(2, 3)]
    """
    last: dict[tuple[str, str], Moment] = {}
    found = []
    for moment in kept:
        before = last.get((moment.strategy, moment.metric))
        if before is not None and before.value != moment.value:
            found.append(Move(before, moment))
        last[moment.strategy, moment.metric] = moment
    return tuple(found)


def _changed(before: Signature, now: Signature) -> tuple[str, ...]:
    """Name the settings other than strategies that differ between two runs."""
    words = tuple(word for _, word, _, _ in before.differences(now))
    return words if before.traces == now.traces else (*words, "traces")


def _signature(path: Path, text: str) -> Signature:
    try:
        return signature_from(msgspec.json.decode(text, type=dict[str, Any]))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ResultsError(f"{path}: a run's signature cannot be read: {one_line(error)}") from None


@contextmanager
def _open(path: Path, writing: bool = False) -> Iterator[sqlite3.Connection]:
    if not writing and not path.is_file():
        raise ResultsError(f"{path}: no such file — keep runs with `bench run --history {path.name}`")
    try:
        with closing(sqlite3.connect(path.absolute(), timeout=_WAITS_S)) as connection:
            _require_history(path, connection, writing)
            yield connection
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorcode", None) not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise ResultsError(_damaged(path, error)) from None
        raise ResultsError(
            f"{path}: another process has written it for {_WAITS_S} s — try again when it is done"
        ) from None
    except (sqlite3.Error, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise ResultsError(_damaged(path, error)) from None
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror or error}") from None


def _damaged(path: Path, error: Exception) -> str:
    return f"{path}: {one_line(error)} — give a file that `bench run --history` made, or a new one"


def _require_history(path: Path, connection: sqlite3.Connection, writing: bool) -> None:
    if writing:
        connection.execute("BEGIN IMMEDIATE")  # two first runs at once: one makes the tables, the other finds them
    names = ("application_id", "user_version")
    application, schema = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names)
    if application != _APPLICATION:
        if not writing or connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise ResultsError(f"{path}: not a history of bench — give a file that `bench run --history` made")
        for statement in filter(str.strip, _CREATE.split(";")):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute(f"PRAGMA user_version = {SCHEMA}")
    elif schema != SCHEMA:
        raise ResultsError(f"{path}: schema {schema}, this bench reads {SCHEMA} — keep a new history with this version")
    elif _computes(connection):
        raise ResultsError(
            f"{path}: its tables run code (views, triggers, computed columns) — give a history as it was made"
        )


def _computes(connection: sqlite3.Connection) -> bool:
    """True if reading or writing the tables runs what somebody put into the file, which may never end."""
    kinds = dict(connection.execute("SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view')"))
    if any(kinds.get(name) == "view" for name in ("runs", "scores")):
        return True
    if connection.execute("SELECT count(*) FROM sqlite_master WHERE type = 'trigger'").fetchone()[0]:
        return True
    columns = connection.execute(
        "SELECT hidden FROM pragma_table_xinfo('runs') UNION ALL SELECT hidden FROM pragma_table_xinfo('scores')"
    )
    return any(hidden for (hidden,) in columns)
