"""The child's side of strategies with user code: they are loaded, and described as data."""

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
        """A path of the repository as a path at the revision; any other path as it is, such as one
        in an environment that lies in the repository."""
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
        if "PYTHONPATH" in os.environ:  # for programs that are started
            folders = os.environ["PYTHONPATH"].split(os.pathsep)
            os.environ["PYTHONPATH"] = os.pathsep.join(map(self.at_revision, folders))
        here = self.at_revision(os.getcwd())
        if Path(here).is_dir():
            os.chdir(here)


DESCRIBE = -1
"""In place of the number of a strategy: a session that describes all of them."""


EACH_REPLAY, ITS_MESSAGES = "bench.replayer.border", "bench.strategies.user_code.libraries"
"""The modules that each replay needs, and one with compactors or routers: imported here once, not
in each fork."""


def load(declared: Sequence[bytes], place: Place, modules: Sequence[str]) -> Callable[..., bytes]:
    """The function that answers the requests of each replay, from the pickled declarations of some
    strategies, which are loaded in this process after the modules that they need."""
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
            each, files = [*map(_description, strategies)], sorted({*_imported_files()})
            return msgspec.json.encode(Descriptions(each, files))
        body: bytes = plugins[number].answer(link.count, *request)
        return body

    return answer


class Description(msgspec.Struct, frozen=True):
    """The description of a strategy in a child: by slot the name of each plug-in and the attributes
    that a replay asks for; or the error.

    `is_broken` is True for a LoadError.
    """

    plugins: dict[str, list[tuple[str, dict[str, str]]]] = {}
    error: str = ""
    is_broken: bool = False


class Descriptions(msgspec.Struct, frozen=True):
    """The descriptions of a child's strategies, and the files of user code that it has imported, as
    real paths."""

    strategies: list[Description]
    files: list[str]


def _imported_files() -> Iterator[str]:
    for name, module in [*sys.modules.items()]:
        file = getattr(module, "__file__", None)
        if file and name != "__main__" and not is_installed(file):
            yield os.path.realpath(file)


def _description(one: Strategy | BaseException) -> Description:
    """The description of a strategy, or of the error of loading it."""
    if isinstance(one, BenchError):
        return Description(error=one_line(one), is_broken=isinstance(one, LoadError))
    if isinstance(one, BaseException):
        raise one
    plugins = {
        slot: [(plugin.name, plugin.declared) for plugin in each]
        for slot, each in one.plugins.items()
    }
    return Description(plugins)
