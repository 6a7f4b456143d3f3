"""What a pytest plug-in sees of the tests: which functions each calls, the time it takes, and which fail."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings


class Called:
    """The functions that a test called, here and in the processes that were forked from here."""

    def __init__(self) -> None:
        self._here: set[str] = set()
        self._written = tempfile.TemporaryFile("a+b")  # noqa: SIM115  open as long as this process

    def add(self, name: str) -> None:
        """Note a function."""
        if name not in self._here:
            self._here.add(name)
            os.write(self._written.fileno(), f"{name}\n".encode())

    def clear(self) -> None:
        """Begin with none."""
        self._here.clear()
        os.ftruncate(self._written.fileno(), 0)
        os.lseek(self._written.fileno(), 0, os.SEEK_SET)  # a mode "a" does not move this file's end

    def names(self) -> list[str]:
        """All of them."""
        written = os.pread(self._written.fileno(), os.fstat(self._written.fileno()).st_size, 0)
        return sorted({*written.decode().splitlines()})


Loop = Callable[[Mapping[str, pytest.Item], "Watch"], None]


class Watch:
    """A pytest plug-in that runs the tests wanted (None: all) in their order, and notes what they called, and which failed.

    With a loop of its own, that gets the imported tests by name instead of their being run.
    """

    def __init__(self, wanted: Sequence[str] | None = None, loop: Loop | None = None) -> None:
        self.loop = loop
        self.wanted = None if wanted is None else {name: place for place, name in enumerate(wanted)}
        self.tried: list[tuple[str, float, list[str]]] = []
        self.failed: list[str] = []
        self.called = Called()

    def pytest_configure(self) -> None:
        """That an example fails is enough: a smaller one is not looked for, which takes minutes."""
        phases = (Phase.explicit, Phase.generate)
        settings.register_profile(
            "mutants", derandomize=True, deadline=None, phases=phases, suppress_health_check=list(HealthCheck)
        )
        settings.load_profile("mutants")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Only the tests wanted."""
        wanted = self.wanted
        if wanted is not None:
            items[:] = sorted((item for item in items if item.nodeid in wanted), key=lambda item: wanted[item.nodeid])

    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Leave the tests that were imported to who wants to run them."""
        if self.loop is None:
            return None
        self.loop({item.nodeid: item for item in session.items}, self)
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Note what a test called, and the processor time it took."""
        self.called.clear()
        started = _seconds()
        answer = yield
        self.tried.append((item.nodeid, round(_seconds() - started, 3), self.called.names()))
        return answer

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a test that failed."""
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a file that cannot be imported any more."""
        if report.failed:
            self.failed.append(f"{report.nodeid} (import)")


def _seconds() -> float:
    """The processor time of this process and of those that it waited for."""
    of = os.times()
    return time.process_time() + of.children_user + of.children_system
