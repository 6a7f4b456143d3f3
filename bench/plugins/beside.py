"""Somebody's own Python file, loaded so that it finds what lies beside it, and so that two folders with files of one name do not meet."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from ..errors import EndedError, SpecError, one_line, raised_at


class Beside:
    """A folder whose modules can be imported by name for as long as the block lasts: around the load of a file, and around each call into it.

    What was imported from the folder is kept here and taken out of `sys.modules` at the end, so that another folder's `rules.py` is another module.
    A process that was forked in the block ends with it, lest there be two of what the bench does. The working folder is again what it was.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.modules: dict[str, ModuleType] = {}
        self._outer: list[tuple[int, str, set[str], dict[str, ModuleType]]] = []

    def __enter__(self) -> Beside:
        hidden = {name: sys.modules[name] for name in self.modules if name in sys.modules}
        self._outer.append((os.getpid(), _here(), set(sys.modules) - set(hidden), hidden))
        sys.modules.update(self.modules)
        sys.path.insert(0, str(self.folder))
        return self

    def __exit__(self, *error: object) -> None:
        process, here, known, hidden = self._outer.pop()
        if os.getpid() != process:
            os._exit(0)
        if here and _here() != here:
            os.chdir(here)
        if str(self.folder) in sys.path:
            sys.path.remove(str(self.folder))
        for name in [name for name in sys.modules if name not in known]:
            if self._is_ours(name, known):
                self.modules[name] = sys.modules.pop(name)
        sys.modules.update(hidden)

    def _is_ours(self, name: str, known: set[str]) -> bool:
        """Whether a module was imported from this folder: by the place of its outermost package, so that a folder around an environment is none."""
        top = name.partition(".")[0]
        package = self.modules.get(top) or sys.modules.get(top)
        if top in known or package is None:
            return False
        file = getattr(package, "__file__", None)
        places = [Path(file)] if file else [Path(path) / "__init__.py" for path in getattr(package, "__path__", ())]
        return any(self.folder in (place.parent, place.parent.parent) and top in (*place.parts[-2:], place.stem)
                   for place in places)  # fmt: skip

    def files(self) -> dict[str, str]:
        """sha256 of each file that was imported from the folder, by its path from there."""
        paths = {Path(module.__file__).resolve() for module in self.modules.values() if module.__file__}
        return {path.relative_to(self.folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
                for path in sorted(paths) if path.is_relative_to(self.folder)}  # fmt: skip

    def around(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """The callable with its folder at hand: an import inside a function finds what one at the top finds."""

        @functools.wraps(call)
        def called(*given: Any, **settings: Any) -> Any:
            with self:
                return call(*given, **settings)

        return called


def _here() -> str:
    """The working folder; `""` where it was removed."""
    try:
        return os.getcwd()
    except OSError:
        return ""


@functools.cache
def load_file(path: str, shown: str) -> tuple[Any, str, Beside]:
    """The module of a Python file, the sha256 of its bytes, and its folder. `shown` is the path as the user wrote it, for errors: SpecError."""
    try:
        code = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError as error:
        raise SpecError(
            f"{shown}: {error.strerror or error} — paths are relative to the scenario, else to this folder"
        ) from None
    beside = Beside(Path(path).parent)
    package = f"bench_user_{hashlib.sha256(path.encode()).hexdigest()[:16]}"
    name = f"{package}.{Path(path).stem}"
    module_spec = importlib.util.spec_from_file_location(name, path)
    if module_spec is None or module_spec.loader is None:
        raise SpecError(f"{shown}: not a Python file")
    around = ModuleType(package)  # so that `from .rules import x` finds rules.py beside the file
    around.__path__ = [str(beside.folder)]
    module = importlib.util.module_from_spec(module_spec)
    sys.modules[package], sys.modules[name] = around, module
    try:
        with beside:
            module_spec.loader.exec_module(module)
        if hasattr(signal, "alarm"):
            signal.alarm(0)  # whose time the file meant to limit, and not that of everybody else
    except BaseException as error:
        for loaded in [loaded for loaded in sys.modules if loaded == package or loaded.startswith(f"{package}.")]:
            del sys.modules[loaded]
        if isinstance(error, MemoryError | KeyboardInterrupt):
            raise
        kind = SpecError if isinstance(error, Exception) else EndedError
        raise kind(_not_imported(error, path, shown)) from error
    beside.modules.update({loaded: found for loaded, found in sys.modules.items()
                           if loaded.startswith(f"{package}.") and loaded != name})  # fmt: skip
    return module, code, beside


def _not_imported(error: BaseException, path: str, shown: str) -> str:
    line = getattr(error, "lineno", None) if isinstance(error, SyntaxError) else None
    place = f"{shown}:{line}" if line else raised_at(error) or shown
    place = place if line or Path(path).name in place else f"{shown} ({place})"
    what = f"{place}: cannot be imported: {type(error).__name__}: {one_line(error)}"
    if isinstance(error, ModuleNotFoundError):
        return f"{what} — install it here, or put the file beside {Path(path).name}"
    return what
