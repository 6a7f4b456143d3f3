"""Strategies with user code, each with the child process that imports it."""

from __future__ import annotations

import functools
import io
import os
import pickle
from collections import ChainMap
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import CodeType
from typing import Any

import msgspec

from ...model.errors import LoadError, SpecError, one_line
from ...plugins.frames import SPOILT
from ...plugins.registry import Plugin, user_code
from ...plugins.worker import Child, Limits, NoAnswer
from .. import Sandbox, Strategy, build_strategy
from ..declaring import Declaration, kind_of, spec_of
from .loaded import DESCRIBE, EACH_REPLAY, ITS_MESSAGES, Descriptions, Place as Place, load

_NO_FILE = "<dynamic-code>"  # as cloudpickle names every file


def load_strategies(
    given: Sequence[Declaration],
    place: Place | None = None,
    *,
    debug: bool = False,
    tolerant: bool = False,
) -> list[Strategy]:
    """The strategies of some declarations.

    Strategies with user code run in a child process, shared by those with the same files. One whose
    file raises when it is imported, ends the process or hangs, is broken. A function that cannot be
    sent to a child runs in this process, and `in_process_reason` says why; with `debug` every
    function does. Raises SpecError for a spec that names nothing or does not fit; if `tolerant`
    such a strategy is broken instead.
    """
    place = place or Place()
    strategies: dict[int, Strategy] = {}
    groups: dict[str, list[int]] = {}
    for number, declared in enumerate(given):
        try:
            code, reason = _code_in(declared, place.base, debug)
            if code:
                groups.setdefault(code, []).append(number)
            else:
                strategy = build_strategy(declared, place.base)
                strategies[number] = replace(strategy, in_process_reason=reason)
        except SpecError as error:
            strategies[number] = _broken_strategy(declared, error, tolerant)
    for numbers in groups.values():
        together = _in_child([given[number] for number in numbers], place, tolerant)
        strategies |= zip(numbers, together, strict=True)
    return [strategies[number] for number in range(len(given))]


def _code_in(declared: Declaration, base: Path, debug: bool) -> tuple[str, str]:
    """The user code of a strategy that runs in a child process, `""` for none; and the reason why
    its functions run in this one."""
    items = [(kind_of(slot), item) for slot, each in declared.slots.items() for item in each]
    if debug and not all(isinstance(item, str) for _, item in items):
        return "", "debug=True"
    try:
        _sent(declared)
    except Exception as error:
        return "", f"{type(error).__name__}: {one_line(error)}"
    codes = (
        user_code(kind, item, base)
        if isinstance(item, str)
        else f"functions of {spec_of(item).target}"
        for kind, item in items
    )
    return next(filter(None, codes), ""), ""


def _in_child(given: Sequence[Declaration], place: Place, tolerant: bool) -> list[Strategy]:
    """Strategies loaded in one child, or each in its own child if loading all together fails."""
    slots = set().union(*(one.slots for one in given))
    modules = (EACH_REPLAY, *((ITS_MESSAGES,) if slots & {"compactor", "routers"} else ()))
    prepare = functools.partial(load, tuple(map(_sent, given)), place, modules)
    limits = Limits(hidden=place.hidden)
    child, another = Child(prepare, limits), Child(prepare, limits)
    for each in (child, another):  # side by side
        each.start()
    try:
        with child.session(DESCRIBE) as session:
            found = msgspec.json.decode(session.ask(), type=Descriptions)
        if len(found.strategies) != len(given):
            raise NoAnswer(SPOILT)
    except (NoAnswer, msgspec.DecodeError, UnicodeDecodeError) as error:
        child.stop()
        another.stop()
        if len(given) > 1:
            return [one for each in given for one in _in_child([each], place, tolerant)]
        why = error if isinstance(error, NoAnswer) else SPOILT
        return [_broken_strategy(given[0], why, tolerant)]
    strategies: list[Strategy] = []
    for number, (declared, one) in enumerate(zip(given, found.strategies, strict=True)):
        if one.error:
            problem = (LoadError if one.is_broken else SpecError)(one.error)
            strategies.append(_broken_strategy(declared, problem, tolerant))
            continue
        plugins = {
            slot: tuple(
                Plugin(kind_of(slot), name, None, meta, is_user=True) for name, meta in each
            )
            for slot, each in one.plugins.items()
        }
        sandbox = Sandbox(child, another, number, tuple(found.files))
        strategies.append(Strategy.of(declared, plugins=plugins, sandbox=sandbox))
    return strategies


def _broken_strategy(declared: Declaration, problem: object, tolerant: bool) -> Strategy:
    """A strategy that cannot be loaded. An error of its spec is raised, unless `tolerant`."""
    if isinstance(problem, LoadError):
        return Strategy.of(declared, broken=str(problem))
    if isinstance(problem, SpecError) and not tolerant:
        raise problem
    return Strategy.of(declared, broken=f"it cannot be loaded: {problem}")


def stop(strategies: Sequence[Strategy]) -> None:
    """End the children of strategies; a child starts again when it is needed."""
    for strategy in strategies:
        if strategy.sandbox is not None:
            strategy.sandbox.child.stop()
            strategy.sandbox.another.stop()


# ---------------------------------------------------------------- functions that are passed


def _sent(declared: Declaration) -> bytes:
    """A declaration, pickled for another process. Errors of pickling are raised."""
    if all(isinstance(item, str) for items in declared.slots.values() for item in items):
        return pickle.dumps(declared)
    import cloudpickle

    def with_file(code: CodeType) -> tuple[Any, ...]:
        """The parts of a code object, with the name of its file, which errors state; a cell of a
        notebook has none."""
        make, parts = reduced[CodeType](code)
        name = code.co_filename if os.path.isfile(code.co_filename) else _NO_FILE
        return make, tuple(name if part == _NO_FILE else part for part in parts)

    reduced = cloudpickle.CloudPickler.dispatch_table
    table = {"dispatch_table": ChainMap({CodeType: with_file}, reduced)}
    sent = io.BytesIO()
    type("Pickler", (cloudpickle.CloudPickler,), table)(sent).dump(declared)
    return sent.getvalue()
