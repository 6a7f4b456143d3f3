"""Do the tests notice a wrong line? One place at a time is changed in the code that judges, and the tests that run it are run again.

`python benchmarks/mutants.py [--seed 14] [--count 60] [--minutes 60] [--start 0] [--only WORD] [--work FOLDER]` — mutants of `bench/metrics`,
`bench/comparison`, `bench/evidence`, `bench/text` and `bench/run`, in the order that the seed gives them. Ends with exit code 1 where a mutant
survived that `benchmarks/equivalents.toml` does not explain.

The work is done in a copy of the project. First every fast test runs once, to see which blocks of the judging code each runs; a mutant is then judged
by the tests that run its block, one outside functions by those that run a block which names what it makes. A test that takes ten times as long as
it did has noticed it. The tests are imported once: a process forked for each mutant gives its function the changed code. For one outside functions
they are imported anew.
"""

from __future__ import annotations

import argparse
import builtins
import contextlib
import gc
import hashlib
import importlib
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
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy  # noqa: F401  what tests need is imported once, before a process is forked for each mutant
import pytest
from called import Called
from mutations import Mutant, blocks_of, mutants_of, telling
from swapped import living, swap
from watched import Watch

ROOT = Path(__file__).parents[1]
ROOMS = ("metrics", "comparison", "evidence", "text", "run")
EQUIVALENTS = ROOT / "benchmarks" / "equivalents.toml"

MOST_S = 80.0
"""Seconds of tests for a mutant: those that run the fewest blocks, so the most about this one, and at last what is measured of whole recordings. What
only another test would see has survived."""
WHOLE = "test_measured_gold.py"
UNABLE = 71
"""How a process ends that could not take the changed code."""
MESSAGE = 1 << 16
WALL_S = 1200.0
MEMORY = 8 * 1024**3


class Tried(NamedTuple):
    """One test: its name, the processor time it took, and a bit for each block that it ran."""

    name: str
    seconds: float
    calls: int


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
        found = [blocks_of(path, source) for path, source in self.sources.items()]
        self.blocks = [block for blocks, _ in found for block in blocks]
        self.made = [block for _, made in found for block in made]
        self.own = hashlib.sha256()
        for path in sorted(path for room in ("bench", "tests") for path in (self.copy / room).rglob("*.py")):
            self.own.update(path.read_bytes())

    def warm(self, files: Sequence[str], called: Called | None = None) -> socket.socket:
        """A process that has imported tests, and runs those that it is asked for in a process of their own."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        if os.fork() == 0:
            ours.close()
            try:
                watch = Watch(lambda items: self._serve(theirs, items, watch), called)
                self._pytest(files, watch)
            finally:
                os._exit(0)
        theirs.close()
        return ours

    def _pytest(self, files: Sequence[str], watch: Watch) -> None:
        said = os.open(self.work / "said.txt", os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
        os.dup2(said, 1)
        os.dup2(said, 2)
        os.chdir(self.copy)
        sys.path[:] = [str(self.copy), *(path for path in sys.path if Path(path) != Path(__file__).parent)]
        os.environ["PYTHONPATH"] = str(self.copy)
        os.environ["TMPDIR"] = tempfile.tempdir = str(self.work / "tmp")
        (self.work / "tmp").mkdir(exist_ok=True)
        if watch.called:
            builtins.bench_called = watch.called.add  # type: ignore[attr-defined]
            shutil.copy2(ROOT / "benchmarks" / "called.py", self.work / "sitecustomize.py")
            os.environ |= {"PYTHONPATH": f"{self.copy}:{self.work}", "BENCH_CALLED": str(self.work / "called.txt")}
        flags = ["-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not slow", "--tb=short", f"--rootdir={self.copy}"]
        pytest.main([*flags, "-Wignore::pytest.PytestAssertRewriteWarning", *files], plugins=[watch])

    def _serve(self, asked: socket.socket, items: Mapping[str, pytest.Item], watch: Watch) -> None:
        """Answer each mutant and list of tests with how the process ended; `noted.json` has what it tried and what failed."""
        importlib.import_module("preloaded")  # of the tests: what each process would read anew
        gc.collect()
        functions = living(str(self.copy))
        gc.freeze()
        noted = self.work / "noted.json"
        noted.write_text(json.dumps([list(items), watch.failed]), encoding="utf-8")
        asked.send(b"ready")
        while asked.recv(MESSAGE):
            path, source, names, most = json.loads((self.work / "asked.json").read_text(encoding="utf-8"))
            noted.unlink(missing_ok=True)
            child = os.fork()
            if child == 0:
                status = 70
                try:
                    os.setsid()
                    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
                    if path and not swap(functions, str(self.copy / path), self.sources[path], source):
                        os._exit(UNABLE)
                    tried = watch.run([items[name] for name in names], most)
                    noted.write_text(json.dumps([tried, watch.failed]), encoding="utf-8")
                    status = 0
                finally:
                    os._exit(status)
            _, ended = os.waitpid(child, 0)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
            shutil.rmtree(self.work / "tmp" / f"pytest-of-{os.environ.get('USER', 'root')}", ignore_errors=True)
            asked.send(b"%d" % os.waitstatus_to_exitcode(ended))

    def ask(
        self, warm: socket.socket, mutant: tuple[str, str], tests: Sequence[tuple[str, float]]
    ) -> tuple[int, list[tuple[str, float, str]], list[str]]:
        """How the process of some tests, each with the seconds it may take, ended; what it tried, and what failed."""
        text = json.dumps([*mutant, *map(list, zip(*tests, strict=True))])
        (self.work / "asked.json").write_text(text, encoding="utf-8")
        warm.send(b"asked")
        code = int(warm.recv(MESSAGE) or b"70")
        return code, *(json.loads((self.work / "noted.json").read_text(encoding="utf-8")) if not code else ([], []))

    def write(self, path: str, source: str) -> None:
        """A file of the copy as it is to be run now."""
        for compiled in (self.copy / path).parent.glob(f"__pycache__/{Path(path).stem}.*.pyc"):
            compiled.unlink()
        (self.copy / path).write_text(source, encoding="utf-8")

    def tried(self) -> list[Tried]:
        """Every fast test that passes, with the blocks it runs; those of the same code are known from the last time."""
        kept = self.work / f"{self.own.hexdigest()}.json"
        if not kept.exists():
            first = 0
            for path, source in self.sources.items():
                self.write(path, telling(source, first))
                first += sum(block.path == path for block in self.blocks)
            warm = self.warm(["tests", "bench"], Called(str(self.work / "called.txt")))
            warm.recv(MESSAGE)
            names, failed = json.loads((self.work / "noted.json").read_text(encoding="utf-8"))
            found, files = [], Counter(name.partition("::")[0] for name in names)
            for file in files:
                own = [(name, WALL_S) for name in names if name.partition("::")[0] == file]
                code, tried, wrong = self.ask(warm, ("", ""), own)
                failed += wrong or [file] * bool(code)
                found += [test for test in tried if test[0] not in wrong]
            warm.close()
            print(f"{len(names)} tests; left out, since they fail without a mutant: {failed}", flush=True)
            kept.write_text(json.dumps(found), encoding="utf-8")
            for path, source in self.sources.items():
                self.write(path, source)
        return [
            Tried(name, spent, int(calls, 16)) for name, spent, calls in json.loads(kept.read_text(encoding="utf-8"))
        ]

    def blocks_run(self, mutant: Mutant) -> int:
        """A bit for each block that holds a mutant, or names what it makes."""
        holding = [block for block in self.blocks if block.path == mutant.path and mutant.line in block.lines]
        if holding and mutant.function:
            chosen = {min(holding, key=lambda block: len(block.lines))}
        else:
            around = [block for block in self.made if block.path == mutant.path and mutant.line in block.lines]
            names = set(min(around, key=lambda block: len(block.lines)).makes) if around else set()
            while more := {name for block in self.made if block.words & names for name in block.makes} - names:
                names |= more
            chosen = {block for block in self.blocks if block.words & names}
            chosen |= {
                block
                for block in self.blocks
                for own in around
                if block.path == own.path and block.lines[0] in own.lines
            }
        return sum(1 << number for number, block in enumerate(self.blocks) if block in chosen)

    def judged(self, mutant: Mutant, tests: Sequence[Tried], warm: socket.socket) -> str:
        """The test that noticed a mutant, or how it ended; `""` where it survived."""
        wanted, stem = self.blocks_run(mutant), Path(mutant.path).stem
        able, spent = [], 0.0
        of_rooms = tuple(f"tests/{room}/" for room in ROOMS)  # they may read a constant and run nothing
        reading = [test for test in tests if stem in test.name or (not test.calls and test.name.startswith(of_rooms))]
        outside = [test for test in reading if not mutant.function and not test.calls & wanted]
        callers = [*outside, *(test for test in tests if test.calls & wanted)] or tests
        order = {test: (stem not in test.name, test.calls.bit_count(), test.seconds) for test in callers}
        for test in sorted(callers, key=lambda test: (WHOLE not in test.name, *order[test])):
            if spent + test.seconds <= MOST_S:
                able.append((test.name, 20 + 10 * test.seconds))
                spent += test.seconds
        if not able:
            return ""
        files = list(dict.fromkeys(name.partition("::")[0] for name, _ in able))
        able.sort(key=lambda test: (WHOLE in test[0], files.index(test[0].partition("::")[0])))
        self.write(mutant.path, mutant.source)
        try:
            code, _, failed = self.ask(warm, (mutant.path, mutant.source), able)
            if code == UNABLE:
                anew = self.warm(files)
                if not anew.recv(MESSAGE):
                    return "no test can be imported"
                imported, failed = json.loads((self.work / "noted.json").read_text(encoding="utf-8"))
                if not failed:
                    code, _, failed = self.ask(anew, ("", ""), [test for test in able if test[0] in {*imported}])
                else:
                    code = 0
                anew.close()
            return failed[0] if failed else f"ended with {code}" if code else ""
        finally:
            self.write(mutant.path, self.sources[mutant.path])


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
    print(f"{len(tests)} tests run {len(bench.blocks)} blocks", flush=True)
    counts: dict[str, Counter[str]] = {room: Counter() for room in ROOMS}
    warm = bench.warm(["tests", "bench"])
    warm.recv(MESSAGE)
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
