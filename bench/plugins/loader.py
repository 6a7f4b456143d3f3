"""Somebody else's Python code, named in a spec: its file is found, compiled from its bytes, and what it names is looked up."""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import importlib
import importlib.machinery as machinery
import importlib.util
import inspect
import os
import site
import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from ..model.errors import BenchError, EndedError, SpecError, nearest, one_line, raised_at
from .spec import Spec

# ---------------------------------------------------------------- where code may run

_NOT_HERE: ContextVar[bool] = ContextVar("_NOT_HERE", default=False)


class NeedsChild(BenchError):
    """A spec names somebody else's code, which is not run in this process.

    `code` is its file (resolved), module or command line: strategies of the same one share a child.
    """

    def __init__(self, code: str) -> None:
        super().__init__("code of somebody else runs in a process of its own")
        self.code = code


@contextlib.contextmanager
def not_here() -> Iterator[None]:
    """Inside the block nobody else's code is loaded: NeedsChild where it would be."""
    outer = _NOT_HERE.set(True)
    try:
        yield
    finally:
        _NOT_HERE.reset(outer)


def require_child(code: str) -> None:
    """Raise NeedsChild where nobody else's code may run."""
    if _NOT_HERE.get():
        raise NeedsChild(code)


# ---------------------------------------------------------------- how a child imports

_FROM_CACHE = machinery.SourceFileLoader.get_code
_FOLDERS: set[str] = set()


def _installed() -> Iterator[str]:
    yield str(Path(__file__).parents[1]) + os.sep
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    known = (*map(sysconfig.get_path, names), *site.getsitepackages(), site.getusersitepackages())
    for folder in known:
        yield from (os.path.join(form(folder), "") for form in (str, os.path.realpath))


_INSTALLED = tuple(dict.fromkeys(_installed()))


def is_installed(path: str) -> bool:
    """True if a file belongs to Python, to an installed package, or to the bench."""
    if path.startswith(_INSTALLED) or os.path.realpath(path).startswith(_INSTALLED):
        return True
    return not {"site-packages", "dist-packages"}.isdisjoint(Path(path).parts)


def _from_source(loader: machinery.SourceFileLoader, fullname: str) -> CodeType | None:
    if is_installed(loader.path):
        return _FROM_CACHE(loader, fullname)
    code: CodeType = loader.source_to_code(Path(loader.path).read_bytes(), loader.path)
    return code


def compile_from_source() -> None:
    """From here on this process compiles modules from their source: a cached file may be of another one."""
    machinery.SourceFileLoader.get_code = _from_source  # type: ignore[method-assign, assignment]


class _Elsewhere:
    """A finder whose modules are taken from where `place` says that their files lie."""

    def __init__(self, finder: Any, place: Callable[[str], str]) -> None:
        self._finder, self._place = finder, place

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> machinery.ModuleSpec | None:
        """The module's spec, its file and folders elsewhere."""
        module_spec: machinery.ModuleSpec | None = self._finder.find_spec(name, path, target)
        if module_spec is None or module_spec.origin is None or self._place(module_spec.origin) == module_spec.origin:
            return module_spec
        inside = module_spec.submodule_search_locations
        folders = None if inside is None else [self._place(folder) for folder in inside]
        return importlib.util.spec_from_file_location(
            name, self._place(module_spec.origin), submodule_search_locations=folders
        )


def import_from(place: Callable[[str], str]) -> None:
    """From here on this process imports from where `place` says that a path lies, whoever named the path."""
    kinds = (
        (machinery.ExtensionFileLoader, machinery.EXTENSION_SUFFIXES),
        (machinery.SourceFileLoader, machinery.SOURCE_SUFFIXES),
        (machinery.SourcelessFileLoader, machinery.BYTECODE_SUFFIXES),
    )

    def finder(path: str) -> machinery.FileFinder:
        there = place(path or ".")
        if there == path:
            raise ImportError
        return machinery.FileFinder(there, *kinds)

    sys.path_hooks.insert(0, finder)
    sys.path_importer_cache.clear()
    usual = (machinery.BuiltinImporter, machinery.FrozenImporter, machinery.PathFinder)
    sys.meta_path[:] = [item if item in usual else _Elsewhere(item, place) for item in sys.meta_path]


# ---------------------------------------------------------------- modules


def load_module(name: str) -> Any:
    """A module by its name. Raises SpecError where it cannot be imported."""
    try:
        return importlib.import_module(name)
    except (BenchError, KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:
        kind = SpecError if isinstance(error, Exception) else EndedError
        what = f"module {name!r} cannot be imported: {type(error).__name__}: {one_line(error)}"
        raise kind(what) from error


@functools.cache
def load_file(path: str, name: str) -> ModuleType:
    """A Python file as a module. `name` is the path as the user wrote it, for errors: SpecError.

    It is loaded alone; where it imports what only its package has (`from ..config import x`), as a
    part of that package.
    """
    require_child(path)
    file = Path(path)
    try:
        data = file.read_bytes()
    except OSError as error:
        what = f"{name}: {error.strerror or error}"
        raise SpecError(f"{what} — paths are relative to the scenario, else to this folder") from None
    try:
        return _loaded(file, data)
    except MemoryError:
        raise
    except BaseException as error:
        ended = isinstance(error, EndedError) or not isinstance(error, Exception)
        kind = EndedError if ended else SpecError
        raise kind(_not_imported(error, path, name)) from error


def _loaded(file: Path, data: bytes) -> ModuleType:
    package = _package_of(file)
    if package is None:
        return _alone(file)
    if not _needs_package(data, package[1]):
        with contextlib.suppress(ImportError):  # something that it imports may need the package
            return _alone(file)
    folder, name = package
    top = name.partition(".")[0]
    for other in [other for other in sys.modules if other == top or other.startswith(f"{top}.")]:
        del sys.modules[other]
    _first(folder)
    return importlib.import_module(name)


def _alone(file: Path) -> ModuleType:
    """The module of a file under a name of its own, in a package of the files beside it."""
    package = f"bench_user_{hashlib.sha256(str(file).encode()).hexdigest()[:16]}"
    name = f"{package}.{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or not isinstance(spec.loader, machinery.SourceFileLoader):
        raise ImportError("not a Python file")
    around = ModuleType(package)
    around.__path__ = [str(file.parent)]
    module = importlib.util.module_from_spec(spec)
    _first(file.parent)
    sys.modules[package], sys.modules[name] = around, module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        for known in [known for known in sys.modules if f"{known}.".startswith(f"{package}.")]:
            del sys.modules[known]
        raise
    return module


def _first(folder: Path) -> None:
    """Let imports look into a folder first. A module of an earlier one that it has too is another from here on."""
    if str(folder) not in sys.path[:1]:
        earlier = [path for path in sys.path if path in _FOLDERS]
        for name, module in [*sys.modules.items()] if earlier else []:
            from_earlier = os.path.dirname(getattr(module, "__file__", None) or "") in earlier
            if not from_earlier or name.startswith("bench_user_"):
                continue
            if any((folder / part).exists() for part in (f"{name}.py", name)):
                del sys.modules[name]
        sys.path.insert(0, str(folder))
    _FOLDERS.add(str(folder))
    importlib.invalidate_caches()


def _package_of(file: Path) -> tuple[Path, str] | None:
    """The folder of a file's outermost package, and the file's dotted name; None for one in none, or in the bench."""
    folder, parts = file.parent, [file.stem]
    while (folder / "__init__.py").is_file() and folder.parent != folder:
        parts.insert(0, folder.name)
        folder = folder.parent
    inside = len(parts) > 1 and parts[0] != __name__.partition(".")[0]
    return (folder, ".".join(parts)) if inside else None


def _needs_package(data: bytes, name: str) -> bool:
    """True if a file imports something, anywhere in it, that it finds as part of its package alone."""
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError):
        return False  # loading it says what is wrong
    top = name.partition(".")[0]
    for node in ast.walk(tree):
        named = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            named = [] if node.level else [node.module or ""]
            if node.level > 1:
                return True
        if any(item.partition(".")[0] == top for item in named):
            return True
    return False


def _not_imported(error: BaseException, path: str, name: str) -> str:
    line = getattr(error, "lineno", None) if isinstance(error, SyntaxError) else None
    place = f"{name}:{line}" if line else raised_at(error) or name
    place = place if line or Path(path).name in place else f"{name} ({place})"
    what = f"{place}: cannot be imported: {type(error).__name__}: {one_line(error)}"
    if isinstance(error, ModuleNotFoundError):
        return f"{what} — install it here, or put the file beside {Path(path).name}"
    return what


# ---------------------------------------------------------------- names in modules


def loaded(spec: Spec, base: Path) -> tuple[Any, str | None]:
    """The function or class that a spec names in a file or module, and None; for a method its class and its name.

    Raises SpecError for a name that is not there, with the nearest, and for what is no function.
    """
    require_child(str((base / spec.target).resolve()) if spec.target.endswith(".py") else spec.target)
    with contextlib.redirect_stdout(sys.stderr):  # what it prints is no part of a report
        module = _module_of(spec, base)
    offered = _offered(module)
    if spec.attribute is None:
        raise SpecError(f"{spec.target}: name the function after a colon{nearest('', offered)}")
    owner, target, parts = None, module, spec.attribute.split(".")
    for part in parts:
        owner, target = target, getattr(target, part, None)
    if not callable(target):
        kind = type(target)
        if kind.__module__ == "builtins":
            near = nearest(spec.attribute, offered)
            raise SpecError(f"{spec.target} has no function {spec.attribute!r}{near}")
        what = f"{spec.target}: {spec.attribute!r} is no function, but of the class {kind.__name__}"
        raise SpecError(f"{what} — name the method that is meant: {spec.target}:{spec.attribute}.METHOD")
    if inspect.isclass(owner):
        static = inspect.getattr_static(owner, parts[-1])
        if not isinstance(static, staticmethod | classmethod):
            return owner, parts[-1]
    return target, None


def _module_of(spec: Spec, base: Path) -> Any:
    is_file = spec.target.endswith(".py")
    file = spec.target if is_file else f"{spec.target.replace('.', '/')}.py"
    if is_file or (base / file).is_file():
        return load_file(str((base / file).resolve()), file)
    if (base / spec.target).is_dir() and not (base / spec.target / "__init__.py").is_file():
        inside = f"{Path(spec.target) / 'FILE.py'}:{spec.attribute or 'FUNCTION'}"
        raise SpecError(f"{spec.target}: is a folder — name the file in it: {inside}")
    return load_module(spec.target)


def _offered(module: Any) -> list[str]:
    """The names that a spec may take from a module: of what it defines itself, else of all that is in it."""
    named = [name for name, value in vars(module).items() if callable(value) and name[0] != "_"]
    own = [name for name in named if getattr(getattr(module, name), "__module__", "") == module.__name__]
    return own or named


def method_of(target: Any, wanted: str | None, name: str) -> str | None:
    """The method that does the work of a class, where it is not `wanted`, the one of its slot: its `__call__`.

    >>> method_of(dict, "put", "dict")
    Traceback (most recent call last):
    bench.model.errors.SpecError: 'dict': the class has no method 'put' — name the one that is meant: dict.get
    """
    if not inspect.isclass(target) or wanted is None or hasattr(target, wanted):
        return None
    if "__call__" in dir(target):
        return "__call__"
    offered = [item for item, value in vars(target).items() if callable(value) and item[0] != "_"]
    meant = f"name the one that is meant: {name}.{offered[0]}" if offered else "give it one, or name a function"
    raise SpecError(f"{name!r}: the class has no method {wanted!r} — {meant}")
