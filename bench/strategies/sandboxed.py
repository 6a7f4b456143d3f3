"""Strategies with somebody else's code, described and replayed by the child that imports it."""

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
    not_here,
)
from ..plugins.worker import Answer, Child, NoAnswer
from . import Strategy, built
from .declaring import Declaration

if TYPE_CHECKING:
    from ..plugins.child import Link

_EACH_REPLAY = ("bench.replayer.serving", "bench.strategies.documents.controls")
"""Imported once in a child, and not in each fork."""


@dataclass(frozen=True)
class Place:
    """The place of a strategy's files: `base` is the folder that paths start from.

    With `top`, the top of a repository, `then` is a folder that holds its files as they were at a
    revision: what lies in a folder of the repository is then imported from there.
    """

    base: Path = Path()
    top: Path | None = None
    then: Path | None = None

    def of_then(self, path: str) -> str:
        """A path of the repository as a path at the revision; any other path as it is."""
        if self.top is None or self.then is None:
            return path
        here = Path(path).resolve()
        if not here.is_relative_to(self.top) or here.is_relative_to(self.then):
            return path
        if is_installed(str(here / "x")):  # in an environment that lies in the repository
            return path
        return str(self.then / here.relative_to(self.top))

    def settle(self) -> None:
        """Set this process up to import from there; in the child alone."""
        compile_from_source()
        if self.then is None:
            return
        import_from(self.of_then)
        if "PYTHONPATH" in os.environ:  # for programs that are started
            folders = os.environ["PYTHONPATH"].split(os.pathsep)
            os.environ["PYTHONPATH"] = os.pathsep.join(map(self.of_then, folders))
        here = self.of_then(os.getcwd())
        if Path(here).is_dir():
            os.chdir(here)


@dataclass(frozen=True)
class Sandbox:
    """The child of a strategy, its number among those that it makes, and the slots with such code."""

    child: Child
    number: int
    slots: frozenset[str]


class _Made(msgspec.Struct, frozen=True):
    """A strategy that a child made, by its slots with somebody's own code; else the error.

    `ended`: it would end a process.
    """

    slots: frozenset[str] = frozenset()
    error: str = ""
    ended: bool = False


def put_together(
    given: Sequence[Declaration],
    place: Place | None = None,
    *,
    debug: bool = False,
    tolerant: bool = False,
) -> list[Strategy]:
    """The strategies that were declared.

    One with somebody else's code gets a child, which those of the same files share. One that ends
    it, or hangs, is broken. A function that cannot be sent to a child runs here, and `here` says
    why; with `debug` every function does. Raises SpecError for a spec that names nothing or does
    not fit; `tolerant`: that strategy is broken.
    """
    place = place or Place()
    strategies: dict[int, Strategy] = {}
    groups: dict[str, list[int]] = {}
    for number, declared in enumerate(given):
        try:
            strategies[number] = _here(declared, place.base, debug)
        except NeedsChild as needs:
            groups.setdefault(needs.code, []).append(number)
        except SpecError as error:
            strategies[number] = _broken(declared, error, tolerant)
    for numbers in groups.values():
        together = _in_child([given[number] for number in numbers], place, tolerant)
        strategies |= zip(numbers, together, strict=True)
    return [strategies[number] for number in range(len(given))]


def _here(declared: Declaration, base: Path, debug: bool) -> Strategy:
    """A strategy that runs in this process. Raises NeedsChild for one that does not."""
    with not_here():
        strategy = built(declared, base)
    function = next((item.entry.target for item in strategy.everything if item.entry.own), None)
    if function is None:
        return strategy
    reason = "debug=True" if debug else _cannot_be_sent(declared)
    if reason:
        return replace(strategy, here=reason)
    raise NeedsChild(f"functions of {getattr(function, '__module__', '')}")


def _in_child(given: Sequence[Declaration], place: Place, tolerant: bool) -> list[Strategy]:
    """Strategies in one child; each in a child of its own where together they do not survive it."""
    child = Child(functools.partial(Ready, tuple(map(_sent, given)), place), _EACH_REPLAY)
    try:
        files, made = _described(child, len(given))
    except NoAnswer as why:
        child.stop()
        if len(given) > 1:
            return [one for each in given for one in _in_child([each], place, tolerant)]
        hint = " — code that is imported must not exit" if why.ended else ""
        return [_broken(given[0], f"{why}{hint}", tolerant)]
    strategies: list[Strategy] = []
    for number, (declared, one) in enumerate(zip(given, made, strict=True)):
        if one.error:
            error = (EndedError if one.ended else SpecError)(one.error)
            strategies.append(_broken(declared, error, tolerant))
        else:
            sandbox = Sandbox(child, number, one.slots)
            strategies.append(Strategy(declared, sandbox=sandbox, imported=files))
    return strategies


def _described(child: Child, number: int) -> tuple[tuple[str, ...], tuple[_Made, ...]]:
    """The files that a child has imported, and its descriptions of `number` strategies.

    Raises NoAnswer.
    """
    with child.session(_open_description) as session:
        body = session.ask(b"")
    with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
        files, made = msgspec.json.decode(body, type=tuple[tuple[str, ...], tuple[_Made, ...]])
        if len(made) == number:
            return files, made
    raise NoAnswer("it left its process unable to answer")


def _broken(declared: Declaration, problem: object, tolerant: bool) -> Strategy:
    """A strategy that cannot be loaded. An error of its spec is raised, unless `tolerant`."""
    if isinstance(problem, SpecError) and not (tolerant or isinstance(problem, EndedError)):
        raise problem
    return Strategy(declared, broken=f"it cannot be loaded: {problem}")


def stop(strategies: Sequence[Strategy]) -> None:
    """End the children of strategies; each starts anew where it is needed again."""
    for strategy in strategies:
        if strategy.sandbox is not None:
            strategy.sandbox.child.stop()


# ---------------------------------------------------------------- functions that are passed


def _sent(declared: Declaration) -> bytes:
    """A strategy as it is declared, pickled for another process. Errors of pickling are raised."""
    if all(isinstance(item, str) for items in declared.slots.values() for item in items):
        return pickle.dumps(declared)
    import cloudpickle

    sent: bytes = cloudpickle.dumps(declared)
    return sent


def _cannot_be_sent(declared: Declaration) -> str:
    """The reason why functions cannot run in another process; `""` where they can."""
    try:
        _sent(declared)
    except Exception as error:
        return f"{type(error).__name__}: {one_line(error)}"
    return ""


# ---------------------------------------------------------------- in the child


class Ready:
    """The strategies that a child makes before it forks, so that a fork has them."""

    def __init__(self, declared: Sequence[bytes], place: Place) -> None:
        self.place = place
        self.made: list[Strategy | BaseException] = []
        place.settle()
        here = os.getcwd()
        for sent in declared:
            try:
                self.made.append(built(pickle.loads(sent), place.base))
            except BaseException as error:
                self.made.append(error)
            os.chdir(here)

    def strategy(self, number: int) -> Strategy:
        """One of them. One that could not be made raises why not."""
        made = self.made[number]
        if isinstance(made, Strategy):
            return made
        raise made


def _open_description(link: Link, ready: Ready) -> Answer:
    """A function that answers any request with the files that were imported, and the strategies."""
    return lambda request: msgspec.json.encode(
        (_imported_files(), [*map(_description, ready.made)])
    )


def _imported_files() -> tuple[str, ...]:
    """The files of somebody's own code that this process has imported, resolved."""
    modules = {name: module for name, module in [*sys.modules.items()] if name != "__main__"}
    files = {getattr(module, "__file__", None) or "" for module in modules.values()} - {""}
    return tuple(sorted(os.path.realpath(file) for file in files if not is_installed(file)))


def _description(made: Strategy | BaseException) -> _Made:
    """The description of a strategy, or of why there is none."""
    if isinstance(made, BenchError):
        return _Made(error=one_line(made), ended=isinstance(made, EndedError))
    if not isinstance(made, Strategy):
        raise made
    return _Made(made.own_slots)
