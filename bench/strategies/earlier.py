"""A scenario's strategies as they were at a git revision: as declared there, with all files of there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..files.git import is_unpacked, outermost_of, resolve, unpack
from ..model.errors import BenchError, EndedError, ScenarioError, SpecError
from ..plugins.apart import Limits
from ..plugins.command import TARGET
from ..plugins.registry import Plugin
from ..plugins.spec import parse_spec
from . import Strategy
from .loading import Place, put_together
from .sweeps import Declared, at_settings

_Item = tuple[str, Mapping[str, Any]]

Written = Mapping[str, Mapping[str, Any]]
"""The strategies of a scenario as written: by name, slot → spec."""


@dataclass(frozen=True)
class Earlier:
    """A revision's strategies by the name of their present selves, and why others have no earlier self, by name too. `place` is where its files lie,
    its `base` holds what the scenario's folder held there.
    """

    name: str
    sha: str
    place: Place
    strategies: dict[str, Strategy]
    missing: dict[str, str] = field(default_factory=dict)

    @property
    def base(self) -> Path:
        """The folder of the scenario, as it was."""
        return self.place.base or Path()

    @property
    def skipped(self) -> tuple[tuple[str, str], ...]:
        """The earlier selves that there are none of, each with why."""
        return tuple((f"{name}@{self.sha[:9]}", why) for name, why in self.missing.items())


@contextmanager
def strategies_at(
    revision: str,
    present: Declared,
    written_at: Callable[[Path, str], Written | None],
    base: Path,
    limits: Limits | None = None,
) -> Iterator[Earlier]:
    """The strategies as they were at the revision, whose files lie in a folder as long as the block lasts.

    `written_at` says what the scenario declared, by its folder as it was there and the commit; what no scenario declared there (None) has its
    present settings. A strategy is renamed NAME@SHA; one that loads nothing, and had the same settings, is its own earlier self and not in the
    answer. One that cannot be put together, or still gets a file from the working tree, is listed as missing. Raises ScenarioError where nothing
    can differ, BenchError for an unknown revision.
    """
    top = (outermost_of(base) or base).resolve()
    sha = resolve(top, revision)
    with TemporaryDirectory(prefix="bench-") as kept:
        folder, index = Path(kept).resolve() / "files", Path(kept).resolve() / "index"
        unpack(sha, top, folder, index)
        place = Place(None, top, folder)
        given = folder / os.path.relpath(os.path.abspath(base), top)  # what is a link now may have been a folder
        place = replace(place, base=given if given.is_dir() else Path(place.of_then(str(base.resolve()))))
        then = _Then(sha, base, place, present, limits or Limits())
        try:
            written = written_at(place.base or base, sha)
            items = list(_as_now(then.own) if written is None else as_written(written))
        except (ScenarioError, SpecError) as error:
            found: dict[str, Strategy] = {}
            missing = {strategy.name: str(error) for strategy in then.own}
        else:
            found, missing = then.selves(items, declared=written is not None)
            if written is None and not found and not missing:
                what = "no strategy runs a file (`path.py:function`), and no scenario there had other settings"
                raise ScenarioError(f"--against {revision}: {what}, so none differs between revisions")
        try:
            name = f"{revision} ({sha[:9]})" if revision != sha else sha[:9]
            yield Earlier(name, sha, place, found, missing)
            if not is_unpacked(top, folder, index):
                what = f"--against {revision}: its files were changed while they were measured"
                raise BenchError(f"{what} — look at what the strategies write")
        finally:
            for strategy in found.values():
                if strategy.apart is not None:
                    strategy.apart.child.stop()


@dataclass(frozen=True)
class _Then:
    """A commit, the scenario's folder, the place of the files of the commit, and the present strategies."""

    sha: str
    base: Path
    place: Place
    present: Declared
    limits: Limits

    @property
    def own(self) -> list[Strategy]:
        """The present strategies that may have been others: no references."""
        return [strategy for strategy in self.present.strategies if not strategy.reference]

    def selves(self, items: Iterable[_Item], *, declared: bool) -> tuple[dict[str, Strategy], dict[str, str]]:
        """The earlier selves by the name of the present ones, and why there is none of others. `declared`: the items are all that there were."""
        made: dict[str, Strategy] = {}
        missing: dict[str, str] = {}
        for name, slots in items:
            if name not in self.present.names:
                continue
            try:
                self.require_files(slots)
                (alone,) = put_together([(name, slots)], self.place.base, self.limits, self.place)
                if alone.broken:
                    raise SpecError(alone.broken)
                self.require_no_program(alone)
                self.place.require_installed(alone)
                made[alone.name] = alone
            except (SpecError, EndedError) as error:
                missing.update(dict.fromkeys(self.present.names[name], str(error)))
        found: dict[str, Strategy] = {}
        why: dict[str, str] = {}
        for now in self.own:
            if now.name in made:
                then = made[now.name]
                if then.apart is not None or then.spec != now.spec:
                    found[now.name] = self.renamed(then)
            elif now.name in missing:
                why[now.name] = missing[now.name]
            elif declared:
                why[now.name] = f"the scenario declared no strategy of that name at {self.sha[:9]}"
        return found, why

    def require_files(self, slots: Mapping[str, Any]) -> None:
        texts = [text for given in slots.values() for text in (given if isinstance(given, list | tuple) else [given])]
        for target in (parse_spec(text).target for text in texts if isinstance(text, str)):
            if target.endswith(".py") and not (self.place.base or self.base).joinpath(target).is_file():
                raise SpecError(f"{self.named(self.base / target)} did not exist at {self.sha[:9]}")

    def require_no_program(self, strategy: Strategy) -> None:
        for spec in (plugin.spec for plugin in strategy.everything):
            if spec.target == TARGET and str(self.place.top) in (spec.attribute or ""):
                raise SpecError(f"{spec}: a program is not taken from {self.sha[:9]} — name it by a relative path")

    def renamed(self, strategy: Strategy) -> Strategy:
        """The strategy and the files that it took from the commit under the commit's name."""
        at = f"@{self.sha[:9]}"
        if strategy.apart is None:
            return replace(strategy, name=f"{strategy.name}{at}")
        plugins = {
            slot: tuple(self.at_commit(one, at) for one in several) for slot, several in strategy.plugins.items()
        }
        return replace(strategy, name=f"{strategy.name}{at}", plugins=plugins)

    def named(self, file: Path) -> str:
        """The path of a file from the top of the repository; of one that lies outside as it is given."""
        here, top = file.resolve(), self.place.top
        return here.relative_to(top).as_posix() if top is not None and here.is_relative_to(top) else file.as_posix()

    def at_commit(self, plugin: Plugin, at: str) -> Plugin:
        """A plug-in whose files are named by their places in the repository and the commit, so that no two have one name."""
        if not plugin.spec.target.endswith(".py"):
            return replace(plugin, files={f"{name}{at}": sha for name, sha in plugin.files.items()})
        file = self.base / plugin.spec.target
        target = f"{self.named(file).removesuffix('.py')}{at}.py"
        files = {f"{self.named(file.parent / name)}{at}": sha for name, sha in plugin.files.items()}
        return replace(plugin, spec=replace(plugin.spec, target=target), files=files)


def _as_now(strategies: Iterable[Strategy]) -> Iterator[_Item]:
    """Strategies as they could be written now. One that is broken has no settings that are known."""
    for strategy in strategies:
        if not strategy.broken:
            yield strategy.name, {slot: [str(item.spec) for item in found] for slot, found in strategy.plugins.items()}


def as_written(strategies: Written) -> Iterator[_Item]:
    """Every strategy of a scenario at each of its settings."""
    for name, slots in strategies.items():
        for values, filled in at_settings(slots):
            yield "-".join((name, *values)), filled
