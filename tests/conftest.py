"""What several test files need."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from bench.errors import DEBUG

settings.register_profile(
    "bench", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.load_profile("bench")

SHARED_TRACES = Path(__file__).parents[1].parent / "shared" / "traces"


@pytest.fixture(autouse=True)
def undebugged(monkeypatch: pytest.MonkeyPatch) -> None:
    """`--debug` in one test prints no tracebacks in the next."""
    monkeypatch.setenv(DEBUG, "")
    monkeypatch.delenv(DEBUG)


@pytest.fixture(scope="session")
def shared_traces() -> Path:
    """The folder of recorded traces beside the project; a test that needs it is skipped where it is not there."""
    if not SHARED_TRACES.is_dir():
        pytest.skip(f"the recorded traces are not at {SHARED_TRACES}")
    return SHARED_TRACES
