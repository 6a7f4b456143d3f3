"""Do the tests notice a wrong line? One place at a time is changed in the code that judges, and the tests that run it are run again.

`python benchmarks/mutants.py [--seed 14] [--count 60] [--minutes 60] [--start 0] [--only WORD] [--work FOLDER]` — mutants of `bench/metrics`,
`bench/comparison`, `bench/evidence`, `bench/text` and `bench/run`, in the order that the seed gives them. Ends with exit code 1 where a mutant
survived that `benchmarks/equivalents.toml` does not explain.

The work is done in a copy of the project. First every test file runs once, to see which functions each of its tests calls; a mutant is then judged by
the tests that call its function, one outside functions by all of them. One that takes far more processor time than its tests did counts as killed.
The tests are imported once: a process forked for each mutant gives its function the changed code. One outside functions is imported anew.
"""

from __future__ import annotations

import argparse
import builtins
import gc
import hashlib
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
import traceback
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy  # noqa: F401  what tests need is imported once, before a process is forked for each mutant
import pytest
from mutations import Mutant, mutants_of, telling_calls
from swapped import Living, living, swap
from watched import Watch

ROOT = Path(__file__).parents[1]
ROOMS = ("metrics", "comparison", "evidence", "text", "run")
BESIDE = ("reports", "replayer", "tokens", "model")
EQUIVALENTS = ROOT / "benchmarks" / "equivalents.toml"
"""A mutant is judged by the examples in its rooms, and the tests of these and of the rooms beside them, which show what these found."""

MORE_TIMES = 2
"""How many times the processor time of its tests a mutant may take, beside START_S seconds to start."""
START_S = 20.0
MOST_S = 40.0
"""Seconds of tests named after the file of a mutant, and of others: those that call the fewest functions, so the most about this one. What only
another test would see has survived."""

UNABLE = 71
"""How a process ends that could not take the changed code."""

NOT_SWAPPED, SURVIVED = "not swapped", "survived"
MESSAGE = 1 << 16
WALL_S, WALL_TIMES = 1200.0, 3
MEMORY = 8 * 1024**3


class Tried(NamedTuple):
    """One test: its name, the processor time it took, and the functions of the rooms that it called."""

    name: str
    seconds: float
    calls: frozenset[str]

    @property
    def file(self) -> str:
        """Where it stands."""
        return self.name.partition("::")[0]


Warm = socket.socket


class Bench:
    """A copy of the project in a folder of its own, and its tests."""

    def __init__(self, work: Path) -> None:
        self.work, self.copy = work, work / "copy"
        shutil.rmtree(self.copy, ignore_errors=True)
        listing = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
        listed = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True).stdout.decode()
        for name in filter(None, listed.split("\0")):
            if (ROOT / name).is_file():
                (self.copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.copy / name)
        paths = sorted(path for room in ROOMS for path in (self.copy / "bench" / room).rglob("*.py"))
        self.sources = {str(path.relative_to(self.copy)): path.read_text(encoding="utf-8") for path in paths}
        tests = sorted(path for room in (*ROOMS, *BESIDE) for path in (self.copy / "tests" / room).glob("test_*.py"))
        self.files = [f"bench/{room}" for room in ROOMS] + [str(path.relative_to(self.copy)) for path in tests]

    def run(self, files: Sequence[str], watch: Watch, seconds: float) -> tuple[int, list[Any], list[str]]:
        """Tests of the copy in a process of their own: pytest's exit code (negative: the signal that ended it), what was tried, what failed."""
        noted = self.work / "noted.json"
        noted.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            status = 70
            try:
                status = self._tested(files, watch, seconds)
                noted.write_text(json.dumps([watch.tried, watch.failed]), encoding="utf-8")
            except BaseException:
                traceback.print_exc()
                sys.stderr.flush()
            finally:
                os._exit(status)
        code = _waited(child, seconds)
        if noted.exists():
            return code, *json.loads(noted.read_text(encoding="utf-8"))
        return code, [], []

    def _tested(self, files: Sequence[str], watch: Watch, seconds: float) -> int:
        self._fenced(seconds)
        return self.pytest(files, watch)

    def _fenced(self, seconds: float) -> None:
        """This process, in a group of its own, that may take so many seconds and no more memory than MEMORY, and prints into a file."""
        os.setsid()
        said = os.open(self.work / "said.txt", os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
        os.dup2(said, 1)
        os.dup2(said, 2)
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 1))
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))

    def pytest(self, files: Sequence[str], watch: Watch) -> int:
        """pytest over files of the copy, in this process: its exit code."""
        os.chdir(self.copy)
        sys.path[:] = [str(self.copy), *(path for path in sys.path if Path(path) != Path(__file__).parent)]
        os.environ["PYTHONPATH"] = str(self.copy)
        builtins.bench_called = watch.called.add  # type: ignore[attr-defined]
        first = [] if watch.wanted is None else ["-x"]
        flags = [
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
            "--tb=short",
            "-Wignore::pytest.PytestAssertRewriteWarning",
            f"--rootdir={self.copy}",
        ]
        status = int(pytest.main([*flags, *first, *files], plugins=[watch]))
        if not str(sys.modules["bench"].__file__).startswith(str(self.copy)):
            raise SystemExit("the tests ran another bench than the copy")
        return status

    def write(self, path: str, source: str) -> None:
        """A file of the copy as it is to be run now."""
        for compiled in (self.copy / path).parent.glob(f"__pycache__/{Path(path).stem}.*.pyc"):
            compiled.unlink()
        (self.copy / path).write_text(source, encoding="utf-8")

    def tried(self) -> list[Tried]:
        """Every test with the functions it calls. Each file is tried once; of one that is still the same, what the folder says is taken."""
        for path, source in self.sources.items():
            self.write(path, telling_calls(path, source))
        found = []
        for file in self.files:
            inside = sorted((self.copy / file).glob("*.py")) or [self.copy / file]
            own = b"".join([file.encode(), *(path.read_bytes() for path in inside)])
            kept = self.work / f"{hashlib.sha256(own).hexdigest()}.json"
            if not kept.exists():
                print(f"  {file}", end=" ", flush=True)
                code, tried, failed = self.run([file], Watch(), WALL_S)
                print(f"{len(tried)} tests, {sum(seconds for _, seconds, _ in tried):.1f} s", flush=True)
                if code not in (0, 1, 5):
                    raise SystemExit(f"{file} cannot be run ({code}): {failed} (see {self.work / 'said.txt'})")
                if failed:
                    print(f"  left out, since they fail without a mutant: {failed}", flush=True)
                kept.write_text(json.dumps([test for test in tried if test[0] not in failed]), encoding="utf-8")
            for name, seconds, calls in json.loads(kept.read_text(encoding="utf-8")):
                found.append(Tried(name, seconds, frozenset(calls)))
        for path, source in self.sources.items():
            self.write(path, source)
        return found

    def warm(self) -> Warm:
        """A process that has imported every test."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        if os.fork() == 0:
            ours.close()
            said = os.open(self.work / "said.txt", os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
            os.dup2(said, 1)
            os.dup2(said, 2)
            try:
                self.pytest(self.files, Watch(loop=lambda items, watch: self._serve(theirs, items, watch)))
            finally:
                os._exit(0)
        theirs.close()
        return ours

    def _serve(self, asked: socket.socket, items: Mapping[str, pytest.Item], watch: Watch) -> None:
        """Answer, for each mutant and list of tests, as `_noticed`, or with `NOT_SWAPPED`."""
        gc.collect()
        functions = living(str(self.copy))
        gc.freeze()
        while given := asked.recv(MESSAGE):
            path, source, names, seconds = json.loads(Path(given.decode()).read_text(encoding="utf-8"))
            noted = self.work / "noted.txt"
            noted.write_text("", encoding="utf-8")
            child = os.fork()
            if child == 0:
                status = 70
                try:
                    self._fenced(seconds)
                    status = self._swapped(functions, path, source, [items[name] for name in names], watch)
                    noted.write_text("".join(watch.failed[:1]), encoding="utf-8")
                finally:
                    os._exit(status)
            code = _waited(child, seconds)
            by = noted.read_text(encoding="utf-8") or f"ended with {code}" if code else ""
            asked.send((NOT_SWAPPED if code == UNABLE else by or SURVIVED).encode())

    def _swapped(self, functions: Living, path: str, source: str, items: Sequence[pytest.Item], watch: Watch) -> int:
        if not swap(functions, str(self.copy / path), self.sources[path], source):
            return UNABLE
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
            if watch.failed:
                return 1
        return 0

    def judged(self, mutant: Mutant, tests: Sequence[Tried], warm: Warm) -> str:
        """The test that noticed a mutant, or how it ended; `""` where it survived."""
        place = f"{mutant.path} {mutant.function}"
        stem = Path(mutant.path).stem
        callers = [test for test in tests if place in test.calls] or tests
        able, spent = [], Counter[bool]()
        for test in sorted(callers, key=lambda test: (len(test.calls), test.seconds, test.name)):
            named = stem in test.file
            spent[named] += test.seconds
            if spent[named] <= MOST_S:
                able.append(test)
        cost = Counter[str]()
        for test in able:
            cost[test.file] += test.seconds
        able.sort(key=lambda test: (cost[test.file], test.file))
        seconds = START_S + MORE_TIMES * sum(cost.values())
        asked = self.work / "asked.json"
        asked.write_text(
            json.dumps([mutant.path, mutant.source, [test.name for test in able], seconds]), encoding="utf-8"
        )
        self.write(mutant.path, mutant.source)
        try:
            warm.send(str(asked).encode())
            by = warm.recv(MESSAGE).decode()
            return self._noticed(able, seconds) if by == NOT_SWAPPED else by.removeprefix(SURVIVED)
        finally:
            self.write(mutant.path, self.sources[mutant.path])

    def _noticed(self, tests: Sequence[Tried], seconds: float) -> str:
        """The first of some tests that fails, or how they ended; `""` where all pass."""
        files = list(dict.fromkeys(test.file for test in tests))
        code, _, failed = self.run(files, Watch([test.name for test in tests]), seconds)
        if code == 4:
            raise SystemExit(f"pytest did not start: {self.work / 'said.txt'}")
        return "" if code in (0, 5) else (failed[0] if failed else f"ended with {code}")


def _waited(child: int, seconds: float) -> int:
    """The exit code of a process of ours, ended with its children after some times the processor time it may take."""
    ending = time.monotonic() + WALL_TIMES * seconds
    while True:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > ending:
            os.killpg(child, signal.SIGKILL)
        time.sleep(0.05)


def explained() -> dict[str, str]:
    """Why a mutant changes nothing that can be seen, by its name."""
    tables: dict[str, dict[str, str]] = tomllib.loads(EQUIVALENTS.read_text(encoding="utf-8"))
    return {f"{place}: {change}": why for place, changes in tables.items() for change, why in changes.items()}


def drawn(sources: dict[str, str], seed: int) -> list[Mutant]:
    """Every mutant in the order of a seed. A change elsewhere in the code does not change the order of those it leaves."""
    found = [mutant for path, source in sources.items() for mutant in mutants_of(path, source)]
    return sorted(found, key=lambda mutant: hashlib.sha256(f"{seed} {mutant.name}".encode()).digest())


def main(seed: int, start: int, count: int, minutes: float, only: str, work: Path) -> int:
    """Try the mutants and print what became of each, then the counts. 1 where one survived that is not explained."""
    bench, reasons = Bench(work), explained()
    mutants = drawn(bench.sources, seed)
    chosen = [mutant for mutant in mutants if only in mutant.name][start : start + count]
    unknown = reasons.keys() - {mutant.name for mutant in mutants}
    for name in sorted(unknown):
        print(f"explained, and no mutant: {name}")
    print(f"seed {seed}: {len(chosen)} of {len(mutants)} mutants, from {start}", flush=True)
    tests = bench.tried()
    print(f"{len(tests)} tests in {len(bench.files)} places", flush=True)
    counts: dict[str, Counter[str]] = {room: Counter() for room in ROOMS}
    warm = bench.warm()
    until = time.monotonic() + 60 * minutes
    for number, mutant in enumerate(chosen, start + 1):
        began = time.monotonic()
        if began > until:
            break
        by = bench.judged(mutant, tests, warm)
        outcome = "killed" if by else "equivalent" if mutant.name in reasons else "survived"
        counts[mutant.path.split("/")[1]][outcome] += 1
        note = f"{mutant.name}  [{by or reasons.get(mutant.name, '')}] {time.monotonic() - began:.1f} s"
        print(f"{number:4} {outcome:10} {note}", flush=True)
    warm.close()
    total = sum(counts.values(), Counter())
    for room, of in [*counts.items(), ("all", total)]:
        tested = of["killed"] + of["survived"]
        share = f"{of['killed'] / tested:.1%}" if tested else "—"
        print(f"{room:12} {of['killed']} killed, {of['survived']} survived, {of['equivalent']} equivalent: {share}")
    return int(bool(total["survived"]) or bool(unknown))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, default=14)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument(
        "--minutes", type=float, default=60.0, help="the most that the mutants may take, their tests' first run aside"
    )
    parser.add_argument("--only", default="", help="only mutants whose name holds this")
    parser.add_argument("--work", type=Path, help="a folder for the copy and for what is known of the tests")
    given = parser.parse_args()
    os.nice(15)
    folder = given.work or Path(tempfile.mkdtemp(prefix="mutants-"))
    sys.exit(main(given.seed, given.start, given.count, given.minutes, given.only, folder.resolve()))
