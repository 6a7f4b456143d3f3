"""The scripted agent: every next command is computed from what the earlier ones printed, every sentence quotes what was found."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from .terminal_session import Answer, Transcript
from .terminal_workspace import DEFECTS, Defect

SYSTEM = """You are a maintenance agent with a shell in /workspace. In each turn write what you conclude from the last output, then one line
`execute: <command>` with a single bash command. You get back its return code and output. When the task is finished, answer without a command."""

TASK = """The tree src/ is a copy of some standard-library modules in which users reported defects; read NOTES.md first. For every ticket:
reproduce it with the tests in tests/, find the line that causes it, repair it, and show that the test passes. Then run all tests, write
CHANGES.md with one line per ticket, and report: each ticket with file, line and cause, the limits that NOTES.md asks for, the size of the tree,
and its largest module."""

_NUMBERED = re.compile(r"^\s*(\d+)\t(.*)$")


@dataclass(frozen=True)
class Repair:
    """What was found out about one ticket, kept for the final report."""

    ticket: str
    path: str
    line: int
    test: str
    cause: str
    users: int


def investigate(log: Transcript) -> None:
    """Run the whole session into `log`: survey, one investigation per ticket, audit of the limits, final report."""
    log.say("system", SYSTEM)
    log.say("user", TASK)
    survey = _survey(log)
    repairs = [repair(log, number, defect) for number, defect in enumerate(DEFECTS)]
    limits = _limits(log)
    _finish(log, survey, repairs, limits)


def _survey(log: Transcript) -> dict[str, str]:
    """Look around; gives what the final report needs much later."""
    listing = log.execute("Let me look around first.", "ls").output.split()
    notes = log.execute(
        f"There are {len(listing)} entries and {listing[0]} holds the task, so I read it in full before touching anything.",
        "cat NOTES.md",
    )
    tag, build = notes.search(r"Release tag: (\S+)\.").group(1), notes.search(r"Deadline build: (\d+)").group(1)
    tickets = re.findall(r"AUD-\d+", notes.output)
    log.execute(
        f"{len(tickets)} tickets, {tickets[0]} to {tickets[-1]}, for release {tag} (build {build}). "
        "I keep an untouched copy to compare with at the end.",
        "cp -r src before",
    )
    files = log.execute("Copied. Now the size of the tree.", "find src -name '*.py' | sort | wc -l").output.strip()
    sizes = log.execute(
        f"{files} Python files. Which are the large ones?",
        "find src -name '*.py' | sort | xargs wc -l | sort -rn | head -20",
    )
    total = sizes.search(r"(\d+) total").group(1)
    largest_lines, largest = sizes.search(r"^\s*(\d+) (src/\S+)").groups()
    names = log.execute(
        f"{total} lines in all; the largest module is {largest} with {largest_lines}. Its classes tell what it is for.",
        f"grep -n '^class ' {largest}",
    )
    first_line, first_class = names.search(r"^(\d+):class (\w+)").groups()
    log.execute(
        f"{len(names.lines)} classes, the first is {first_class} at line {first_line}.",
        f"sed -n '{int(first_line) - 6},{int(first_line) + 100}p' {largest}",
    )
    missing = log.execute(
        "The HTTP limits that NOTES.md asks for may sit in a module of constants.", "cat src/http/constants.py"
    )
    reason = missing.search(r"constants\.py: (.+)").group(1)
    log.execute(
        f"{reason}: there is no such module. What is in the package?", "ls src/http src/json src/urllib src/html"
    )
    constants = log.execute(
        "I search for whole-number constants instead, over the whole tree.",
        r"grep -rnE '^_?[A-Z][A-Z_]+ = [0-9]+( *#.*)?$' src | sort",
    )
    log.execute(
        f"{len(constants.lines)} constants; among them {constants.search(r'_MAXLINE = [0-9]+').group(0)} and "
        f"{constants.search(r'_MAXHEADERS = [0-9]+').group(0)}. I come back to them after the tickets. How are the modules tied together?",
        r"grep -rnhoE '^(import|from) [a-z_.]+' src | sed 's/^[0-9]*://' | sort | uniq -c | sort -rn | head -40",
    )
    covered = log.execute("Which of them are covered by tests?", "grep -n 'import' tests/*.py | grep -v unittest")
    suite = log.execute(
        f"{len(covered.lines)} test files. I run them all once to see how bad it is.",
        "python3 -m unittest discover -s tests -t . 2>&1",
    )
    counts = suite.search(r"FAILED \((.+)\)").group(1)
    log.execute(
        f"{counts}, and every ticket shows. Which exceptions can the HTTP client itself raise, since two tickets concern the web modules?",
        "grep -nE 'raise|except' src/http/client.py src/http/cookies.py src/urllib/parse.py",
    )
    return {
        "tag": tag,
        "build": build,
        "files": files,
        "total": total,
        "largest": largest,
        "largest_lines": largest_lines,
        "reviewer": notes.search(r"Reviewer: (\S+@\S+)\.").group(1),
    }


def repair(log: Transcript, number: int, defect: Defect) -> Repair:
    """One ticket: reproduce, locate, read, probe, look at the users, repair, test."""
    path = f"src/{defect.path}"
    test = f"python3 -m unittest tests.{defect.test} 2>&1"
    failing = log.execute(f"Ticket {defect.ticket} next: {defect.report}.", test)
    kind, case = failing.search(r"^(FAIL|ERROR): (\w+)").groups()
    message = failing.search(r"^[\w.]*(?:Error|Exception): ?(.*)$").group(0)[:110]
    test_line = failing.search(rf"{defect.test}\.py\", line (\d+)").group(1)
    log.execute(
        f"{case} gives {kind} with {message!r} at line {test_line} of tests/{defect.test}.py. What does it expect?",
        f"sed -n '{max(1, int(test_line) - 6)},{int(test_line) + 2}p' tests/{defect.test}.py",
    )
    where = log.execute(f"The behaviour belongs to `{defect.symbol}`.", f"grep -n '{defect.symbol}' {path}")
    start = int(where.search(r"^(\d+):").group(1))
    outline = log.execute(
        f"Line {start} of {path}. An outline shows what surrounds it.",
        f"grep -nE '^ *(def|class|async def) ' {path} | cut -c1-110",
    )
    near = [entry for entry in outline.lines if int(entry.split(":")[0]) <= start][-3:]
    names = ", ".join(re.sub(r"^(\d+): *(?:def|class) (\w+).*", r"\2 (\1)", entry) for entry in near)
    log.execute(
        f"{len(outline.lines)} definitions, just before it: {names}. The head of the module says how it is meant to be used.",
        f"sed -n '1,{200 + number * 9}p' {path}",
    )
    end = log.execute(
        f"`{defect.symbol}` starts at {start}; I need to know where it ends before I read it.",
        f"awk 'NR>{start + 12} && /^(def|class|@|[A-Z_]+ =)/ {{print NR; exit}}' {path}",
    ).output.strip()
    stop = min(int(end or start + 80) - 1, start + 125)
    body = log.execute(f"Lines {start} to {stop}, then.", f"nl -ba {path} | sed -n '{max(1, start - 95)},{stop}p'")
    probe = log.execute(
        "Before I blame a line I reproduce it outside the test, with the smallest input that shows it.",
        f"python3 -c {_quoted(defect.probe)}",
    )
    printed = probe.lines[-1][:120] if probe.lines else "nothing"
    line = _suspect(body, defect) or _suspect(
        log.execute(
            f"It prints {printed}. The lines I read only use the value, so I look for where it is set.",
            f"grep -n '{defect.suspect.rstrip('$')}' {path} | sed 's/:/\\t/'",
        ),
        defect,
    )
    if line is None:
        raise ValueError(f"{path}: no line holds {defect.suspect!r}")
    users = log.execute(
        f"It prints {printed}; line {line} decides that. Who else depends on `{defect.related}`?",
        f"grep -rn '{defect.related}' src tests | grep -v '^{path}:{line}:' | cut -c1-150",
    )
    files = sorted({entry.split(":")[0] for entry in users.lines})
    other = next((name for name in files if name.startswith("src/") and name != path), None)
    if other:
        used_at = int(users.search(rf"^{re.escape(other)}:(\d+):").group(1))
        log.execute(
            f"{len(users.lines)} more places in {len(files)} files, also {other} line {used_at}; does that one rely on the wrong value?",
            f"sed -n '{max(1, used_at - 60)},{used_at + 75}p' {other}",
        )
    for name in defect.extra:
        log.execute(f"And `{name}`?", f"grep -n -B4 -A14 '{name}' {path} | head -110")
    if defect.first_try:
        _wrong_try(log, defect, path, line, test)
    log.execute(
        f"{defect.why[0].upper()}{defect.why[1:]}. I change {path} line {line} only.",
        f"sed -i '{line}s#{defect.repair[0]}#{defect.repair[1]}#' {path}",
    )
    log.execute("Look at it.", f"sed -n '{line - 1},{line + 1}p' {path}")
    passed = log.execute("Test again.", test)
    count = passed.search(r"Ran (\d+) tests?").group(1)
    passed.search(r"^OK$")
    if number % 2:
        log.execute(
            f"All {count} tests of {defect.test} pass, {defect.ticket} is repaired at {path}:{line}. "
            f"The same probe that gave {printed[:40]!r} should now print something else.",
            f"python3 -c {_quoted(defect.probe)}",
        )
    return Repair(defect.ticket, path, line, defect.test, defect.why, len(users.lines))


def _wrong_try(log: Transcript, defect: Defect, path: str, line: int, test: str) -> None:
    """A first idea that turns out wrong, and is taken back from the untouched copy."""
    old, new = defect.first_try or ("", "")
    log.execute(f"My first idea is a change to line {line}.", f"sed -i '{line}s#{old}#{new}#' {path}")
    tried = log.execute("Test.", test)
    error = tried.search(r"^[\w.]*(?:[eE]rror|Exception): ?(.*)$").group(0)[:120]
    log.execute(
        f"That is wrong: {error!r}. I take it back from the copy and think again.",
        f"cp before/{path.removeprefix('src/')} {path}",
    )


def _suspect(answer: Answer, defect: Defect) -> int | None:
    """The number of the line that holds the suspect text, in output of `nl` or of `grep -n`."""
    for entry in answer.lines:
        found = _NUMBERED.match(entry)
        if found is None:
            continue
        text, wanted = found.group(2), defect.suspect
        if text.endswith(wanted[:-1]) if wanted.endswith("$") else wanted in text:
            return int(found.group(1))
    return None


def _quoted(code: str) -> str:
    """Python code as one shell word on one line."""
    return (
        "$" + "'" + code.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"
        if "\n" in code
        else shlex.quote(code)
    )


def _limits(log: Transcript) -> dict[str, str]:
    """Where the limits of NOTES.md are set and what they guard; gives name → `value at file:line`."""
    found: dict[str, str] = {}
    wanted = {
        "_MAXLINE": "src/http",
        "_MAXHEADERS": "src/http",
        "MAXLINESIZE": "src/quopri.py",
        "EPOCH_YEAR": "src/http",
    }
    for name, under in wanted.items():
        uses = log.execute(f"The tickets are done; now the limit {name}.", f"grep -rnw '{name}' {under}")
        path, line, value = uses.search(rf"^(?:(src/[^:]+):)?(\d+):{name} = (\d+)").groups()
        path = path or under
        found[name] = f"{value} at {path}:{line}"
        use = uses.search(rf"^(?:src/[^:]+:)?(?!{line}:)(\d+):.*{name}").group(1)
        block = log.execute(
            f"{name} is {found[name]}, used in {len(uses.lines) - 1} other places. What happens at line {use}, when it is exceeded?",
            f"sed -n '{max(1, int(use) - 70)},{int(use) + 90}p' {path}",
        )
        called = re.findall(r"def (\w+)", block.output)
        if called:
            log.execute(
                f"That is in {called[-1]}. Who calls it?", f"grep -rnw '{called[-1]}' src | cut -c1-140 | head -60"
            )
    return found


def _finish(log: Transcript, survey: dict[str, str], repairs: list[Repair], limits: dict[str, str]) -> None:
    """All tests, the comparison with the copy, CHANGES.md, and the report."""
    everything = log.execute("Everything together.", "python3 -m unittest discover -s tests -t . -v 2>&1")
    ran = everything.search(r"Ran (\d+) tests").group(1)
    changed = log.execute(f"{ran} tests, all OK. What differs from the copy?", "diff -r before src")
    hunks = re.findall(r"^\d+c\d+$", changed.output, re.MULTILINE)
    log.execute(
        f"{len(hunks)} changed lines for {len(repairs)} tickets, nothing else (diff answers {changed.returncode} because they differ). "
        "Is any leftover file around?",
        "find . -name '*.orig' -o -name '*.pyc' | grep .",
    )
    for first, repair in enumerate(repairs):
        sign = ">" if first == 0 else ">>"
        text = f"{repair.ticket} {repair.path}:{repair.line} {repair.cause}"
        log.execute("None." if first == 0 else "Next line.", f"printf '%s\\n' {shlex.quote(text)} {sign} CHANGES.md")
    written = log.execute("Read it back.", "cat CHANGES.md")
    log.execute(
        f"{len(written.lines)} lines. Are all tickets of NOTES.md in it?",
        "grep -oE 'AUD-[0-9]+' NOTES.md | while read t; do grep -q $t CHANGES.md || echo missing $t; done",
    )
    tree = log.execute(
        "None is missing. Last, the size after the repairs.", "find src -name '*.py' | sort | xargs cat | wc -l"
    ).output.strip()
    causes = "\n".join(
        f"- {r.ticket}: {r.path} line {r.line} (test {r.test}): {r.cause}; used in {r.users} other place{'s' if r.users > 1 else ''}."
        for r in repairs
    )
    bounds = "\n".join(f"- {name}: {value}" for name, value in limits.items())
    log.say(
        "assistant",
        f"All {len(repairs)} tickets for {survey['tag']} (build {survey['build']}, reviewer {survey['reviewer']}) are repaired "
        f"and {ran} tests pass.\n\n{causes}\n\n"
        f"Limits:\n{bounds}\n\nThe tree holds {survey['files']} Python files with {tree} lines ({survey['total']} before); "
        f"the largest module is {survey['largest']} with {survey['largest_lines']} lines.",
    )
