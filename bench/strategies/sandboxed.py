"""Strategies with user code, each with the child process that imports it."""

from __future__ import annotations

import contextlib
import functools
import pickle
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from ..model.errors import EndedError, SpecError, one_line
from ..plugins.loader import NeedsChild, only_in_child
from ..plugins.worker import Child, NoAnswer
from . import Strategy, build_strategy
from .declaring import Declaration
from .loaded import Loaded, LoadedStrategies, Place as Place, open_description

_EACH_REPLAY = ("bench.replayer.serving",)
"""Modules to import once in a child, instead of in each fork."""


@dataclass(frozen=True)
class Sandbox:
    """The child of a strategy, and the strategy's number in that child."""

    child: Child
    number: int


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
            sandbox = Sandbox(child, number)
            strategies.append(Strategy(declared, one.plugins, sandbox=sandbox, imported=files))
    return strategies


def _descriptions_from(child: Child, number: int) -> tuple[tuple[str, ...], tuple[Loaded, ...]]:
    """The files that a child has imported, and its descriptions of `number` strategies.

    Raises NoAnswer.
    """
    with child.session(open_description) as session:
        body = session.ask(b"")
    with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
        files, made = msgspec.json.decode(body, type=tuple[tuple[str, ...], tuple[Loaded, ...]])
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
