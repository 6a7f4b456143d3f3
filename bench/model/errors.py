"""The errors that the bench raises on purpose; each message says what, where and what next.

The command line prints the message as one line and exits with `exit_code`; a traceback that reaches
a user is a defect.
"""

from __future__ import annotations

import os
import re
import sys
import traceback
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


class BenchError(Exception):
    """Base of errors that the user can fix. The text is one line that says how."""

    exit_code = 2


class TraceError(BenchError):
    """A trace that cannot be read: missing, in an unknown format, or malformed at a named place."""


class SpecError(BenchError):
    """A name, spec string or parameter that does not exist or does not fit."""


class LoadError(SpecError):
    """User code that is there, and raises or ends the process when it is imported."""


class ScenarioError(BenchError):
    """A scenario file that cannot be used."""


class ResultsError(BenchError):
    """A run, score or baseline file that cannot be read."""


class StrategyError(BenchError):
    """A strategy broke its protocol (a wrong return type, say).

    Recorded as the failure of that run.
    """


@contextmanager
def named_in_errors(where: str) -> Iterator[None]:
    """A context in which errors are prefixed with a file or scenario, unless they name it already.

    >>> with named_in_errors("s.toml"):
    ...     raise SpecError("no such strategy")
    Traceback (most recent call last):
    bench.model.errors.SpecError: s.toml: no such strategy
    """
    try:
        yield
    except BenchError as error:
        if where in str(error):
            raise
        raise type(error)(f"{where}: {error}") from error.__cause__


def one_line(text: object) -> str:
    """A text on one line, made `visible`, at most 500 characters, so that hostile input cannot
    flood a terminal.

    >>> one_line("a\\n  b")
    'a b'
    """
    try:
        printable = str.__str__(str(text))
    except BaseException:  # somebody's own error, which cannot even say what it is
        printable = f"(a {type(text).__name__} that cannot be shown)"
    flat = visible(" ".join(printable[:_LONGEST].split()))
    return flat if len(flat) <= 500 else flat[:497] + "..."


_LONGEST = 100_000  # of what is looked at for one line


def nearest(name: str, known: Iterable[str], otherwise: str | None = None) -> str:
    """The clause at the end of an error about an unknown name: the closest known names, `otherwise`
    the given clause, by default with all of them.

    >>> nearest("keepall", ["keep_all", "drop_all"])
    ' — did you mean keep_all?'
    >>> nearest("zzz", ["b", "a"])
    ' — known: a, b'
    >>> nearest("zzz", [])
    ''
    """
    import difflib  # seldom needed

    names = sorted(set(known))
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    if not close and len(name) > 2:  # a part of the name is what people remember
        close = [other for other in names if name.lower() in other.lower()][:3]
    if close:
        return f" — did you mean {' or '.join(close)}?"
    all_names = f" — known: {', '.join(names)}" if names else ""
    return all_names if otherwise is None else otherwise


def nearest_file(path: Path) -> str:
    """The clause that names the closest file in the folder of a missing one; `""` for none."""
    import difflib

    try:
        names = [item.name for item in path.parent.iterdir() if item.name != path.name][:10_000]
    except OSError:
        return ""
    alike = [name for name in names if difflib.get_close_matches(path.stem, [Path(name).stem])]
    close = difflib.get_close_matches(path.name, alike, n=1, cutoff=0.6)
    return f" — did you mean {visible(str(path.with_name(close[0])))}?" if close else ""


_WRITTEN = {
    "int": "a whole number",
    "float": "a number",
    "array": "[…]",
    "object": "a table, { key = … }",
    "str": '"…"',
    "bool": "true or false",
}


def misfit(error: Exception) -> str:
    """The message for a value of the wrong type, with what to write instead.

    >>> misfit(ValueError("Expected `array`, got `str`"))
    'Expected `array`, got `str` — write […]'
    """
    text = one_line(error)
    wanted = next((name for name in _WRITTEN if text.startswith(f"Expected `{name}")), None)
    return f"{text} — write {_WRITTEN[wanted]}" if wanted else text


DEBUG = "BENCH_DEBUG"
"""The environment variable that `--debug` sets: every process prints tracebacks to standard error.
"""

_PACKAGE = str(Path(__file__).parents[1]) + os.sep
_STDLIB = str(Path(os.__file__).parent) + os.sep


def raised_at(error: BaseException) -> str:
    """The innermost place in user code where an error was raised, as `file.py:12`; `""` without
    one.

    >>> try:
    ...     one_line(1 / 0)
    ... except ZeroDivisionError as error:
    ...     raised_at(error).endswith(":2")
    True
    """
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path, here = Path(frame.filename), Path.cwd()
        is_ours = frame.filename.startswith((_PACKAGE, _STDLIB, "<frozen"))
        if not is_ours and "site-packages" not in frame.filename:
            short = path.relative_to(here) if path.is_relative_to(here) else Path(path.name)
            return f"{short.as_posix()}:{frame.lineno}"
    return ""


def defect(error: BaseException) -> str:
    """The message for an unexpected error: the place where it was raised, and the request to report
    it.

    >>> try:
    ...     1 / 0
    ... except ZeroDivisionError as error:
    ...     defect(error).partition(": ")[2]
    'ZeroDivisionError: division by zero — please report it'
    """
    places = [
        f"{Path(frame.filename).name}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
    ]
    place, what = (places or ["?"])[-1], f"{type(error).__name__}: {one_line(error)}"
    return f"defect in bench at {place}: {what} — please report it"


def own_error(error: BaseException) -> str:
    """An error of user code on one line: the place and the error.

    For an error of the bench it is its text. With BENCH_DEBUG the traceback is printed.

    >>> own_error(ValueError("no rows")), own_error(SystemExit(3)), own_error(SpecError("no"))
    ('ValueError: no rows', 'exited with 3', 'no')
    """
    debugged(error)
    if isinstance(error, BenchError):
        return one_line(error)
    place = raised_at(error)
    before, message = f"{place}: " if place else "", one_line(error)
    if isinstance(error, SystemExit):
        return f"{before}exited with {message}"
    notes = getattr(error, "__notes__", ())
    notes = [str(note) for note in notes] if isinstance(notes, list) else []
    form = next((f" — {note}" for note in reversed(notes) if note.startswith("it got ")), "")
    return (
        f"{before}{type(error).__name__}{f': {message}' if message else ''}{form}{refused(error)}"
    )


def refused(error: BaseException) -> str:
    """A clause on what user code may read and write, if an error says that it may not; else
    `""`."""
    where = "in its temporary folder and in folders that BENCH_WRITABLE names"
    may = f" — it may write {where} (bench.offload keeps a value), and read all but recordings"
    return may if isinstance(error, PermissionError) else ""


@contextmanager
def debugging(on: bool) -> Iterator[None]:
    """A context in which, if `on`, tracebacks are printed as with `--debug`."""
    before = os.environ.get(DEBUG, "")
    os.environ[DEBUG] = "1" if on else before  # an empty one is off
    try:
        yield
    finally:
        os.environ[DEBUG] = before


def debugged(error: BaseException) -> None:
    """Print the traceback of an error to standard error if `--debug` was given."""
    if os.environ.get(DEBUG):
        sys.stderr.write(sayable("".join(traceback.format_exception(error))))


# ---------------------------------------------------------------- text from outside


def visible(text: str) -> str:
    """A text from outside with invisible characters shown as `⟨U+XXXX⟩`.

    Tabs and line breaks stay; control and direction characters are replaced.

    >>> visible("a\\x1b[31m\\u202eb")
    'a⟨U+001B⟩[31m⟨U+202E⟩b'
    """
    if not _NOT_PLAIN.search(text):
        return text
    printable = text.replace("\r\n", "\n")
    return printable.translate(
        {ord(char): f"⟨U+{ord(char):04X}⟩" for char in set(printable) if not _harmless(char)}
    )


_NOT_PLAIN = re.compile(
    r"[^\n\t -~\u00a0-\u00ac\u00ae-\u024f\u2013\u2026\u202f\u2190-\u21ff\u2212\u2264\u2265\u2500-\u257f]"
)
"""Finds anything but printable ASCII, Latin letters and the signs of reports; other characters are
checked one by one.
"""


def _harmless(char: str) -> bool:
    if char in "\n\t" or char.isascii():
        return char in "\n\t" or char.isprintable()
    return unicodedata.category(char) not in _HIDDEN and char not in _BLANK


_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_BLANK = "\u115f\u1160\u3164\uffa0"  # letters by category, nothing to the eye


def sayable(text: str) -> str:
    """A text made safe for a terminal, and without commands to a CI system.

    Such are `::set-output` at the beginning of a line (GitHub), `##[add-mask]` and `##vso[…]`
    anywhere (GitHub, Azure), `##teamcity[…]`. Everything that the bench prints goes through here.

    >>> print(sayable("a\\n ::set-output name=x::y ##[add-mask]z \\x1b]8;;"))
    a
     \\::set-output name=x::y #\\#[add-mask]z ⟨U+001B⟩]8;;
    """
    return not_obeyed(visible(text))


def not_obeyed(text: str) -> str:
    """A text without commands to a CI system; control characters stay."""
    return _COMMAND.sub(r"\1\\", text)


_COMMAND = re.compile(r"(?m)(^[^\S\n]*+(?=::)|#(?=#\w*\[))")
