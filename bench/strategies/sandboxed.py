"""Strategies with user code, described and replayed by the child process that imports it."""

from __future__ import annotations

import contextlib
import functools
import os
import pickle
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ..model.errors import BenchError, EndedError, SpecError, one_line
from ..plugins.loader import (
    NeedsChild,
    compile_from_source,
    import_from,
    is_installed,
    only_in_child,
)
from ..plugins.worker import Answer, Child, NoAnswer
from . import Strategy, build_strategy
from .declaring import Declaration

if TYPE_CHECKING:
    from ..plugins.child import Link

_EACH_REPLAY = ("bench.replayer.serving", "bench.strategies.documents.controls")
"""Modules to import once in a child, instead of in each fork."""


@dataclass(frozen=True)
class Place:
    """The place of a strategy's files: `base` is the folder that paths start from.

    `top` is the top of a repository, and `revision_files` a folder with its files at an earlier
    revision: imports from the repository are then redirected there.
    """

    base: Path = Path()
    top: Path | None = None
    revision_files: Path | None = None

    def at_revision(self, path: str) -> str:
        """A path of the repository as a path at the revision; any other path as it is."""
        if self.top is None or self.revision_files is None:
            return path
        here = Path(path).resolve()
        if not here.is_relative_to(self.top) or here.is_relative_to(self.revision_files):
            return path
        if is_installed(str(here / "x")):  # in an environment that lies in the repository
            return path
        return str(self.revision_files / here.relative_to(self.top))

    def settle(self) -> None:
        """Redirect this process's imports to the revision; called only in a child."""
        compile_from_source()
        if self.revision_files is None:
            return
        import_from(self.at_revision)
        if "PYTHONPATH" in os.environ:  # for programs that are started
            folders = os.environ["PYTHONPATH"].split(os.pathsep)
            os.environ["PYTHONPATH"] = os.pathsep.join(map(self.at_revision, folders))
        here = self.at_revision(os.getcwd())
        if Path(here).is_dir():
            os.chdir(here)


@dataclass(frozen=True)
class Sandbox:
    """The child of a strategy, the strategy's number in that child, and the slots with user
    code."""

    child: Child
    number: int
    slots: frozenset[str]


class _Loaded(msgspec.Struct, frozen=True):
    """The description of a strategy in a child: its slots with user code, or the error.

    `ended` is True if its code would end the process.
    """

    slots: frozenset[str] = frozenset()
    error: str = ""
    ended: bool = False


def load_strategies(
    given: Sequence[Declaration],
    place: Place | None = None,
    *,
    debug: bool = False,
    tolerant: bool = False,
) -> list[Strategy]:
    """The strategies of some declarations.

    Strategies with user code run in a child process, shared by those with the same files. One that
    ends the process, or hangs, is broken. A function that cannot be sent to a child runs in this
    process, and `in_process_reason` says why; with `debug` every function does. Raises SpecError
    for a spec that names nothing or does not fit; if `tolerant` such a strategy is broken instead.
    """
    place = place or Place()
    strategies: dict[int, Strategy] = {}
    groups: dict[str, list[int]] = {}
    for number, declared in enumerate(given):
        try:
            strategies[number] = _in_this_process(declared, place.base, debug)
        except NeedsChild as needs:
            groups.setdefault(needs.code, []).append(number)
        except SpecError as error:
            strategies[number] = _broken_strategy(declared, error, tolerant)
    for numbers in groups.values():
        together = _in_child([given[number] for number in numbers], place, tolerant)
        strategies |= zip(numbers, together, strict=True)
    return [strategies[number] for number in range(len(given))]


def _in_this_process(declared: Declaration, base: Path, debug: bool) -> Strategy:
    """A strategy that runs in this process. Raises NeedsChild for one that needs a child."""
    with only_in_child():
        strategy = build_strategy(declared, base)
    function = next(
        (item.entry.target for item in strategy.everything if item.entry.user_code), None
    )
    if function is None:
        return strategy
    reason = "debug=True" if debug else _cannot_be_sent(declared)
    if reason:
        return replace(strategy, in_process_reason=reason)
    raise NeedsChild(f"functions of {getattr(function, '__module__', '')}")


def _in_child(given: Sequence[Declaration], place: Place, tolerant: bool) -> list[Strategy]:
    """Strategies loaded in one child, or each in its own child if loading all together fails."""
    child = Child(
        functools.partial(LoadedStrategies, tuple(map(_sent, given)), place), _EACH_REPLAY
    )
    try:
        files, made = _descriptions_from(child, len(given))
    except NoAnswer as why:
        child.stop()
        if len(given) > 1:
            return [one for each in given for one in _in_child([each], place, tolerant)]
        hint = " — code that is imported must not exit" if why.ended else ""
        return [_broken_strategy(given[0], f"{why}{hint}", tolerant)]
    strategies: list[Strategy] = []
    for number, (declared, one) in enumerate(zip(given, made, strict=True)):
        if one.error:
            error = (EndedError if one.ended else SpecError)(one.error)
            strategies.append(_broken_strategy(declared, error, tolerant))
        else:
            sandbox = Sandbox(child, number, one.slots)
            strategies.append(Strategy(declared, sandbox=sandbox, imported=files))
    return strategies


def _descriptions_from(child: Child, number: int) -> tuple[tuple[str, ...], tuple[_Loaded, ...]]:
    """The files that a child has imported, and its descriptions of `number` strategies.

    Raises NoAnswer.
    """
    with child.session(_open_description) as session:
        body = session.ask(b"")
    with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
        files, made = msgspec.json.decode(body, type=tuple[tuple[str, ...], tuple[_Loaded, ...]])
        if len(made) == number:
            return files, made
    raise NoAnswer("it left its process unable to answer")


def _broken_strategy(declared: Declaration, problem: object, tolerant: bool) -> Strategy:
    """A strategy that cannot be loaded. An error of its spec is raised, unless `tolerant`."""
    if isinstance(problem, SpecError) and not (tolerant or isinstance(problem, EndedError)):
        raise problem
    return Strategy(declared, broken=f"it cannot be loaded: {problem}")


def stop(strategies: Sequence[Strategy]) -> None:
    """End the children of strategies; a child starts again when it is needed."""
    for strategy in strategies:
        if strategy.sandbox is not None:
            strategy.sandbox.child.stop()


# ---------------------------------------------------------------- functions that are passed


def _sent(declared: Declaration) -> bytes:
    """A declaration, pickled for another process. Errors of pickling are raised."""
    if all(isinstance(item, str) for items in declared.slots.values() for item in items):
        return pickle.dumps(declared)
    import cloudpickle

    sent: bytes = cloudpickle.dumps(declared)
    return sent


def _cannot_be_sent(declared: Declaration) -> str:
    """The reason why a declaration's functions cannot run in another process; `""` where they
    can."""
    try:
        _sent(declared)
    except Exception as error:
        return f"{type(error).__name__}: {one_line(error)}"
    return ""


# ---------------------------------------------------------------- in the child


class LoadedStrategies:
    """The strategies that a child loads before it forks for sessions."""

    def __init__(self, declared: Sequence[bytes], place: Place) -> None:
        self.place = place
        self.loaded: list[Strategy | BaseException] = []
        place.settle()
        here = os.getcwd()
        for sent in declared:
            try:
                self.loaded.append(build_strategy(pickle.loads(sent), place.base))
            except BaseException as error:
                self.loaded.append(error)
            os.chdir(here)

    def strategy(self, number: int) -> Strategy:
        """The strategy with a number; raises the error if it could not be loaded."""
        made = self.loaded[number]
        if isinstance(made, Strategy):
            return made
        raise made


def _open_description(link: Link, ready: LoadedStrategies) -> Answer:
    """A session's function that answers any request with the imported files and the descriptions of
    strategies."""
    return lambda request: msgspec.json.encode(
        (_imported_files(), [*map(_description, ready.loaded)])
    )


def _imported_files() -> tuple[str, ...]:
    """The files of user code that this process has imported, as real paths."""
    modules = {name: module for name, module in [*sys.modules.items()] if name != "__main__"}
    files = {getattr(module, "__file__", None) or "" for module in modules.values()} - {""}
    return tuple(sorted(os.path.realpath(file) for file in files if not is_installed(file)))


def _description(made: Strategy | BaseException) -> _Loaded:
    """The description of a strategy, or of the error of loading it."""
    if isinstance(made, BenchError):
        return _Loaded(error=one_line(made), ended=isinstance(made, EndedError))
    if not isinstance(made, Strategy):
        raise made
    return _Loaded(made.user_slots)
