"""Cases, and the parts of cases that belong to one strategy, kept from one run to the next under all that they depend on.

A key has the trace, what a scenario asks of it, the strategy with the hashes of its files, the settings, and the code, packages and Python that
measure. What the child process of a strategy looked at beside its own file is kept with the entry, and compared when it is read.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import io
import pickle
import platform
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from ..files.cache import Cache
from ..model import compact_json
from ..plugins.apart import Limits
from ..plugins.registry import Plugin, entries
from ..plugins.touched import Touched
from ..strategies import Strategy

_SHOWS = ("reports", "cli", "starter", "recording", "pytest_plugin.py", "__main__.py", "vocabularies", "__pycache__")
"""Parts of the bench that no case depends on, or (vocabularies) whose hashes are in the code."""


class _Entry(msgspec.Struct, frozen=True):
    """A value as it is kept, and what code of somebody else's looked at while it was made."""

    value: Any
    touched: tuple[Touched, ...] = ()


@dataclass(frozen=True)
class CaseCache:
    """Values of one run of the bench in a cache: it reads what earlier runs have measured, and keeps what it measures itself."""

    cache: Cache
    _states: dict[str, str] = field(default_factory=dict, compare=False, repr=False)

    def get(self, key: str | None) -> Any:
        """The value of a key; None for none, for one that is damaged, and where something that it was made of has changed."""
        body = None if key is None else self.cache.get(key)
        if body is None:
            return None
        try:
            entry: _Entry = _Values(io.BytesIO(body)).load()
            return entry.value if all(item.is_as_it_was(self._states) for item in entry.touched) else None
        except Exception:  # whatever it is, it is not ours
            return None

    def put(self, key: str | None, value: Any, touched: Sequence[Touched] = ()) -> None:
        """Keep a value, unless it has no key, or something of what it was made of cannot be known."""
        if key is not None and not any(item.why for item in touched):
            self.cache.put(key, pickle.dumps(_Entry(value, tuple(touched)), pickle.HIGHEST_PROTOCOL))


class _Values(pickle.Unpickler):
    """Reads values of the bench and nothing else: an entry that somebody wrote there runs no code."""

    def find_class(self, module: str, name: str) -> Any:
        """A class of ours."""
        if module.startswith("bench."):
            found = super().find_class(module, name)
            if isinstance(found, type) and issubclass(found, msgspec.Struct):
                return found
        if (module, name) in (("msgspec._utils", "rebuild"), ("builtins", "frozenset")):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} is no value")


# ---------------------------------------------------------------- keys


def key_of(*parts: Any) -> str | None:
    """The key of all that a value depends on; None where a part is None, so that nothing is kept."""
    if any(part is None for part in parts) or outside():
        return None
    return hashlib.sha256(compact_json([code_sha256(), *parts]).encode()).hexdigest()


def identity(strategy: Strategy) -> Any:
    """The part of a key that a strategy is; None for one whose code nobody can hash: a function that was passed, or a plug-in of a package."""
    if (strategy.own and not strategy.loaded) or any(map(_is_outside, strategy.everything)):
        return None
    limits: Limits | None = None if strategy.apart is None else strategy.apart.child.limits
    place = str(strategy.base.resolve()) if strategy.code else ""
    return [strategy.name, str(strategy), strategy.reference, strategy.broken, sorted(strategy.code.items()), place,
            None if limits is None else [limits.call_s, limits.memory_mib]]  # fmt: skip


def _is_outside(plugin: Plugin) -> bool:
    ours = plugin.entry.own or plugin.entry.target.__module__.startswith("bench.")
    return not ours or any(map(_is_outside, plugin.inner.values()))


@functools.cache
def outside() -> str:
    """Name a plug-in that an installed package brings, and that takes part in every case; `""` for none."""
    found = (entry for kind in ("metric", "extractor") for entry in entries(kind).values())
    return next((entry.name for entry in found if not entry.target.__module__.startswith("bench.")), "")


@functools.cache
def code_sha256() -> str:
    """The hash of all code that makes a case: the bench's own files, the versions of the packages that it uses, Python and the kind of machine."""
    top = Path(__file__).parents[1]
    files = (
        path for path in sorted(top.rglob("*")) if path.is_file() and not set(path.parts[len(top.parts) :]) & {*_SHOWS}
    )
    found = hashlib.sha256()
    for path in files:
        found.update(f"{path.relative_to(top).as_posix()}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    about = [sys.version, platform.machine(), *_versions()]
    return hashlib.sha256(found.digest() + "\0".join(about).encode()).hexdigest()


def _versions() -> Iterable[str]:
    """The installed versions of all packages that the bench may use."""
    try:
        required = importlib.metadata.requires("agent-memory-bench") or []
    except importlib.metadata.PackageNotFoundError:
        required = []
    for name in sorted({re.split(r"[^\w.-]", text)[0] for text in required}):
        try:
            yield f"{name} {importlib.metadata.version(name)}"
        except importlib.metadata.PackageNotFoundError:
            yield f"{name} is missing"
