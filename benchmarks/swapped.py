"""A function of a running process does from now on what a changed source says."""

from __future__ import annotations

import gc
import inspect
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from types import CodeType, FunctionType

Living = Mapping[tuple[str, str], Sequence[FunctionType]]
"""Functions by file and qualified name."""


def living(folder: str) -> Living:
    """Every function of this process that was read from a folder. To be asked before `gc.freeze`, which hides them."""
    found: defaultdict[tuple[str, str], list[FunctionType]] = defaultdict(list)
    for given in gc.get_objects():
        if type(given) is FunctionType and given.__code__.co_filename.startswith(folder):
            found[given.__code__.co_filename, given.__code__.co_qualname].append(given)
    return found


def swap(functions: Living, path: str, old: str, new: str) -> bool:
    """Give every living function of the file at `path` whose code differs between two sources the new code.

    False where that says nothing: the module's own lines differ, or a living function closes over other names than the new one.
    """
    before, after = compile(old, path, "exec"), compile(new, path, "exec")
    if _bare(before) != _bare(after):
        return False
    pairs = dict[tuple[str, int], tuple[CodeType, CodeType]]()
    numbers: defaultdict[str, int] = defaultdict(int)
    for was, now in zip(_functions(before), _functions(after), strict=True):
        numbers[was.co_qualname] += 1
        pairs[was.co_qualname, numbers[was.co_qualname]] = was, now
    changed = {key: pair for key, pair in pairs.items() if _whole(pair[0]) != _whole(pair[1])}
    here = {name: given for (file, name), given in functions.items() if file == path}
    todo = []
    for (name, number), (was, now) in changed.items():
        if was.co_freevars != now.co_freevars:
            return False
        lines = sorted({function.__code__.co_firstlineno for function in here.get(name, ())})
        same = sum(1 for other, _ in pairs if other == name)
        inner = [given for given in here if given.startswith(f"{name}.<locals>.")]
        if inner or (same > 1 and len(lines) != same):
            return False
        todo += [
            (function, now)
            for function in here.get(name, ())
            if same == 1 or function.__code__.co_firstlineno == lines[number - 1]
        ]
    if not todo:
        return False
    for function, now in todo:
        function.__code__ = now
    return True


def _functions(code: CodeType) -> Iterator[CodeType]:
    """The functions and methods of a module, without those inside others."""
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            if inner.co_flags & inspect.CO_NEWLOCALS:
                yield inner
            else:
                yield from _functions(inner)


def _bare(code: CodeType) -> object:
    """What a module and its classes do themselves: their own lines, without what stands inside functions."""
    inner = [
        given.co_name if given.co_flags & inspect.CO_NEWLOCALS else _bare(given)
        for given in code.co_consts
        if isinstance(given, CodeType)
    ]
    constants = [repr(given) for given in code.co_consts if not isinstance(given, CodeType)]
    return code.co_code, constants, code.co_names, inner


def _whole(code: CodeType) -> object:
    """What a function does, with what stands inside it."""
    constants = [_whole(given) if isinstance(given, CodeType) else repr(given) for given in code.co_consts]
    return code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars, code.co_exceptiontable
