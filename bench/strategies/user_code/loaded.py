"""The child's side of strategies with user code: they are loaded, and described as data."""

from __future__ import annotations

import importlib
import os
import pickle
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ...model.errors import BenchError, LoadError, one_line
from ...plugins.loader import compile_from_source, import_from, is_installed
from .. import Strategy, build_strategy

if TYPE_CHECKING:
    from ...plugins.child import Link


@dataclass(frozen=True)
class Place:
    """The place of a strategy's files: `base` is the folder that paths start from, `hidden` are
    the real paths of files that its code may not read.

    `top` is the top of a repository, and `revision_files` a folder with its files at an earlier
    revision: imports from the repository are then redirected there.
    """

    base: Path = Path()
    top: Path | None = None
    revision_files: Path | None = None
    hidden: tuple[str, ...] = ()

    def at_revision(self, path: str) -> str:
        """A path of the repository as a path at the revision; any other path as it is."""
        if self.top is None or self.revision_files is None:
            return path
        here = Path(path).resolve()
        if not here.is_relative_to(self.top) or here.is_relative_to(self.revision_files):
            return path
        if is_installed(str(here / "x")):  # in an environment that lies in the repository
            return path
        return str(self.revision_files / here.relative_to(self.top))

    def settle(self) -> None:
        """Redirect this process's imports to the revision; called only in a child."""
        compile_from_source()
        if self.revision_files is None:
            return
        import_from(self.at_revision)
        if "PYTHONPATH" in os.environ:  # for programs that are started
            folders = os.environ["PYTHONPATH"].split(os.pathsep)
            os.environ["PYTHONPATH"] = os.pathsep.join(map(self.at_revision, folders))
        here = self.at_revision(os.getcwd())
        if Path(here).is_dir():
            os.chdir(here)


class Description(msgspec.Struct, frozen=True):
    """The description of a strategy in a child: by slot the name of each plug-in and the attributes
    that a replay asks for; or the error.

    `is_broken` is True for a LoadError.
    """

    plugins: dict[str, list[tuple[str, dict[str, str]]]] = {}
    error: str = ""
    is_broken: bool = False


_EACH_REPLAY = "bench.replayer.serving"
"""The module that each session needs, imported here once instead of in each fork."""


class LoadedStrategies:
    """The strategies that a child loads before it forks for sessions."""

    def __init__(self, declared: Sequence[bytes], place: Place) -> None:
        self.place = place
        self.loaded: list[Strategy | BaseException] = []
        importlib.import_module(_EACH_REPLAY)
        place.settle()
        here = os.getcwd()
        for sent in declared:
            try:
                self.loaded.append(build_strategy(pickle.loads(sent), place.base))
            except BaseException as error:
                self.loaded.append(error)
            os.chdir(here)

    def strategy(self, number: int) -> Strategy:
        """The strategy with a number; raises the error if it could not be loaded."""
        one = self.loaded[number]
        if isinstance(one, Strategy):
            return one
        raise one


def described(link: Link, ready: LoadedStrategies, request: bytes) -> bytes:
    """The imported files and the descriptions of strategies, as JSON."""
    return msgspec.json.encode((_imported_files(), [*map(_description, ready.loaded)]))


def _imported_files() -> tuple[str, ...]:
    """The files of user code that this process has imported, as real paths."""
    modules = {name: module for name, module in [*sys.modules.items()] if name != "__main__"}
    files = {getattr(module, "__file__", None) or "" for module in modules.values()} - {""}
    return tuple(sorted(os.path.realpath(file) for file in files if not is_installed(file)))


def _description(one: Strategy | BaseException) -> Description:
    """The description of a strategy, or of the error of loading it."""
    if isinstance(one, BenchError):
        return Description(error=one_line(one), is_broken=isinstance(one, LoadError))
    if not isinstance(one, Strategy):
        raise one
    plugins = {
        slot: [(plugin.name, plugin.declared) for plugin in each]
        for slot, each in one.plugins.items()
    }
    return Description(plugins)
