"""Fixtures of several test files."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest
from cli_folder import fill
from examples import EXAMPLES
from hypothesis import HealthCheck, settings
from repository import init

from bench.files.limits import VARIABLE
from bench.model.errors import DEBUG
from bench.plugins import loader
from bench.tokens.counting import TokenCounter

settings.register_profile(
    "bench",
    deadline=None,
    derandomize=True,
    max_examples=EXAMPLES,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("bench")

if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # as in the background of a script: commands that tests interrupt would inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)

for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):  # a run in a test is no step of the CI that the tests run in
    os.environ.pop(name, None)

os.environ["BENCH_CACHE"] = "off"  # a test measures what it looks at, and leaves nothing with whoever runs it
os.environ["XDG_STATE_HOME"] = _STATE = tempfile.mkdtemp()
atexit.register(shutil.rmtree, _STATE, ignore_errors=True)

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # its threads make each fork of a test dearer

collect_ignore = ["data"]  # files that tests load themselves, where and how each test says


def pytest_collection_finish() -> None:
    """The tests stay: nothing looks again whether they are garbage, in this process or in its forks."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def vocabulary() -> None:
    """Read once here, or each of the processes that measure cases would read it."""
    TokenCounter()


@pytest.fixture(autouse=True)
def default_options(monkeypatch: pytest.MonkeyPatch) -> None:
    """`--debug` and `--limit` in one test change nothing in the next."""
    for name in (DEBUG, VARIABLE):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def nothing_imported() -> None:
    """A file that a strategy of one test names is read anew in the next one."""
    loader.load_file.cache_clear()


@pytest.fixture(scope="session")
def shared_traces() -> Path:
    """The folder of recordings that BENCH_RECORDINGS names, else the one beside the project; a test is skipped without it."""
    folder = Path(os.environ.get("BENCH_RECORDINGS") or Path(__file__).parents[2] / "shared" / "traces")
    if not folder.is_dir():
        pytest.skip(f"BENCH_RECORDINGS names no folder of recordings: {folder}")
    return folder


@pytest.fixture(scope="session")
def measured_cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that keeps what is measured in copies of one repository."""
    return tmp_path_factory.mktemp("cases") / "kept.sqlite"


@pytest.fixture
def repository(
    measured_cases: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Path:
    """The present folder: what `bench init` makes of an empty one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BENCH_CACHE", str(measured_cases))
    init()
    capsys.readouterr()
    return tmp_path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The present folder: two traces, a scenario and a private strategy."""
    monkeypatch.chdir(tmp_path)
    fill(tmp_path)
    return tmp_path
