"""Somebody's own code tried in a process of its own first: what ends, hangs or eats the memory of a process does so there."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, TextIO, cast

from ..errors import EndedError, SpecError, one_line, sayable

MIB = 1024 * 1024


@dataclass(frozen=True)
class Limits:
    """What somebody's own code may take: seconds for a call (in truth, for its calls at one step), and MiB of memory for its process."""

    call_s: float = 60.0
    memory_mib: int = 4096

    def __post_init__(self) -> None:
        if not self.call_s > 0 or self.memory_mib < 1:
            raise SpecError(f"limits must be above 0, got {self.call_s:g} s and {self.memory_mib} MiB")

    @property
    def late(self) -> str:
        """What is said of a call that takes longer."""
        return f"a call took more than {self.call_s:g} s — make it faster, or raise --call-timeout"

    @property
    def full(self) -> str:
        """What is said of code that needs more memory."""
        return f"it needs more than {self.memory_mib} MiB of memory — keep less, or raise --memory"


class _Told:
    """A stream for what somebody's own code prints, which may be text of a trace."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text, made sayable."""
        self._stream.write(sayable(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def say_plainly() -> None:
    """From here on what this process prints speaks to no terminal and to no CI system."""
    sys.stdout, sys.stderr = cast(TextIO, _Told(sys.stdout)), cast(TextIO, _Told(sys.stderr))


def limit_memory(mib: int | None) -> None:
    """Let this process, and what it starts, hold so many MiB of its own; None takes the limit off. Nothing where the system has no such limit."""
    try:
        import resource
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = hard if mib is None else mib * MIB if hard == resource.RLIM_INFINITY else min(hard, mib * MIB)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))


def how_ended(code: int | None) -> str:
    """How a process ended, by its exit code.

    >>> how_ended(-9), how_ended(7), how_ended(None)
    ('signal 9', 'exit code 7', 'no end, and no answer')
    """
    if code is None:  # it goes on, but no longer as it was made
        return "no end, and no answer"
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def tried(calls: Sequence[Callable[[], Any]], limits: Limits) -> dict[int, str]:
    """Make some calls in a process of their own, which is forked: the numbers of those that ended it, hung, or took all memory, with what they did.

    A call that merely raises is none of them: it will raise the same again. Where processes cannot be forked, nothing is tried.
    """
    if "fork" not in multiprocessing.get_all_start_methods():
        return {}
    found: dict[int, str] = {}
    first = 0
    while first < len(calls):
        first = _tried_from(first, calls, limits, found)
    return found


def _tried_from(first: int, calls: Sequence[Callable[[], Any]], limits: Limits, found: dict[int, str]) -> int:
    """Try the calls from one on, until one of them ends the process; gives the number of the next."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_try, args=(theirs, ours, calls[first:], limits), daemon=True)
    sys.stdout.flush()
    sys.stderr.flush()
    process.start()
    theirs.close()
    try:
        for number in range(first, len(calls)):
            problem = limits.late
            if ours.poll(limits.call_s):
                try:
                    problem = ours.recv()
                except (EOFError, OSError):
                    process.join()
                    problem = f"the process ended ({how_ended(process.exitcode)}) — code that is imported must not exit"
            if problem:
                found[number] = problem
                return number + 1
        return len(calls)
    finally:
        ours.close()
        process.kill()
        process.join()


def _try(pipe: Connection, not_its_own: Connection, calls: Sequence[Callable[[], Any]], limits: Limits) -> None:
    """In the child: make the calls, and say after each how it was; what they print is printed when they are made in earnest."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    not_its_own.close()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    limit_memory(limits.memory_mib)
    for call in calls:
        problem = ""
        try:
            call()
        except MemoryError:
            problem = limits.full
        except EndedError as error:
            problem = str(error)
        except Exception:  # it is raised again where it can be told
            problem = ""
        except BaseException as error:
            problem = f"{type(error).__name__}: {one_line(error)}"
        pipe.send(problem)
    os._exit(0)
