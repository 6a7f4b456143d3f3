"""Strategies that load somebody else's code, described by the child process in which they run."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from ..model.errors import BenchError, EndedError, SpecError, one_line
from ..plugins.apart import Apart, Limits, Link, NoAnswer
from ..plugins.own_code import NeedsChild, compile_from_source, forget_imported, import_from, is_installed, not_here
from ..plugins.registry import KINDS, Entry, Parameter, Plugin, entries
from ..plugins.spec import parse_spec, parse_value, split_top
from ..plugins.touched import looked_at, state_of, taken, watch
from . import SLOTS, Strategy, strategy_of

_HEAD = re.compile(rf"(?:[\w-]+\s*=\s*)??(?:(?:{'|'.join(SLOTS)})\s*=)?(?P<spec>.*)", re.DOTALL)


@dataclass(frozen=True)
class Place:
    """A place where a strategy's files are. `base` is the folder that paths start from. With `top`, the top of a repository, `then` is a folder that
    holds its files as they were at a revision: there everything is looked for.
    """

    base: Path | None = None
    top: Path | None = None
    then: Path | None = None

    def of_then(self, path: str) -> str:
        """A path, or where it lies inside the repository its place in the folder of the revision."""
        if self.top is None or self.then is None:
            return path
        here = Path(path).resolve()
        if not here.is_relative_to(self.top) or here.is_relative_to(self.then) or is_installed(str(here / "x")):
            return path
        there = self.then / here.relative_to(self.top)
        # an environment that is kept in the repository, and not in its history
        untracked = not {"site-packages", "dist-packages"}.isdisjoint(here.parts) and not there.exists()
        return path if untracked else str(there)

    def settle(self) -> None:
        """Set the environment of the child: the one place where this is done."""
        compile_from_source()
        watch()
        for name in self.borrowed_modules():
            del sys.modules[name]
        if self.then is None:
            return
        import_from(self.of_then)
        here = self.of_then(os.getcwd())
        sys.path[:] = [self.of_then(path or ".") for path in sys.path]
        if "PYTHONPATH" in os.environ:
            os.environ["PYTHONPATH"] = os.pathsep.join(map(self.of_then, os.environ["PYTHONPATH"].split(os.pathsep)))
        if Path(here).is_dir():
            os.chdir(here)

    def borrowed_modules(self) -> list[str]:
        """The modules that come from the repository as it is now, and not from the revision."""
        if self.top is None:
            return []
        files = {name: file for name, module in sys.modules.items() if (file := getattr(module, "__file__", None))}
        folders = {folder: os.path.realpath(folder) for folder in set(map(os.path.dirname, files.values()))}
        near = {folder for folder, real in folders.items() if Path(real).is_relative_to(self.top)}
        found = {name: file for name, file in files.items() if os.path.dirname(file) in near or os.path.islink(file)}
        return [name for name, file in found.items() if name != "__main__" and self.of_then(file) != file]

    def require_then(self) -> None:
        """Raise SpecError where code of the revision used what is not of the revision."""
        if self.top is None or self.then is None:
            return
        borrowed = [str(getattr(sys.modules[name], "__file__", name)) for name in self.borrowed_modules()]
        borrowed += [path for path in taken() if self.of_then(path) != path]
        for path in looked_at():
            there = self.of_then(path)
            end = os.sep if path.endswith(os.sep) else ""
            borrowed += [path] if there != path and state_of(there + end) != state_of(path) else []
        named = sorted({Path(path).resolve().relative_to(self.top).as_posix() for path in borrowed})
        if named:
            more = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
            what = f"a file of this repository is not taken from the revision: {', '.join(named[:NAMED])}{more}"
            raise SpecError(f"{what} — name it by a path from the file that uses it, or compare with a baseline")

    def require_installed(self, strategy: Strategy) -> None:
        """Raise SpecError for a plug-in that is installed from the repository as it is now."""
        for plugin in strategy.everything:
            file = getattr(sys.modules.get(getattr(plugin.entry.target, "__module__", "")), "__file__", None)
            code = getattr(inspect.unwrap(plugin.entry.target), "__code__", None) if plugin.entry.target else None
            for path in filter(None, (file, getattr(code, "co_filename", None))):
                if self.of_then(path) != path:
                    what = f"{plugin.spec} is installed from this repository as it is now"
                    raise SpecError(f"{what} — name it by its file, `path.py:function`")


NAMED = 3
"""The most files that one error names."""


class _PluginSeen(msgspec.Struct, frozen=True):
    """One plug-in of a strategy as its child describes it."""

    kind: str
    name: str
    spec: str
    own: bool
    loaded: bool
    parameters: tuple[str, ...]
    files: dict[str, str]
    sha256: str | None


class _Seen(msgspec.Struct, frozen=True):
    """A strategy as its child describes it, or what is wrong with it; `ended`: it would end a process that loads it."""

    name: str = ""
    plugins: dict[str, tuple[_PluginSeen, ...]] = {}
    threads: bool = False
    error: str = ""
    ended: bool = False


@dataclass(frozen=True)
class _Loaded:
    """A strategy in its child."""

    child: Apart
    item: Any
    name: str | None
    place: Place
    threads: bool = False

    @property
    def request(self) -> Any:
        return self.item, self.name, self.place

    def late(self) -> str:
        told = self.child.limits.late
        why = "threads that its file starts at import do not run in its process — start them inside a call"
        return f"{told.partition(' — ')[0]}: {why}" if self.threads else told

    def again(self, name: str, slots: Mapping[str, Any]) -> Strategy:
        return described(self.child, slots, name, self.place)


def put_together(
    given: Sequence[tuple[str | None, Any]], base: Path | None, limits: Limits, place: Place | None = None
) -> list[Strategy]:
    """The strategies of names (None: what is given has its own) and what `strategy_of` takes. One that a spec loads from a file, a module or a
    command gets a child process, which those of the same files share; one that ends it, or hangs, is broken.
    """
    place = place or Place(base)
    found: list[Strategy] = []
    children: dict[tuple[str, ...], Apart] = {}
    for name, item in given:
        try:
            with not_here():
                found.append(strategy_of(item, name, place.base))
                continue
        except NeedsChild:
            for kind in KINDS:  # found once, and not in each child
                if kind not in ("panel", "renderer", "gate", "metric"):
                    entries(kind)
        key = code_of(item, place.base or Path())
        if key not in children:
            children[key] = Apart(functools.partial(_prepare, item, name, place), limits)
        try:
            found.append(described(children[key], item, name, place))
        except NoAnswer as why:
            told = str(why) if why.late or not why.ended else f"{why} — code that is imported must not exit"
            found.append(_broken(name, item, f"it cannot be loaded: {told}"))
            children[key].stop()
            del children[key]
        except EndedError as error:
            found.append(_broken(name, item, f"it cannot be loaded: {error}"))
    return found


def code_of(item: Any, base: Path) -> tuple[str, ...]:
    """The files (resolved), modules and command lines that a strategy loads code from, sorted: one child for each.

    >>> code_of({"summarizer": '"one b/mine.py":cut:limit=3', "store": "truncate"}, Path("/r"))
    ('/r/one b/mine.py',)
    >>> code_of("a=summarizer=x=1/m.py:f", Path("/r")), code_of('a=compactor=summarize_old:writer="w.py:f"', Path("/r"))
    (('/r/x=1/m.py',), ('/r/w.py',))
    """
    try:
        return tuple(sorted({target for text in _specs(item) for target in _targets(text, base)})) or (_written(item),)
    except SpecError:
        return (_written(item),)


def _specs(item: Any) -> Iterator[str]:
    """The specs that a strategy is written with."""
    if isinstance(item, Mapping):
        item = list(item.values())
    if isinstance(item, list | tuple):
        for part in item:
            yield from _specs(part) if isinstance(part, list | tuple) else [part] if isinstance(part, str) else []
    elif isinstance(item, str):
        for part in split_top(item, "+"):
            head = _HEAD.fullmatch(part.strip())
            text = (head["spec"] if head else part).strip()
            found = parse_value(text, item) if text.startswith("[") else text
            yield from [found] if isinstance(found, str) else found


def _targets(text: str, base: Path) -> Iterator[str]:
    spec = parse_spec(text)
    if spec.attribute is not None:
        yield str((base / spec.target).resolve()) if spec.target.endswith(".py") else f"{spec.target}:{spec.attribute}"
    for value in (part for _, raw in spec.params for part in ([raw] if isinstance(raw, str) else raw)):
        if ":" in value:
            with contextlib.suppress(SpecError):
                yield from _targets(value, base)


def described(child: Apart, item: Any, name: str | None, place: Place) -> Strategy:
    """A strategy as its child describes it. Raises SpecError and EndedError as `strategy_of` does, and NoAnswer."""
    try:
        seen = msgspec.json.decode(child.ask(_describe, item, name, place), type=_Seen)
        if seen.error:
            raise (EndedError if seen.ended else SpecError)(seen.error)
        plugins = {slot: tuple(_plugin(one, place.base) for one in several) for slot, several in seen.plugins.items()}
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise NoAnswer("it left its process unable to answer") from error
    named = name or seen.name  # by another name it would slip past its gates
    return Strategy(named, plugins, apart=_Loaded(child, item, name, place, seen.threads))


def _plugin(seen: _PluginSeen, base: Path | None) -> Plugin:
    declared = tuple(Parameter(name, Any, None, False) for name in seen.parameters)
    entry = Entry(seen.kind, seen.name, None, own=seen.own, loaded=seen.loaded, declared=declared)
    return Plugin(parse_spec(seen.spec), entry, {}, seen.sha256, base or Path(), seen.files)


def _written(item: Any) -> str:
    """A strategy as one text; `""` for a function or a Strategy, which are loaded already."""
    if isinstance(item, str):
        return item
    if isinstance(item, Mapping):
        return "+".join(f"{slot}={_written(spec)}" for slot, spec in item.items())
    return f"[{','.join(map(_written, item))}]" if isinstance(item, list | tuple) else ""


def _broken(name: str | None, item: Any, problem: str) -> Strategy:
    text = _written(item)
    if name is None:
        name, _, text = text.partition("=")
    return Strategy(name, broken=problem, written=text.removeprefix(f"{name}="))


# ---------------------------------------------------------------- in the child


Ready = tuple[Any, Strategy]
"""A strategy that a child has made already, behind what it is made of."""


def _prepare(item: Any, name: str | None, place: Place) -> Ready | None:
    """Import what a strategy needs, and make it. An error is raised again where it can be told."""
    place.settle()
    if not _holds_code(item):
        forget_imported()
    here = os.getcwd()
    try:
        return (item, name), strategy_of(item, name, place.base)
    except BaseException:
        return None
    finally:
        os.chdir(here)


def _holds_code(item: Any) -> bool:
    """True if a function is handed over with the specs: it is found by its module, which stays as it is."""
    several = item.values() if isinstance(item, Mapping) else item if isinstance(item, list | tuple) else ()
    return any(map(_holds_code, several)) if several else not isinstance(item, str | Mapping | list | tuple)


def made(ready: Ready | None, item: Any, name: str | None, place: Place) -> Strategy:
    """In a child: the strategy itself."""
    return ready[1] if ready is not None and ready[0] == (item, name) else strategy_of(item, name, place.base)


def _seen(plugin: Plugin) -> _PluginSeen:
    entry, settings = plugin.entry, tuple(item.name for item in plugin.entry.parameters)
    of_code = plugin.own, plugin.loaded, settings, plugin.files, plugin.code_sha256
    return _PluginSeen(entry.kind, entry.name, str(plugin.spec), *of_code)


def _describe(link: Link, ready: Ready | None, item: Any, name: str | None, place: Place) -> bytes:
    try:
        strategy = made(ready, item, name, place)
        place.require_then()
        place.require_installed(strategy)
        plugins = {slot: tuple(map(_seen, several)) for slot, several in strategy.plugins.items()}
        seen = _Seen(strategy.name, plugins, any(plugin.threads for plugin in strategy.everything))
    except BenchError as error:
        seen = _Seen(error=one_line(error), ended=isinstance(error, EndedError))
    return msgspec.json.encode(seen)
