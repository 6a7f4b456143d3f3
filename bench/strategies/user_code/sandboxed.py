"""Loading of strategies: those with user code get a child process, in which `loaded` imports it."""

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
from .loaded import DESCRIBE, MESSAGES_MODULE, REPLAY_MODULE, Descriptions, Place as Place, load

_NO_FILE = "<dynamic-code>"  # as cloudpickle names every file


def load_strategies(
    declared: Sequence[Declaration],
    place: Place | None = None,
    *,
    debug: bool = False,
) -> list[Strategy]:
    """The strategies of some declarations.

    Strategies with user code run in a child process, which those with the same files share.
    Functions that cannot be sent to a child run in this process, and `in_process_reason` says why;
    with `debug` all functions do. Nothing is raised: a strategy is `broken` by a SpecError if its
    spec names nothing or does not fit, by a LoadError if its file raises when it is imported, ends
    the process, or hangs.
    """
    place = place or Place()
    strategies: dict[int, Strategy] = {}
    groups: dict[str, list[int]] = {}
    for number, declaration in enumerate(declared):
        try:
            code, reason = _code_in(declaration, place.base, debug)
            if code:
                groups.setdefault(code, []).append(number)
            else:
                strategy = build_strategy(declaration, place.base)
                strategies[number] = replace(strategy, in_process_reason=reason)
        except SpecError as error:
            strategies[number] = Strategy.of(declaration, broken=error)
    for numbers in groups.values():
        group = _in_child([declared[number] for number in numbers], place)
        strategies |= zip(numbers, group, strict=True)
    return [strategies[number] for number in range(len(declared))]


def _code_in(declared: Declaration, base: Path, debug: bool) -> tuple[str, str]:
    """A strategy's user code that runs in a child process, and the reason why its functions run in
    this process; `""` for none."""
    slots = declared.slots.items()
    items = [(kind_of(slot), item) for slot, in_slot in slots for item in in_slot]
    if debug and not all(isinstance(item, str) for _, item in items):
        return "", "debug=True"
    try:
        _pickled(declared)
    except Exception as error:
        return "", f"{type(error).__name__}: {one_line(error)}"
    codes = (
        user_code(kind, item, base)
        if isinstance(item, str)
        else f"functions of {spec_of(item).target}"
        for kind, item in items
    )
    return next(filter(None, codes), ""), ""


def _in_child(group: Sequence[Declaration], place: Place) -> list[Strategy]:
    """Strategies loaded in one child, or each in its own child if loading all together fails."""
    slots = set().union(*(declared.slots for declared in group))
    modules = (REPLAY_MODULE, *((MESSAGES_MODULE,) if slots & {"compactor", "routers"} else ()))
    prepare = functools.partial(load, tuple(map(_pickled, group)), place, modules)
    limits = Limits(hidden=place.hidden)
    child, another = Child(prepare, limits), Child(prepare, limits)
    child.start()  # neither waits: both import the code at the same time
    another.start()
    try:
        with child.session(DESCRIBE) as session:
            descriptions = msgspec.json.decode(session.ask(), type=Descriptions)
        if len(descriptions.strategies) != len(group):
            raise NoAnswer(SPOILT)
    except (NoAnswer, msgspec.DecodeError, UnicodeDecodeError) as error:
        child.stop()
        another.stop()
        if len(group) > 1:
            return [_in_child([declared], place)[0] for declared in group]
        why = error if isinstance(error, NoAnswer) else SPOILT
        return [Strategy.of(group[0], broken=LoadError(f"it cannot be loaded: {why}"))]
    files = tuple(descriptions.files)
    strategies: list[Strategy] = []
    for number, (declared, loaded) in enumerate(zip(group, descriptions.strategies, strict=True)):
        if loaded.error:
            problem = (LoadError if loaded.is_broken else SpecError)(loaded.error)
            strategies.append(Strategy.of(declared, broken=problem))
            continue
        plugins: dict[str, tuple[Plugin, ...]] = {}
        for slot, described in loaded.plugins.items():
            kind = kind_of(slot)
            plugins[slot] = tuple(
                Plugin(kind, name, None, meta, is_user=True) for name, meta in described
            )
        sandbox = Sandbox(child, another, number, files)
        strategies.append(Strategy.of(declared, plugins=plugins, sandbox=sandbox))
    return strategies


def stop(strategies: Sequence[Strategy]) -> None:
    """Stop the child processes of strategies; one starts again when it is needed."""
    for strategy in strategies:
        if strategy.sandbox is not None:
            strategy.sandbox.child.stop()
            strategy.sandbox.another.stop()


# ---------------------------------------------------------------- functions that are passed


def _pickled(declared: Declaration) -> bytes:
    """A declaration, pickled for another process. Errors of pickling are raised."""
    if all(isinstance(item, str) for items in declared.slots.values() for item in items):
        return pickle.dumps(declared)
    import cloudpickle

    def with_file(code: CodeType) -> tuple[Any, ...]:
        """The pickled parts of a code object, with the real name of its file, for the messages of
        errors; the cell of a notebook has no file."""
        constructor, parts = reduced[CodeType](code)
        name = code.co_filename if os.path.isfile(code.co_filename) else _NO_FILE
        return constructor, tuple(name if part == _NO_FILE else part for part in parts)

    reduced = cloudpickle.CloudPickler.dispatch_table
    table = {"dispatch_table": ChainMap({CodeType: with_file}, reduced)}
    sent = io.BytesIO()
    type("Pickler", (cloudpickle.CloudPickler,), table)(sent).dump(declared)
    return sent.getvalue()
