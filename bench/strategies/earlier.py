"""A scenario's strategies as their files were at a git revision."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from ..errors import ScenarioError, SpecError
from ..files.git import file_at, resolve
from ..plugins.apart import Limits, can_fork
from ..plugins.as_before import quietly
from ..plugins.registry import Plugin, build
from ..plugins.spec import Spec
from ..plugins.trial import tried
from . import Strategy


@dataclass(frozen=True)
class Earlier:
    """A revision's strategies by the name of their present selves, those that could not be had then with why, and the revision's name."""

    name: str
    strategies: dict[str, Strategy]
    missing: tuple[tuple[str, str], ...] = ()


@contextmanager
def strategies_at(
    revision: str, strategies: Sequence[Strategy], base: Path, limits: Limits | None = None
) -> Iterator[Earlier]:
    """The strategies that run a file (`path.py:function`), with each file as it was at the revision; the files live as long as the block.

    A strategy is renamed NAME@SHA. One whose file or function did not exist then is listed as missing. Raises ScenarioError where no
    strategy runs a file, BenchError for an unknown revision.
    """
    named = [strategy for strategy in strategies if any(_is_file(plugin.spec) for plugin in _plugins(strategy))]
    if not named:
        raise ScenarioError(
            f"--against {revision}: no strategy runs a file (`path.py:function`), so none differs between revisions"
        )
    sha = resolve(base, revision)
    found: dict[str, Strategy] = {}
    missing: list[tuple[str, str]] = []
    with TemporaryDirectory(prefix="bench-against-") as folder:
        made = [functools.partial(_at, strategy, sha, base, Path(folder)) for strategy in named]
        problems = tried(made, limits or Limits())
        for number, strategy in enumerate(named):
            if number in problems:
                missing.append((f"{strategy.name}@{sha[:9]}", f"it cannot be loaded: {problems[number]}"))
                continue
            try:
                with quietly((limits or Limits()).call_s) if can_fork() else nullcontext():
                    found[strategy.name] = _at(strategy, sha, base, Path(folder))
            except SpecError as error:
                missing.append((f"{strategy.name}@{sha[:9]}", str(error)))
        yield Earlier(f"{revision} ({sha[:9]})" if revision != sha else sha[:9], found, tuple(missing))


def _is_file(spec: Spec) -> bool:
    return spec.target.endswith(".py")


def _plugins(strategy: Strategy) -> list[Plugin]:
    return [plugin for plugins in strategy.plugins.values() for plugin in plugins]


def _at(strategy: Strategy, sha: str, base: Path, folder: Path) -> Strategy:
    slots: Mapping[str, tuple[Plugin, ...]] = strategy.plugins
    return Strategy(
        f"{strategy.name}@{sha[:9]}",
        {slot: tuple(_plugin_at(plugin, sha, base, folder) for plugin in plugins) for slot, plugins in slots.items()},
    )


def _plugin_at(plugin: Plugin, sha: str, base: Path, folder: Path) -> Plugin:
    """The plugin from its file at a commit, written into the folder under the commit's name, so that its spec says which it is."""
    if not _is_file(plugin.spec):
        return plugin
    inside, code = file_at(sha, base / plugin.spec.target)
    if code is None:
        raise SpecError(f"{inside} did not exist at {sha[:9]}")
    shown = PurePosixPath(inside).with_name(f"{PurePosixPath(inside).stem}@{sha[:9]}.py")
    written = folder / shown
    written.parent.mkdir(parents=True, exist_ok=True)
    written.write_bytes(code)
    for name in plugin.files:
        if name.endswith(
            ".py"
        ):  # what it imported from beside it; one that did not exist then, it cannot have imported
            beside, text = file_at(sha, base / name)
            if text is not None:
                (folder / beside).parent.mkdir(parents=True, exist_ok=True)
                (folder / beside).write_bytes(text)
    then = build(plugin.entry.kind, Spec(str(shown), plugin.spec.attribute, plugin.spec.params), folder)
    return replace(then, files={f"{name}@{sha[:9]}": digest for name, digest in then.files.items()})
