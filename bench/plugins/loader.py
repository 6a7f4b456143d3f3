"""Loading of user code in Python: imports a file or module, and looks up a name in it."""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.machinery as machinery
import importlib.util
import inspect
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from ..model.errors import BenchError, LoadError, SpecError, nearest, one_line, raised_at, refused
from .spec import Spec

# ---------------------------------------------------------------- imports in a child

_BENCH_AND_PYTHON = (str(Path(__file__).parents[1]), os.path.dirname(os.__file__))
_INSTALLED = tuple(os.path.join(os.path.realpath(folder), "") for folder in _BENCH_AND_PYTHON)
_PACKAGES = frozenset({"site-packages", "dist-packages"})


def is_installed(path: str) -> bool:
    """True if a file belongs to Python, to an installed package, or to the bench."""
    in_package = not _PACKAGES.isdisjoint(Path(path).parts)
    return in_package or os.path.realpath(path).startswith(_INSTALLED)


def import_from(redirected: Callable[[str], str]) -> None:
    """From here on import the modules of each folder from `redirected(folder)` instead."""

    def find(hook: Callable[[str], Any], folder: str) -> Any:
        return hook(redirected(folder))

    sys.path_hooks[:] = [functools.partial(find, hook) for hook in sys.path_hooks]
    sys.path_importer_cache.clear()


# ---------------------------------------------------------------- modules


_FOLDERS: set[str] = set()  # from which user modules were imported
_ALONE = "bench_user_"  # the beginning of the names of modules that are imported alone


@contextlib.contextmanager
def spec_error_for(
    why: Callable[[BaseException], str], kind: type[SpecError] = SpecError
) -> Iterator[None]:
    """A context in which any error becomes a SpecError, or another `kind`, with the text of
    `why(error)`; an attempt to end the process becomes a LoadError."""
    try:
        yield
    except (BenchError, MemoryError):
        raise
    except BaseException as error:
        raise (kind if isinstance(error, Exception) else LoadError)(why(error)) from error


_BY_FILE = "name it by its own file, as in ../agent/memory.py:compress"


def load_module(name: str) -> Any:
    """The module with a name. Raises SpecError if there is none, LoadError if it cannot be
    imported."""

    def why(error: BaseException) -> str:
        return f"module {name!r} cannot be imported: {type(error).__name__}: {one_line(error)}"

    with spec_error_for(why, LoadError):
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if f"{name}.".startswith(f"{error.name}."):  # not a module that this one imports
                raise SpecError(f"{why(error)} — install it here, or {_BY_FILE}") from error
            raise


@functools.cache
def load_file(path: str, written: str) -> ModuleType:
    """The module of a Python file, imported as part of its package, else alone.

    `written` is the path for messages. Raises SpecError if there is no such file, LoadError if it
    cannot be imported.
    """
    try:
        Path(path).read_bytes()
    except OSError as error:
        what = f"{written}: {error.strerror or error}"
        raise SpecError(
            f"{what} — paths are relative to the scenario, else to this folder"
        ) from None
    with spec_error_for(lambda error: _not_imported(error, path, written), LoadError):
        return _import_file(Path(path))


def _import_file(file: Path) -> ModuleType:
    """The module of a file, imported as part of its package, else alone under a unique name."""
    top, parts = file.parent, [file.stem]
    while (top / "__init__.py").is_file() and top.parent != top:
        parts.insert(0, top.name)
        top = top.parent
    if len(parts) > 1 and parts[0] != __name__.partition(".")[0]:
        # It fails if its package cannot be imported, or if the file expects to be in none.
        with contextlib.suppress(Exception):
            _look_first_in(top)
            return importlib.import_module(".".join(parts))
    _look_first_in(file.parent)
    name = f"{_ALONE}{zlib.crc32(str(file).encode()):08x}"
    loader = machinery.SourceFileLoader(name, str(file))
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def _look_first_in(folder: Path) -> None:
    """Let imports search a folder first, and forget user modules from other folders."""
    others = tuple(os.path.join(other, "") for other in _FOLDERS - {str(folder)})
    for name, module in [*sys.modules.items()] if others else []:
        file = getattr(module, "__file__", None) or ""
        is_of_another = file.startswith(others) and not is_installed(file)
        if is_of_another and not name.startswith(("__main__", _ALONE)):
            del sys.modules[name]
    if str(folder) not in sys.path[:1]:
        sys.path.insert(0, str(folder))
    _FOLDERS.add(str(folder))
    importlib.invalidate_caches()


def _not_imported(error: BaseException, path: str, written: str) -> str:
    """The message for a file that cannot be imported, with the line that raised."""
    raised = raised_at(error)
    if isinstance(error, SyntaxError) and error.lineno:
        place = f"{written}:{error.lineno}"
    elif raised and Path(path).name not in raised:  # in a module that it imports
        place = f"{written} ({raised})"
    else:
        place = raised or written
    what = f"{place}: cannot be imported: {type(error).__name__}: {one_line(error)}{refused(error)}"
    if isinstance(error, ModuleNotFoundError):
        return f"{what} — install it here, put the file beside {Path(path).name}, or {_BY_FILE}"
    return what


# ---------------------------------------------------------------- names in modules


def load_target(spec: Spec, base: Path, *, callables: bool = True) -> tuple[Any, str | None]:
    """The object that a spec names in a file or module, and the name of its method to call.

    For a function or a class the second is None; for `Class.method` they are the class and the
    method's name. With `callables=False` it may be any object. Raises SpecError for an unknown
    name, with the nearest.
    """
    module = _module_of(spec, base)
    if spec.attribute is None:
        names = nearest("", _public_names(module))
        raise SpecError(f"{spec.target}: name the function after a colon{names}")
    owner, target, parts = None, module, spec.attribute.split(".")
    for part in parts:  # the owner of `Class.method` is the class
        owner, target = target, getattr(target, part, None)
    if target is None or (callables and not callable(target)):
        names = nearest(spec.attribute, _public_names(module))
        raise SpecError(f"{spec.target} has no function {spec.attribute!r}{names}")
    static = inspect.getattr_static(owner, parts[-1]) if inspect.isclass(owner) else None
    needs_instance = static is not None and not isinstance(static, staticmethod | classmethod)
    return (owner, parts[-1]) if needs_instance else (target, None)


def _public_names(module: Any) -> list[str]:
    """The names of the public functions and classes that a module defines, or else imports."""
    items = vars(module).items()
    public = {name: value for name, value in items if callable(value) and name[0] != "_"}
    defined = [name for name, value in public.items() if value.__module__ == module.__name__]
    return defined or [*public]


def _module_of(spec: Spec, base: Path) -> Any:
    """The module that a spec names: the one of a file, else an installed one."""
    file = spec.target if spec.target.endswith(".py") else f"{spec.target.replace('.', '/')}.py"
    if file == spec.target or (base / file).is_file():
        return load_file(str((base / file).resolve()), file)
    return load_module(spec.target)
