"""What loaded code replaces in Python itself, put back: `json.dumps = mine` in one strategy's file must change nobody else's rows."""

from __future__ import annotations

import operator
import sys
from types import ModuleType
from typing import Any

OWNERS = (
    "builtins", "json", "json.encoder", "json.decoder", "json.encoder.JSONEncoder", "json.decoder.JSONDecoder", "re", "os", "posixpath", "ntpath",
    "io", "time", "math", "random", "hashlib", "copy", "functools", "itertools", "operator", "collections", "string", "textwrap", "datetime",
    "statistics", "bisect", "heapq", "pathlib", "pathlib.Path", "contextlib", "inspect", "importlib", "msgspec", "msgspec.json", "msgspec.structs",
    "json._default_encoder", "json._default_decoder", "subprocess", "subprocess.Popen", "threading", "threading.Thread", "threading.Timer",
    "tempfile", "socket", "select", "pickle", "decimal", "toon_format",
)  # fmt: skip
"""Modules, classes and objects of which the bench, or what it calls, uses something itself."""

SET = ("_default_encoder", "_default_decoder")
"""What modules keep for their own functions and is put back too."""

# which may be what was replaced
_all, _callable, _drop, _hasattr, _is, _isinstance, _map, _put, _type, _vars = (
    all, callable, delattr, hasattr, operator.is_, isinstance, map, setattr, type, vars,
)  # fmt: skip
_Type, _Module = type, ModuleType


class Replaced:
    """What the modules, classes and objects of `OWNERS` have, as it is now; or those of the bench and of what it counts tokens with.

    >>> import json
    >>> before, json.dumps = Replaced(), len
    >>> before.put_back(), json.dumps([1])
    (['json.dumps'], '[1]')
    """

    def __init__(self, of_the_bench: bool = False) -> None:
        owners = _of_the_bench() if of_the_bench else [(name, _owner(name)) for name in OWNERS]
        self._before = [(name, owner, _vars(owner).copy()) for name, owner in owners if owner is not None]

    def put_back(self) -> list[str]:
        """Undo what was replaced since, and tell its names; what was added stays, but for what hides a method of an object."""
        undone = []
        for name, owner, before in self._before:
            now = _vars(owner)
            if now.keys() == before.keys() and _all(_map(_is, now.values(), before.values())):
                continue
            changed = [
                key
                for key, value in before.items()
                if now.get(key, self) is not value
                and now.get(key) is not sys.modules.get(f"{name}.{key}", self)
                and (_isinstance(owner, _Module) <= _matters(key, value))
            ]  # but for a module of a package, which Python puts there when it is imported
            for key in changed:
                _put(owner, key, before[key])
            if not _isinstance(owner, _Module | _Type):
                for key in now.keys() - before.keys():
                    _drop(owner, key)
            undone += [f"{name}.{key}" for key in changed]
        return undone


def _matters(key: str, value: Any) -> bool:
    """Whether it is put back in a module: its functions and classes, and not what it counts or remembers."""
    return key in SET or _callable(value) or _hasattr(_type(value), "__get__")


def _of_the_bench() -> list[tuple[str, Any]]:
    packages = (__name__.partition(".")[0], "tiktoken")
    found: list[tuple[str, Any]] = []
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in packages:
            classes = [item for item in vars(module).values() if isinstance(item, type) and item.__module__ == name]
            found += [(name, module), *((f"{name}.{item.__qualname__}", item) for item in classes)]
    return found


def _owner(name: str) -> Any:
    """A module that is loaded, or a class of one; None for one that is not."""
    if name in sys.modules:
        return sys.modules[name]
    module, _, attribute = name.rpartition(".")
    return getattr(sys.modules.get(module), attribute, None)
