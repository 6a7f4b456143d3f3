"""The child's side of strategies with user code: it loads them, describes them as data, and answers
the requests of replays. `sandboxed` is the other side."""

from __future__ import annotations

import importlib
import os
import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ...model.errors import BenchError, LoadError, one_line
from ...plugins.loader import import_from, is_installed
from .. import Strategy, build_strategy

if TYPE_CHECKING:
    from ...plugins.child import Link


class Place(msgspec.Struct, frozen=True):
    """The place of a strategy's files: `base` is the folder where relative paths start, `hidden`
    are the real paths of files that its code may not read.

    `top` is the root of a repository, and `revision_files` a folder with its files at an earlier
    revision, to which imports from the repository are redirected.
    """

    base: Path = Path()
    top: Path | None = None
    revision_files: Path | None = None
    hidden: tuple[str, ...] = ()

    def at_revision(self, path: str) -> str:
        """A path of the repository as a path at the revision. Any other path stays, and so does one
        of an installed package, such as in a `.venv` in the repository."""
        here = Path(path).resolve()
        if self.top is None or self.revision_files is None or not here.is_relative_to(self.top):
            return path
        if here.is_relative_to(self.revision_files) or is_installed(str(here / "x")):
            return path
        return str(self.revision_files / here.relative_to(self.top))

    def settle(self) -> None:
        """Redirect this process's imports to the revision; called only in a child."""
        if self.revision_files is None:
            return
        import_from(self.at_revision)
        if "PYTHONPATH" in os.environ:  # for the programs that user code starts
            folders = os.environ["PYTHONPATH"].split(os.pathsep)
            os.environ["PYTHONPATH"] = os.pathsep.join(map(self.at_revision, folders))
        here = self.at_revision(os.getcwd())
        if Path(here).is_dir():
            os.chdir(here)


DESCRIBE = -1
"""The number of the session that describes all strategies, in place of the number of one."""


REPLAY_MODULE = "bench.replayer.border"
"""The module that every replay needs; the child imports it once, before it forks."""

MESSAGES_MODULE = "bench.strategies.user_code.libraries"
"""The module that a replay with a compactor or a router needs, too."""


def load(declared: Sequence[bytes], place: Place, modules: Sequence[str]) -> Callable[..., bytes]:
    """The function that answers the requests of each replay.

    Imports the modules first, and then the strategies of the pickled declarations.
    """
    border, *_ = map(importlib.import_module, modules)
    place.settle()
    strategies: list[Strategy | BaseException] = []
    here = os.getcwd()
    for sent in declared:
        try:
            strategies.append(build_strategy(pickle.loads(sent), place.base))
        except BaseException as error:
            strategies.append(error)
        os.chdir(here)
    try:
        border.go_offline(place.base)
    except LoadError as error:
        strategies = [error] * len(strategies)
    plugins = [*map(border.Plugins, strategies)]

    def answer(link: Link, number: int, *request: Any) -> bytes:
        """The answer of the strategy with a number, or the descriptions of all."""
        if number == DESCRIBE:
            described, files = [*map(_description, strategies)], sorted({*_imported_files()})
            return msgspec.json.encode(Descriptions(described, files))
        body: bytes = plugins[number].answer(link.count, *request)
        return body

    return answer


class Description(msgspec.Struct, frozen=True):
    """A strategy in a child: for each slot the names of its plug-ins, with the attributes that a
    replay asks for. Or the error of loading it, where `is_broken` is True for a LoadError."""

    plugins: dict[str, list[tuple[str, dict[str, str]]]] = {}
    error: str = ""
    is_broken: bool = False


class Descriptions(msgspec.Struct, frozen=True):
    """A child's strategies, and the real paths of the user code's files that it has imported."""

    strategies: list[Description]
    files: list[str]


def _imported_files() -> Iterator[str]:
    for name, module in [*sys.modules.items()]:
        file = getattr(module, "__file__", None)
        if file and name != "__main__" and not is_installed(file):
            yield os.path.realpath(file)


def _description(loaded: Strategy | BaseException) -> Description:
    """The description of a strategy, or of the error of loading it."""
    if isinstance(loaded, BenchError):
        return Description(error=one_line(loaded), is_broken=isinstance(loaded, LoadError))
    if isinstance(loaded, BaseException):
        raise loaded
    plugins = {
        slot: [(plugin.name, plugin.declared) for plugin in in_slot]
        for slot, in_slot in loaded.plugins.items()
    }
    return Description(plugins)
