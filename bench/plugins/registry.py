"""The registry: every plug-in by kind and name, found by decorator and folder scan, then entry points, then by path.

One new file with one `@register` adds one thing; nothing else is edited. A module that fails to import is an error, never skipped.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import inspect
import pkgutil
import posixpath
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

import msgspec

from ..model.errors import BenchError, EndedError, SpecError, misfit, nearest, one_line
from .annotations import NoType, type_of
from .command import TARGET, process_class
from .own_code import OwnFile, load_module, loaded, method_of, require_child
from .spec import Spec, parse_spec

_Target = TypeVar("_Target")

KINDS: dict[str, tuple[str | tuple[str, ...], str | None]] = {
    # kind: (package that is scanned, or several of them, the method a class of this kind offers)
    "reader": ("bench.traces.formats", None),
    "summarizer": (("bench.strategies.documents", "bench.strategies.policies"), "summarize"),
    "compactor": (("bench.strategies.documents", "bench.strategies.policies"), "compact"),
    "writer": ("bench.strategies.documents", "write"),
    "store": ("bench.strategies.documents", "put"),
    "evaluator": ("bench.strategies.documents", "evaluate"),
    "extractor": ("bench.strategies.documents", "extract"),
    "router": ("bench.strategies.documents", "decide"),
    "consumer": ("bench.strategies.documents", "consume"),
    "reference": ("bench.strategies", None),
    "metric": ("bench.metrics", None),
    "number": ("bench.metrics_next", None),
    "gate": ("bench.comparison.gates", None),
    "panel": ("bench.reports.panels", None),
    "renderer": ("bench.reports", None),
}
"""Every kind of plug-in. The entry point group of a kind is `bench.<kind>s`."""

SLOT_OF = {kind: kind for kind in ("summarizer", "compactor", "store", "evaluator", "consumer")} | {"router": "routers"}
"""The kinds that fill a slot of a strategy, with the slot's name."""

SETTABLE: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("summarizer", "store", "evaluator", "consumer"), ("form",)),
    "compactor": ("mode", "form"),
    "router": ("at", "loop", "form"),
}
"""The settings that a spec may declare for somebody's own function, unless the function has a parameter of that name: `:mode=per_call`."""

# Slots of one strategy that share a folder share its scan; a name is unique within its kind.
_entries: dict[str, dict[str, Entry]] = {kind: {} for kind in KINDS}


@dataclass(frozen=True)
class Parameter:
    """One setting of a plug-in: its name, type, default (None where `required`)."""

    name: str
    type: Any
    default: Any
    required: bool


@dataclass(frozen=True)
class Entry:
    """One plug-in: its target (a function or a class) and what it declared.

    `own`: somebody's own function, which is not registered; `file` is then its file, where it has one, and `reads` the files that its command line
    names; `method` does the work of a class that does not call it as its slot does. `loaded`: found by its spec, in a file, a module or a command
    line, and not passed as the function it is. `declared` are its settings where the target itself is in another process.
    """

    kind: str
    name: str
    target: Any
    meta: dict[str, Any] = field(default_factory=dict)
    own: bool = False
    loaded: bool = False
    file: OwnFile | None = None
    reads: tuple[str, ...] = ()
    method: str | None = None
    declared: tuple[Parameter, ...] | None = None

    def __reduce__(self) -> Any:
        """A registered plug-in goes to another process as its name, and is looked up there."""
        if _entries[self.kind].get(self.name) is self:
            return entry, (self.kind, self.name)
        return Entry, tuple(getattr(self, item.name) for item in fields(self))

    @functools.cached_property
    def doc(self) -> str:
        """The docstring, dedented; `""` where there is none."""
        return inspect.getdoc(self.target) or ""

    @property
    def source(self) -> str:
        """Return the text after `Source:` in the docstring, up to the next blank line, on one line; `""` where nothing does."""
        return " ".join(self.doc.partition("Source:")[2].partition("\n\n")[0].split())

    @functools.cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The settings: keyword-only parameters, of the function or of the class's constructor; of somebody's own, all with a default too, and
        all that a constructor takes.
        """
        return _parameters(self.target, self.own) if self.declared is None else self.declared


def _parameters(target: Any, own: bool) -> tuple[Parameter, ...]:
    if inspect.isclass(target) and target.__init__ is object.__init__:
        return ()
    try:
        signature = inspect.signature(target)
    except ValueError:  # a function of C code that does not say what it takes
        return ()
    constructed = inspect.isclass(target)
    scope = getattr(target.__init__ if constructed else inspect.unwrap(target), "__globals__", {})
    found = []
    for place, item in enumerate(signature.parameters.values()):
        required = item.default is item.empty
        of_own = constructed or (place > 0 and not required)  # the first is what the function is given
        if item.kind is item.KEYWORD_ONLY or (own and of_own and item.kind is item.POSITIONAL_OR_KEYWORD):
            found.append(Parameter(item.name, _annotation(item, scope), None if required else item.default, required))
    return tuple(found)


def _annotation(item: inspect.Parameter, scope: dict[str, Any]) -> Any:
    """A parameter's declared type, else that of its default. Each alone: another's may exist for the type checker only."""
    if item.annotation is inspect.Parameter.empty:
        return Any if item.default in (None, inspect.Parameter.empty) else type(item.default)
    if not isinstance(item.annotation, str):
        return item.annotation
    try:
        return type_of(item.annotation, scope)
    except NoType:  # reported by `build` when the parameter is set, with its name
        return item.annotation


def register(kind: str, name: str, **meta: Any) -> Callable[[_Target], _Target]:
    """Decorator that adds a function or class under a kind and name. A name taken by something else is an error."""
    if kind not in KINDS:
        raise SpecError(f"register: unknown kind {kind!r}{nearest(kind, KINDS)}")

    def add(target: _Target) -> _Target:
        known = _entries[kind].get(name)
        if known is not None and _origin(known.target) != _origin(target):
            raise SpecError(f"{kind} {name!r} is registered twice: {_origin(known.target)} and {_origin(target)}")
        _entries[kind][name] = Entry(kind, name, target, meta)
        return target

    return add


def _origin(target: Any) -> str:
    return f"{getattr(target, '__module__', '?')}.{getattr(target, '__qualname__', target)}"


@functools.cache
def _scan(package_name: str) -> None:
    package = importlib.import_module(package_name)
    for module in sorted(item.name for item in pkgutil.iter_modules(package.__path__)):
        if not module.startswith("_"):
            load_module(f"{package_name}.{module}")


@functools.cache
def installed(kind: str) -> frozenset[str]:
    """The names of a kind that installed packages register as entry points, which this loads."""
    names = set()
    from importlib.metadata import entry_points  # costs much memory, and each replay forks

    for point in entry_points(group=f"bench.{kind}s"):
        try:
            target = point.load()
        except Exception as error:
            raise SpecError(f"entry point {point.name} of bench.{kind}s cannot be loaded: {one_line(error)}") from error
        if not any(entry.target is target for entry in _entries[kind].values()):
            register(kind, point.name)(target)
        names.add(point.name)
    return frozenset(names)


def packages(kind: str) -> tuple[str, ...]:
    """The packages in which a kind of plug-in is looked for.

    >>> packages("store")
    ('bench.strategies.documents',)
    """
    scanned = KINDS[kind][0]
    return (scanned,) if isinstance(scanned, str) else scanned


def entries(kind: str) -> dict[str, Entry]:
    """Every registered plug-in of a kind, by name, sorted; found on first use."""
    for package in packages(kind):
        _scan(package)
    installed(kind)
    return dict(sorted(_entries[kind].items()))


def entry(kind: str, name: str) -> Entry:
    """The plug-in of this kind and name; SpecError with the nearest names where there is none."""
    if name in _entries[kind]:
        return _entries[kind][name]
    known = entries(kind)
    if name not in known:
        elsewhere = next((other for other in SLOT_OF if kind in SLOT_OF and name in entries(other)), None)
        hint = (
            nearest(name, known) if elsewhere is None else f" — it is a {elsewhere}: write {SLOT_OF[elsewhere]}={name}"
        )
        raise SpecError(f"unknown {kind} {name!r}{hint}")
    return known[name]


@dataclass(frozen=True)
class Plugin:
    """A plug-in with its parameters bound. `start()` gives a fresh callable: state lives for one case only.

    `base` is what relative paths in its parameters start from, `files` the sha256 of each file (by the path as given) that it runs or reads,
    `inner` the plug-ins that it builds itself, by spec.
    """

    spec: Spec
    entry: Entry
    arguments: dict[str, Any]
    code_sha256: str | None = None
    base: Path = Path()
    files: dict[str, str] = field(default_factory=dict)
    inner: dict[str, Plugin] = field(default_factory=dict)

    @property
    def own(self) -> bool:
        """True if somebody's own code runs in it, or in what it builds."""
        return self.entry.own or any(plugin.own for plugin in self.inner.values())

    @property
    def loaded(self) -> bool:
        """True if any of that code was found by its spec."""
        return self.entry.loaded or any(plugin.loaded for plugin in self.inner.values())

    @property
    def threads(self) -> bool:
        """True if a file of that code started threads when it was loaded."""
        here = self.entry.file is not None and self.entry.file.threads
        return here or any(plugin.threads for plugin in self.inner.values())

    def start(self) -> tuple[Any, Callable[..., Any]]:
        """A new instance (or the function itself) and the callable that does its work."""
        method = self.entry.method or KINDS[self.entry.kind][1]
        if not inspect.isclass(self.entry.target):
            return self.entry.target, functools.partial(self.entry.target, **self.arguments)
        outer = _STARTING.set(self)
        try:
            instance: Any = self.entry.target(**self.arguments)
        finally:
            _STARTING.reset(outer)
        return instance, getattr(instance, method) if method else instance

    def attribute(self, name: str, default: Any = None) -> Any:
        """Something declared about the plug-in: at registration, or as an attribute of the function or class."""
        return self.entry.meta.get(name, getattr(self.entry.target, name, default))


_STARTING: ContextVar[Plugin | None] = ContextVar("_STARTING", default=None)
"""The plug-in whose constructor runs: another that it builds starts from the same folder."""


def file_beside(name: str) -> Path:
    """A file that the plug-in being constructed names in a parameter, found from where the paths of its own spec start.

    Its content becomes part of the strategy's signature. Outside a constructor the path is taken as it is. Raises SpecError for a file outside
    the repository of that place (without one, outside the folder): a scenario reads and writes nothing elsewhere.
    """
    starting = _STARTING.get()
    if starting is None:
        return Path(name)
    path = inside(name, starting.base)
    if path.is_file():
        starting.files[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return path


def inside(name: str, base: Path) -> Path:
    """A file that a strategy names, found from a folder. Raises SpecError where it lies, links followed, outside the repository of that folder.

    >>> inside("kept.jsonl", Path("runs")).as_posix()
    'runs/kept.jsonl'
    """
    path = base / name
    if not path.resolve().is_relative_to(repository_of(base)):
        raise SpecError(f"{name}: lies outside {repository_of(base)} — a file that a strategy names lies inside")
    return path


def repository_of(folder: Path) -> Path:
    """The folder that holds `.git`, at or above a folder; itself where none does."""
    here = folder.resolve()
    return next((above for above in (here, *here.parents) if (above / ".git").exists()), here)


def build(kind: str, spec: Spec | str, base: Path | None = None) -> Plugin:
    """A spec resolved and its parameters converted to their declared types. `base` is what relative paths start from: by default this folder,
    or that of the plug-in whose constructor builds this one.

    Raises SpecError naming the unknown name, parameter or wrong type, with the nearest valid ones.
    """
    parsed = parse_spec(spec) if isinstance(spec, str) else spec
    outer = _STARTING.get()
    base = base or (Path() if outer is None else outer.base)
    found = _resolve(kind, parsed, base)
    code = None if found.file is None else found.file.sha256
    known = {parameter.name: parameter for parameter in found.parameters}
    arguments: dict[str, Any] = {}
    for key, raw in parsed.params:
        if key not in known and found.own and key in SETTABLE.get(kind, ()):
            found = replace(found, meta={**found.meta, key: raw})
            continue
        if key not in known:
            takes = nearest(key, known) if known else _takes_none(found.target)
            raise SpecError(f"{kind} {found.name!r} has no parameter {key!r}{takes}")
        value = list(raw) if isinstance(raw, tuple) else raw
        try:
            arguments[key] = msgspec.convert(value, known[key].type, strict=False)
        except msgspec.ValidationError as error:
            raise SpecError(f"{kind} {found.name!r} parameter {key}={value}: {misfit(error)}") from None
        except TypeError:
            unread = f"parameter {key} has an annotation that cannot be read: {known[key].type!r}"
            raise SpecError(f"{kind} {found.name!r} {unread} — use int, float, str, bool or a list of them") from None
    missing = [name for name, item in known.items() if item.required and name not in arguments]
    if missing:
        raise SpecError(f"{kind} {found.name!r} needs parameter {', '.join(missing)}")
    folder = PurePosixPath(parsed.target).parent
    siblings = {} if found.file is None else found.file.files()
    files = {posixpath.normpath(folder / name): sha for name, sha in siblings.items()}
    files |= {name: hashlib.sha256((base / name).read_bytes()).hexdigest() for name in found.reads}
    plugin = Plugin(parsed, found, arguments, code, base, files)
    if inspect.isclass(found.target):
        _construct_once(plugin)
    if outer is not None:
        outer.inner[f"{kind} {parsed}"] = plugin
        outer.files.update({**plugin.files, **({} if code is None else {parsed.target: code})})
    return plugin


def _takes_none(target: Any) -> str:
    try:
        kinds = {item.kind for item in inspect.signature(target).parameters.values()}
    except (TypeError, ValueError):
        kinds = set()
    if inspect.Parameter.VAR_KEYWORD in kinds:
        return " that says its type: it takes any, and what is written becomes a number or a text by its default — give it one"
    return " — it takes none"


def _construct_once(plugin: Plugin) -> None:
    """A constructor that refuses its values is the user's mistake, and is better told before a replay than in it."""
    try:
        plugin.start()
    except (BenchError, KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:
        kind = SpecError if isinstance(error, Exception) else EndedError
        raise kind(f"{plugin.entry.kind} {str(plugin.spec)!r}: {one_line(error) or type(error).__name__}") from error


def _resolve(kind: str, spec: Spec, base: Path) -> Entry:
    if spec.target == TARGET:
        require_child()
        made, named = process_class(spec.attribute or "", base, KINDS[kind][1] or "ask")
        return Entry(kind, f"{TARGET}:{spec.attribute}", made, own=True, loaded=True, reads=tuple(named))
    if not spec.target.endswith(".py") and spec.attribute is None:
        module, _, function = spec.target.rpartition(".")
        if module and spec.target not in entries(kind) and (base / f"{module}.py").is_file():
            raise SpecError(f"{kind} {spec.target!r}: a function follows its file — write {module}.py:{function}")
        return entry(kind, spec.target)
    if "." not in spec.target and spec.target in entries(kind):  # a dotted one may be a module too
        what = f"{kind} {spec.target!r}: {spec.attribute!r} has no value"
        raise SpecError(f"{what} — write {spec.target}:{spec.attribute}=VALUE")
    target, file = loaded(spec, base)
    owner, method = target if isinstance(target, tuple) else (target, None)
    name = f"{spec.target}:{spec.attribute}"
    method = method or method_of(owner, KINDS[kind][1], name)
    return Entry(kind, name, owner, own=True, loaded=True, file=file, method=method)
