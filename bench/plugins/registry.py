"""The registry: every plug-in by kind and name, found by decorator and folder scan, else by path.

One new file with one `@register` adds one thing; nothing else is edited. A module that fails to
import is an error, never skipped.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from ..model.errors import SpecError, misfit, nearest, one_line
from .loader import load_module, load_target, method_of, require_child, spec_error_for
from .spec import COMMAND, RawValue, Spec, parse_spec

_Target = TypeVar("_Target")
_DOCUMENTS, _POLICIES = "bench.strategies.documents", "bench.strategies.policies"


class Kind(NamedTuple):
    """A kind of plug-in: the packages to scan for it, and the method that its classes have."""

    packages: tuple[str, ...]
    method: str | None = None


KINDS: dict[str, Kind] = {
    "reader": Kind(("bench.traces.formats",)),
    "summarizer": Kind((_DOCUMENTS, _POLICIES), "summarize"),
    "compactor": Kind((_DOCUMENTS, _POLICIES), "compact"),
    "writer": Kind((_DOCUMENTS,), "write"),
    "store": Kind((_DOCUMENTS,), "put"),
    "evaluator": Kind((_DOCUMENTS,), "evaluate"),
    "extractor": Kind((_DOCUMENTS,), "extract"),
    "router": Kind((_DOCUMENTS,), "decide"),
    "consumer": Kind((_DOCUMENTS,), "consume"),
    "number": Kind(("bench.metrics",)),
}
"""Every kind of plug-in."""

OBJECT = "object"
"""The kind of any object in a file, such as a graph; it is only found by path."""

_SLOTS = ("summarizer", "compactor", "store", "evaluator", "router", "consumer")
ATTRIBUTES = {"compactor": ("mode",), "router": ("at", "loop")}
"""The attributes, by kind, that a replay asks for; a spec may declare them for a user's
function."""

_entries: dict[str, dict[str, Entry]] = {kind: {} for kind in KINDS}


@dataclass(frozen=True)
class OfKind:
    """Marks a setting that names another plug-in: `Annotated[Any, OfKind("writer")]`."""

    kind: str


@dataclass(frozen=True)
class Entry:
    """One plug-in: a function or class (None in another process), and its declarations.

    `user_code` is True for a user's function, which is not registered. `method` is the method to
    call of a class that does not have its slot's method.
    """

    kind: str
    name: str
    target: Any
    meta: dict[str, Any] = field(default_factory=dict)
    user_code: bool = False
    method: str | None = None

    @property
    def doc(self) -> str:
        """The docstring, dedented; `""` where there is none."""
        return inspect.getdoc(self.target) or ""

    @property
    def source(self) -> str:
        """The text after `Source:` in the docstring, up to the next blank line; `""` for none."""
        _, _, after = self.doc.partition("Source:")
        paragraph, _, _ = after.partition("\n\n")
        return " ".join(paragraph.split())

    @functools.cached_property
    def parameters(self) -> dict[str, inspect.Parameter]:
        """The settings by name, typed: keyword-only parameters of the function or constructor.

        For user code also parameters with a default, and all parameters of a constructor.
        """
        is_class = inspect.isclass(self.target)
        settings = {}
        for place, item in enumerate(declared_parameters(self.target) or ()):
            is_setting = item.kind is item.KEYWORD_ONLY
            if self.user_code and item.kind is item.POSITIONAL_OR_KEYWORD:
                is_setting = is_class or (place > 0 and item.default is not item.empty)
            if is_setting:
                settings[item.name] = item.replace(annotation=_type_of(item))
        return settings


def _type_of(item: inspect.Parameter) -> Any:
    """The type of a setting: its annotation if that is known here, else the type of its default."""
    if item.annotation is not item.empty and not isinstance(item.annotation, str):
        return item.annotation
    return Any if item.default is item.empty or item.default is None else type(item.default)


def declared_parameters(code: Any) -> list[inspect.Parameter] | None:
    """The parameters of a callable, with evaluated annotations; None for C code without a
    signature."""
    if inspect.isclass(code) and code.__init__ is object.__init__:
        return []
    try:
        parameters = inspect.signature(code).parameters.values()
    except (TypeError, ValueError):
        return None
    while isinstance(code, functools.partial) or hasattr(code, "__wrapped__"):
        code = code.func if isinstance(code, functools.partial) else code.__wrapped__
    if inspect.isclass(code):
        code = code.__init__
    elif not hasattr(code, "__globals__"):  # an object that is called
        code = type(code).__call__
    scope = getattr(code, "__globals__", {})
    return [item.replace(annotation=evaluated(item.annotation, scope)) for item in parameters]


def evaluated(annotation: Any, scope: dict[str, Any]) -> Any:
    """The type of an annotation; a quoted annotation that cannot be evaluated stays a text.

    >>> evaluated("tuple[int, ...] | None", {}), evaluated("Nothing", {})
    (tuple[int, ...] | None, 'Nothing')
    """
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, dict(scope))
    except Exception:  # a name that exists for the type checker only
        return annotation


# ---------------------------------------------------------------- what is registered


def register(kind: str, name: str, **meta: Any) -> Callable[[_Target], _Target]:
    """Decorator that adds a function or class under a kind and name.

    A name taken by something else is an error.
    """
    if kind not in KINDS:
        raise SpecError(f"register: unknown kind {kind!r}{nearest(kind, KINDS)}")

    def add(target: _Target) -> _Target:
        """Register a function or class, and return it."""
        known = _entries[kind].get(name)
        if known is not None and _origin(known.target) != _origin(target):
            both = f"{_origin(known.target)} and {_origin(target)}"
            raise SpecError(f"{kind} {name!r} is registered twice: {both}")
        _entries[kind][name] = Entry(kind, name, target, meta)
        return target

    return add


def _origin(target: Any) -> str:
    return f"{target.__module__}.{target.__qualname__}"


@functools.cache
def _scan(package_name: str) -> None:
    """Import every module of a folder of plug-ins."""
    package = importlib.import_module(package_name)
    for module in sorted(item.name for item in pkgutil.iter_modules(package.__path__)):
        if not module.startswith("_"):
            load_module(f"{package_name}.{module}")


def entries(kind: str) -> dict[str, Entry]:
    """Every registered plug-in of a kind, by name, sorted; the packages are scanned on first
    use."""
    for package in KINDS[kind].packages:
        _scan(package)
    return dict(sorted(_entries[kind].items()))


def entry(kind: str, name: str) -> Entry:
    """The plug-in with a kind and name. Raises SpecError with the nearest names for an unknown
    one."""
    known = _entries[kind] if name in _entries[kind] else entries(kind)
    if name not in known:
        other = next((slot for slot in _SLOTS if kind in _SLOTS and name in entries(slot)), "")
        slot = "routers" if other == "router" else other
        meant = f" — it is a {other}: write {slot}={name}" if other else nearest(name, known)
        raise SpecError(f"unknown {kind} {name!r}{meant}")
    return known[name]


# ---------------------------------------------------------------- building


@dataclass(frozen=True)
class Plugin:
    """A plug-in with its arguments, which may be plug-ins themselves.

    `start()` returns a fresh callable, since state lasts for one run only.
    """

    spec: Spec
    entry: Entry
    arguments: dict[str, Any]

    @property
    def name(self) -> str:
        """The name of its entry."""
        return self.entry.name

    @property
    def user_code(self) -> bool:
        """True if it is user code, or a setting names a plug-in that is."""
        inner = (value for value in self.arguments.values() if isinstance(value, Plugin))
        return self.entry.user_code or any(plugin.user_code for plugin in inner)

    @property
    def shipped(self) -> bool:
        """True if all of its code is the bench's."""
        module = str(getattr(self.entry.target, "__module__", ""))
        return module.startswith(f"{__name__.partition('.')[0]}.") and not self.user_code

    def start(self) -> tuple[Any, Callable[..., Any]]:
        """A new instance (or the function itself) and the callable that does its work."""
        target = self.entry.target
        if not inspect.isclass(target):
            return target, functools.partial(target, **self.arguments)
        instance: Any = target(**self.arguments)
        method = self.entry.method or KINDS[self.entry.kind].method
        return instance, getattr(instance, method) if method else instance

    def attribute(self, name: str, default: Any = None) -> Any:
        """The value declared at registration, or as an attribute of the function or class."""
        return self.entry.meta.get(name, getattr(self.entry.target, name, default))


def build(kind: str, spec: Spec | str, base: Path | None = None) -> Plugin:
    """The plug-in of a spec, with its parameters converted to their declared types.

    Relative paths start from `base`, by default this folder. Raises SpecError for an unknown name,
    a parameter or a wrong type, with the nearest valid ones.
    """
    parsed, base = parse_spec(spec) if isinstance(spec, str) else spec, base or Path()
    if kind == OBJECT:
        value, _ = load_target(parsed, base, callables=False)
        return Plugin(parsed, Entry(kind, str(parsed), value, user_code=True), {})
    target = _resolve(kind, parsed, base)
    meta, params = dict(target.meta), list(parsed.params)
    if target.user_code:  # a declaration of the function itself, such as its form, is not a setting
        declared = {"form", *ATTRIBUTES.get(kind, ())} - target.parameters.keys()
        meta |= {key: raw for key, raw in params if key in declared}
        params = [(key, raw) for key, raw in params if key not in declared]
    plugin = Plugin(parsed, replace(target, meta=meta), _arguments(target, params, base))
    if inspect.isclass(target.target):
        _require_constructed(plugin)
    return plugin


def _arguments(target: Entry, params: Sequence[tuple[str, RawValue]], base: Path) -> dict[str, Any]:
    """The parameters of a spec as arguments, converted to their declared types.

    Raises SpecError for an unknown, wrong or missing parameter.
    """
    name, known = f"{target.kind} {target.name!r}", target.parameters
    arguments: dict[str, Any] = {}
    for key, raw in params:
        if key not in known:
            takes = nearest(key, known) if known else " — it takes none"
            raise SpecError(f"{name} has no parameter {key!r}{takes}")
        arguments[key] = _converted(f"{name} parameter {key}", raw, known[key].annotation, base)
    required = (item.name for item in known.values() if item.default is item.empty)
    missing = [name for name in required if name not in arguments]
    if missing:
        raise SpecError(f"{name} needs parameter {', '.join(missing)}")
    return arguments


def _converted(what: str, raw: RawValue, wanted: Any, base: Path) -> Any:
    """The value of a setting, converted to its declared type, or the plug-in that it names."""
    if kind := _kind_of(wanted):
        return build(kind, str(raw), base)
    value = list(raw) if isinstance(raw, tuple) else raw
    try:
        return msgspec.convert(value, wanted, strict=False)
    except msgspec.ValidationError as error:
        raise SpecError(f"{what}={value}: {misfit(error)}") from None
    except TypeError:
        hint = "use int, float, str, bool or a list of them"
        problem = f"an annotation that cannot be read: {wanted!r}"
        raise SpecError(f"{what} has {problem} — {hint}") from None


def _kind_of(wanted: Any) -> str:
    """The kind of plug-in that a setting of a type names; `""` for a plain value."""
    marks = getattr(wanted, "__metadata__", ())
    return next((mark.kind for mark in marks if isinstance(mark, OfKind)), "")


def _require_constructed(plugin: Plugin) -> None:
    """Raise SpecError if a constructor refuses its values, before any replay begins."""
    what = f"{plugin.entry.kind} {str(plugin.spec)!r}"
    with spec_error_for(lambda error: f"{what}: {one_line(error) or type(error).__name__}"):
        plugin.start()


def _resolve(kind: str, spec: Spec, base: Path) -> Entry:
    """The entry of a spec, which names a command line, a registered plug-in, or a name in a file or
    module."""
    method, name = KINDS[kind].method, f"{spec.target}:{spec.attribute}"
    if spec.target == COMMAND:
        require_child(str(spec))
        from .command import program_class  # what starts programs makes each fork larger

        program = program_class(spec.attribute or "", base, method or "ask")
        return Entry(kind, name, program, user_code=True)
    if spec.attribute is None and not spec.target.endswith(".py"):
        return entry(kind, spec.target)
    if "." not in spec.target and spec.target in entries(kind):  # a dotted one may be a module too
        what = f"{kind} {spec.target!r}: {spec.attribute!r} has no value"
        raise SpecError(f"{what} — write {spec.target}:{spec.attribute}=VALUE")
    target, named = load_target(spec, base)
    method_name = named or method_of(target, method, name)
    return Entry(kind, name, target, user_code=True, method=method_name)
