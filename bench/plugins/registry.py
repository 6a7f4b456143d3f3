"""The registry of plug-ins by kind and name, and `build`, which makes a plug-in of a spec.

A file in a folder of plug-ins with one `@register` adds one; nothing else is edited. A module that
cannot be imported is an error, never skipped. User code is not registered, but named by its path.
"""

from __future__ import annotations

import contextlib
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
from .loader import load_module, load_target, spec_error_for
from .spec import COMMAND, RawValue, Spec, Sweep, format_value, parse_spec

_Target = TypeVar("_Target")
_DOCUMENTS, _POLICIES = "bench.strategies.documents", "bench.strategies.policies"


class Kind(NamedTuple):
    """A kind of plug-in: the packages with its files, and the method that does a class's work."""

    packages: tuple[str, ...]
    method: str | None = None


KINDS: dict[str, Kind] = {
    "reader": Kind(("bench.traces.formats",)),
    "summarizer": Kind((_DOCUMENTS, _POLICIES), "summarize"),
    "compactor": Kind((_DOCUMENTS, _POLICIES), "compact"),
    "writer": Kind((_DOCUMENTS,), "write"),
    "store": Kind((_DOCUMENTS,), "put"),
    "evaluator": Kind((_DOCUMENTS,), "evaluate"),
    "router": Kind((_DOCUMENTS,), "decide"),
    "consumer": Kind((_DOCUMENTS,), "consume"),
    "number": Kind(("bench.metrics",)),
}
"""Every kind of plug-in."""

OBJECT = "object"
"""The kind of any object in a file, such as a graph; it is not registered, but has a path."""

_SLOTS = ("summarizer", "compactor", "store", "evaluator", "router", "consumer")
ATTRIBUTES = {"compactor": ("mode",), "router": ("at", "loop")}
"""The attributes that a replay asks for, by kind; a spec may declare them for user code."""

_entries: dict[str, dict[str, Plugin]] = {kind: {} for kind in KINDS}
_NO_SPEC = Spec("")


class OfKind(msgspec.Struct, frozen=True):
    """Marks a setting that names another plug-in: `Annotated[Any, OfKind("writer")]`."""

    kind: str


@dataclass(frozen=True)
class Plugin:
    """One plug-in: a function or class (None if it is in another process), and its declarations.

    The registered one has no `arguments`; `build` adds those of a spec, which may be plug-ins too.
    `is_user` is True for a user's function, which is not registered. `method` is the method of a
    class to call, if the spec names another than that of its slot.
    """

    kind: str
    name: str
    target: Any
    meta: dict[str, Any] = field(default_factory=dict)
    is_user: bool = False
    method: str | None = None
    spec: Spec = _NO_SPEC
    arguments: dict[str, Any] = field(default_factory=dict)

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
        """The settings by name, with types: the keyword-only parameters of the function or
        constructor. In user code also a function's other parameters with a default except the
        first, and all parameters of a constructor."""
        is_class = inspect.isclass(self.target)
        settings = {}
        for place, item in enumerate(declared_parameters(self.target) or ()):
            is_setting = item.kind is item.KEYWORD_ONLY
            if self.is_user and item.kind is item.POSITIONAL_OR_KEYWORD:
                is_setting = is_class or (place > 0 and item.default is not item.empty)
            if is_setting:
                settings[item.name] = item.replace(annotation=_type_of(item))
        return settings

    @property
    def has_user_code(self) -> bool:
        """True if it is a user's function, or a setting names one."""
        inner = (value for value in self.arguments.values() if isinstance(value, Plugin))
        return self.is_user or any(plugin.has_user_code for plugin in inner)

    def start(self) -> tuple[Any, Callable[..., Any]]:
        """A new instance (or the function itself) and the callable that does its work.

        An instance is called itself if it has no method of the slot's name. Raises SpecError if it
        cannot be called either.
        """
        if not isinstance(self.target, type):
            return self.target, functools.partial(self.target, **self.arguments)
        instance: Any = self.target(**self.arguments)
        method = self.method or KINDS[self.kind].method
        if method is None or (not hasattr(instance, method) and callable(instance)):
            return instance, instance
        if not hasattr(instance, method):
            members = vars(self.target).items()
            names = [name for name, value in members if callable(value) and name[0] != "_"]
            hint = f"name the one that is meant: {self.name}.{names[0]}" if names else "give it one"
            raise SpecError(f"{self.name!r}: the class has no method {method!r} — {hint}")
        return instance, getattr(instance, method)

    def attribute(self, name: str, default: Any = None) -> Any:
        """A value that was declared at registration or in the spec, or that is an attribute of the
        function or class."""
        return self.meta.get(name, getattr(self.target, name, default))

    @property
    def declared(self) -> dict[str, Any]:
        """The declared ones among the attributes that a replay asks for."""
        values = {name: self.attribute(name) for name in ATTRIBUTES.get(self.kind, ())}
        return {name: value for name, value in values.items() if value is not None}


def _type_of(item: inspect.Parameter) -> Any:
    """The type of a setting: its annotation if that could be evaluated, else its default's type."""
    if item.annotation is not item.empty and not isinstance(item.annotation, str):
        return item.annotation
    return Any if item.default is item.empty or item.default is None else type(item.default)


def declared_parameters(code: Any) -> list[inspect.Parameter] | None:
    """The parameters of a callable; None for C code without a signature. Their annotations are
    evaluated, unless that fails for one, such as a name imported under TYPE_CHECKING."""
    if inspect.isclass(code) and code.__init__ is object.__init__:
        return []
    for is_evaluated in (True, False):
        with contextlib.suppress(Exception):
            return [*inspect.signature(code, eval_str=is_evaluated).parameters.values()]
    return None


# ---------------------------------------------------------------- registered plug-ins


def register(kind: str, name: str, **meta: Any) -> Callable[[_Target], _Target]:
    """A decorator that registers a function or class under a kind and name.

    Raises SpecError for an unknown kind, and for a name that something else has.
    """
    if kind not in KINDS:
        raise SpecError(f"register: unknown kind {kind!r}{nearest(kind, KINDS)}")

    def add(target: _Target) -> _Target:
        """Register a function or class, and return it."""
        known = _entries[kind].get(name)
        if known is not None and _origin(known.target) != _origin(target):
            both = f"{_origin(known.target)} and {_origin(target)}"
            raise SpecError(f"{kind} {name!r} is registered twice: {both}")
        _entries[kind][name] = Plugin(kind, name, target, meta, spec=Spec(name))
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


def entries(kind: str) -> dict[str, Plugin]:
    """All registered plug-ins of a kind by name, sorted. The first call imports their modules."""
    for package in KINDS[kind].packages:
        _scan(package)
    return dict(sorted(_entries[kind].items()))


def entry(kind: str, name: str) -> Plugin:
    """The plug-in with a kind and name. Raises SpecError for an unknown one, with the nearest."""
    known = _entries[kind] if name in _entries[kind] else entries(kind)
    if name not in known:
        hint = nearest(name, known)
        for other in _SLOTS if kind in _SLOTS else ():
            if name in entries(other):
                slot = "routers" if other == "router" else other
                hint = f" — it is a {other}: write {slot}={name}"
                break
        raise SpecError(f"unknown {kind} {name!r}{hint}")
    return known[name]


# ---------------------------------------------------------------- building


def build(kind: str, spec: Spec | str, base: Path | None = None) -> Plugin:
    """The plug-in of a spec, with its parameters converted to their declared types.

    Relative paths start from `base`, by default this folder. Raises SpecError for an unknown name,
    a parameter or a wrong type, with the nearest valid ones.
    """
    parsed, base = parse_spec(spec) if isinstance(spec, str) else spec, base or Path()
    if kind == OBJECT:
        value, _ = load_target(parsed, base, callables=False)
        return Plugin(kind, str(parsed), value, is_user=True, spec=parsed)
    known = _resolve(kind, parsed, base)
    meta, params = dict(known.meta), list(parsed.params)
    if known.is_user:  # a declaration of the function itself, such as its form, is not a setting
        declared = {"form", *ATTRIBUTES.get(kind, ())} - known.parameters.keys()
        meta |= {key: raw for key, raw in params if key in declared}
        params = [(key, raw) for key, raw in params if key not in declared]
    arguments = _arguments(known, params, base)
    plugin = replace(known, meta=meta, spec=parsed, arguments=arguments)
    if inspect.isclass(known.target):
        _require_constructed(plugin)
    return plugin


def _arguments(
    plugin: Plugin, params: Sequence[tuple[str, RawValue]], base: Path
) -> dict[str, Any]:
    """The parameters of a spec as arguments, converted to their declared types.

    Raises SpecError for an unknown, wrong or missing parameter.
    """
    name, known = f"{plugin.kind} {plugin.name!r}", plugin.parameters
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
    """The value of a setting, converted to the type `wanted`, or the plug-in that it names.

    Raises SpecError that starts with `what`.
    """
    if isinstance(raw, Sweep):
        problem = f"{format_value(raw)} is several settings, and one is asked for"
        raise SpecError(f"{what}: {problem} — quote a value that is meant as it is")
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
    """The kind of plug-in that a setting of a type names; `""` for a type of plain values."""
    marks = getattr(wanted, "__metadata__", ())
    return next((mark.kind for mark in marks if isinstance(mark, OfKind)), "")


def _require_constructed(plugin: Plugin) -> None:
    """Raise SpecError if a constructor refuses its arguments, before any replay begins."""
    what = f"{plugin.kind} {str(plugin.spec)!r}"
    with spec_error_for(lambda error: f"{what}: {one_line(error) or type(error).__name__}"):
        plugin.start()


# ---------------------------------------------------------------- user code


def user_code(kind: str, spec: Spec | str, base: Path) -> str:
    """The file (resolved), module or command line of user code that a spec or one of its settings
    names; `""` for none. Nothing is loaded. Strategies with the same one share a child process.
    """
    parsed = parse_spec(spec) if isinstance(spec, str) else spec
    if parsed.target == COMMAND:
        return str(parsed)
    if not _is_registered(kind, parsed):
        is_file = parsed.target.endswith(".py")
        return str((base / parsed.target).resolve()) if is_file else parsed.target
    known = entry(kind, parsed.target).parameters
    for key, raw in parsed.params:
        inner_kind = _kind_of(known[key].annotation) if key in known else ""
        if inner_kind and (code := user_code(inner_kind, str(raw), base)):
            return code
    return ""


def _is_registered(kind: str, spec: Spec) -> bool:
    """True if a spec names a registered plug-in, False if it names code in a file or module."""
    if kind == OBJECT or spec.target.endswith(".py"):
        return False
    # a dotted name may be a module too
    return spec.attribute is None or ("." not in spec.target and spec.target in entries(kind))


def _resolve(kind: str, spec: Spec, base: Path) -> Plugin:
    """The plug-in that a spec names, without arguments."""
    name = f"{spec.target}:{spec.attribute}"
    if spec.target == COMMAND:
        from .command import program_class  # imported only here, since it makes each fork larger

        program = program_class(spec.attribute or "", base)
        return Plugin(kind, name, program, is_user=True, method="ask")
    if not _is_registered(kind, spec):
        target, method = load_target(spec, base)
        return Plugin(kind, name, target, is_user=True, method=method)
    if spec.attribute is not None:
        what = f"{kind} {spec.target!r}: {spec.attribute!r} has no value"
        raise SpecError(f"{what} — write {spec.target}:{spec.attribute}=VALUE")
    return entry(kind, spec.target)
