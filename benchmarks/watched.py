"""What a pytest plug-in sees of the tests: which blocks of code each ran, the time it takes, and which fail."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence

import pytest
from called import Called
from hypothesis import HealthCheck, Phase, settings

Loop = Callable[[Mapping[str, pytest.Item]], None]


class Watch:
    """A pytest plug-in that hands the imported tests, by name, to a loop of its own, which has some of them run."""

    def __init__(self, loop: Loop, called: Called | None) -> None:
        self.loop, self.called = loop, called
        self.failed: list[str] = []

    def pytest_configure(self) -> None:
        """That an example fails is enough: a smaller one is not looked for, which takes minutes."""
        phases = (Phase.explicit, Phase.generate)
        settings.register_profile(
            "mutants", derandomize=True, deadline=None, phases=phases, suppress_health_check=list(HealthCheck)
        )
        settings.load_profile("mutants")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Leave the tests that were imported to who wants to run them."""
        self.loop({item.nodeid: item for item in session.items})
        return True

    def run(self, items: Sequence[pytest.Item], most: Sequence[float]) -> list[tuple[str, float, str]]:
        """Each test's name, the processor time it took and the blocks it ran. Without `called`, up to the first that fails.

        The process ends where a test takes more seconds than the most it may.
        """
        tried = []
        for item, following, seconds in zip(items, [*items[1:], None], most, strict=True):
            if self.called:
                self.called.clear()
            started = _seconds()
            signal.alarm(int(seconds))
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
            signal.alarm(0)
            tried.append((item.nodeid, round(_seconds() - started, 3), hex(self.called.mask()) if self.called else "0"))
            if self.failed and not self.called:
                break
        return tried

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
