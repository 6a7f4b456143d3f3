"""How the time of measuring a text grows with its size: repeated patterns, each at 50 KB, 500 KB and 5 MB, through every stage that reads texts.

`python benchmarks/linear.py [--sizes 50,500,5000] [--only WORD,…] [--stages]` — a line a pattern: seconds of processor time at each size and the
ratio of each to the one before. Linear is 10 for ten times the size; above 12 the line ends in SLOW and the exit code is 1. Less than a
tenth of a second is too short for a ratio and counts as that. A stage has 60 seconds a pattern. `--stages` prints a line for each stage.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import itertools
import signal
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from bench.evidence.dependencies import DependencyFinder, suffixes
from bench.evidence.spoken import parts_of
from bench.model import ModelTurn, Source, SystemTurn, ToolCall, ToolResult, Trace, UserTurn
from bench.text.cut import without_halves
from bench.text.decode import NothingParsed, parse_prefix, unescape
from bench.text.fact_kinds import exit_codes, measures_of
from bench.text.facts import places_of
from bench.text.found_leaves import LabelsOf, TokensOf, match_read, names_of, read_held
from bench.text.leaves import Leaves, flatten
from bench.text.lossless import read_tables, write_tables
from bench.text.notices import notice, shown_count, stated_left_out, stated_totals
from bench.text.scripts import words_of_name
from bench.text.texts import Texts
from bench.text.wording import visible
from bench.tokens.counting import TokenCounter
from bench.traces.commands import commands_in, is_observation
from bench.traces.redaction import Redactor

LIMIT = 12.0
TOO_SHORT_S = 0.1
STAGE_S = 60

PATTERNS: dict[str, tuple[str, ...]] = {
    # name: (what begins the text, what is repeated, what ends it)
    "hyphened words": ("", "foo-bar-alpha-"),
    "dotted words": ("", "foo.bar."),
    "words at words": ("", "ab@cd@"),
    "small letters": ("", "a"),
    "capitals": ("", "A"),
    "capital, small": ("", "Ab"),
    "digits": ("", "7"),
    "digits, commas": ("", "123,456,"),
    "digits, dots": ("", "1.2."),
    "exponents": ("", "1e5-"),
    "dots": ("", "."),
    "dashes": ("", "-"),
    "escaped blanks": ("", "%20"),
    "slashes": ("", "/"),
    "path": ("", "/a.b-c"),
    "path up": ("", "../"),
    "tildes": ("", "~"),
    "schemes": ("", "http://"),
    "a scheme that goes on": ("", "a+b."),
    "URL with brackets": ("http://x/", ")"),
    "blanks": ("a", " "),
    "tabs": ("\t", "\t"),
    "line breaks": ("a", "\n"),
    "returns": ("a", "\r"),
    "blank runs": ("", "a" + " " * 40 + "b\n"),
    "fences not closed": ("", "```\nls\n"),
    "bash fences": ("", "```bash\n"),
    "double quotes": ("", '"'),
    "quote, word": ("", '"a '),
    "single quotes": ("", "'"),
    "backslashes": ("", "\\"),
    "brackets": ("", "["),
    "braces": ("", '{"a":'),
    "brackets, closed": ("", "[]"),
    "list of numbers": ("[", "1234,"),
    "cut string": ('{"a": "', "word 1234 "),
    "bars": ("| a |\n", "| 1 "),
    "table, one name": ("a,b\n", "a,b\n"),
    "wide table": ("a  b\n", "a  b  "),
    "rules": ("", "|---"),
    "Proper Names": ("", "Pietro Murano "),
    "Names of names": ("", "Bank of "),
    "hyphened names": ("", "Jean-Luc-"),
    "error lines": ("", "ValueError: "),
    "left out": ("", "5 more rows of 276 ... "),
    "numbers and nouns": ("", "12 of the 12 "),
    "units": ("", "1.5 mm"),
    "email": ("", "a.b@"),
    "email words": ("", "a@b.c-"),
    "keys": ("", "secret_key_"),
    "key, value": ("", "api_key="),
    "assignments": ("", "password: "),
    "packed": ("", "QUJDREVGR0hJSktMTU5PUFFS"),
    "packed pieces": ("", "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo="),
    "private key": ("-----BEGIN PRIVATE KEY-----", "AB"),
    "private keys": ("", "-----BEGIN PRIVATE KEY-----\n"),
    "cookies": ("cookie: ", "a=bbbb; "),
    "url passwords": ("", "ab://c:"),
    "Chinese": ("", "数据"),
    "emoji": ("", "🙂"),
    "combining": ("a", "\u0301"),
    "lone surrogates": ("", "\ud800"),
    "control": ("", "\x1b["),
    "headings": ("", "# A\n"),
    "number, blanks": ("5", " ", "more"),
    "more digits": (" more ", "7", "x"),
    "more, digits, commas": (" more ", "123,", "x"),
    "omitted, blanks": ("omitted", " ", "x"),
    "dots, a letter": ("", ".", "x"),
    "dotted number, a letter": ("", "1.", "1a"),
    "digits, commas, a letter": ("", "123,", "123a"),
    "name, blanks": ("Aa", " ", "x"),
    "execute, blanks": ("execute: a", " ", "x"),
    "backticks": ("", "`"),
    "unopened output": ("</output>", "<output>"),
    "exceptions": ("<exception>", "</exception>  "),
    "URL keys": ("?", "key=q8Zr2LmW0xKt5VbN&"),
    "JWT heads": ("", "eyJ-"),
    "sentence openers": ("", "Here "),
    "copied words": ("", "marianas trench bottom "),
    "table that is none": ("", "a b\n", "a b x"),
    "names of rows": ("", '"a" b '),
    "@table": ('[{"@table":1}]\n@table 1: 999999 rows\na', "\n1"),
    "keyed lines": ("", "rows: 471\n"),
    "one word": ("", "word "),
    "small objects": ("[", '{"a":1},'),
    "Markdown table": ("| name | n |\n|---|---|\n", "| foo | 12 |\n"),
    "coloured words": ("", "\x1b[31mred\x1b[0m "),
    "CRLF": ("", "word 12\r\n"),
    "words with accents": ("", "e\u0301a\u0308"),
    "base64 lines": ("", "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHU=\n"),
    "PEM blocks": ("", "-----BEGIN RSA PRIVATE KEY-----\nMIIEabc\n-----END RSA PRIVATE KEY-----\n"),
    "a=1;": ("", "a=1;"),
    "families": ("", "👩\u200d👩\u200d👧"),
    "ladder": ("", "1,1,1,"),
    "quotes in turn": ("", "'\""),
    "YAML anchors": ("", "a: &a *a\n"),
    "XML, open": ("", "<a>"),
    "escaped breaks": ("", "\\n"),
    "escaped letters": ("", "%C3%A9"),
    "keys of JSON": ("", '"key":'),
    "timestamps": ("", "2024-01-01T00:00:00Z "),
    "log lines": ("", "2024-01-01 12:00:00,123 INFO foo.bar: did 12 things in 3.5 s\n"),
    "list": ("", "* a\n"),
    "tabbed": ("a\tb\n", "1\t2\n"),
    "closed fences": ("", "```\nls\n```\n"),
    "tags of results": ("", "<returncode>"),
    "identifiers": ("", "123e4567-e89b-12d3-a456-426614174000 "),
    "mappings": ("see ", '{"a": "b\\n"} '),
    "open lists": ("see ", '{"a":[1,'),
    "fields": ("see ", "f(a='b\\n') "),
    "lines of lists": ("see\n", "[1,\n"),
    "sentences": ("", "The survey of the north wall took 12.5 hours and found 471 rows. "),
}


def trace_of(text: str) -> Trace:
    """A run in which everybody says a text."""
    call = ToolCall(id="c", name="bash", arguments={"command": text})
    return Trace(
        id="linear",
        source=Source(format="native"),
        steps=(
            SystemTurn(index=0, content="You read texts."),
            UserTurn(index=1, content=text),
            ModelTurn(index=2, content=text, tool_calls=(call,)),
            ToolResult(index=3, call_id="c", function="bash", seen=text),
            ModelTurn(index=4, content="rows: 471, a 12"),
        ),
    )


_LEAVES = flatten([{"a": 1, "b": "rows", "rows": 471}, {"a": 12, "b": "a", "rows": 1234}])


def _read_back(text: str, texts: Texts) -> None:
    read_held(text, names_of(_LEAVES))
    match_read(_LEAVES, [text])


def _prefix(text: str, texts: Texts) -> None:
    with contextlib.suppress(NothingParsed):
        flatten(parse_prefix(text)[0])


def _tables(text: str, texts: Texts) -> None:
    try:
        read_tables(write_tables([{"a": text, "b": 1}] * 2))
        read_tables(text)
    except NothingParsed:
        pass


def _said(text: str, texts: Texts) -> None:
    parts_of(ModelTurn(index=0, content=text, tool_calls=(ToolCall(id="c", name="f", arguments={"a": text}),)))
    suffixes(text)
    commands_in(text)
    is_observation(text)


def _facts(text: str, texts: Texts) -> None:
    texts.facts(text)
    texts.numbers(text)
    texts.flat(text)


def _presence(text: str, texts: Texts) -> None:
    texts.missing(text, ["a-b", "foo", "foo-bar-alpha", "the north wall", "471", "1.5", "-", "a", "a a"])
    for fact in ("foo", "a b", "471", "--", "aa"):
        for _ in places_of(text, fact):
            pass


def _tokens_of(text: str, texts: Texts) -> None:
    TokensOf(["a", "12", "rows", "[]", "a a", "1.2"], texts)(text)
    LabelsOf([Leaves(others=[(("rows",), (int, 471)), (("a",), (int, 12)), (("b-a",), (str, "a"))])], texts)(text)


def _dependencies(text: str, texts: Texts) -> None:
    steps = (UserTurn(index=0, content=text), ModelTurn(index=1, content=text), ModelTurn(index=2, content=text))
    trace = Trace(id="linear", source=Source(format="native"), steps=steps)
    DependencyFinder(trace, texts).find(lambda said: (), lambda result: result.text)


def _notices(text: str, texts: Texts) -> None:
    notice([text, text[:-3]], text, texts)
    notice([text], text[: len(text) // 2], texts)
    stated_totals(text), stated_left_out(text), shown_count(text)


STAGES: dict[str, Callable[[str, Texts], Any]] = {
    # in the order of a run: what one stage has read of a text the next ones need not read again
    "facts": _facts,
    "presence": _presence,
    "prefix": _prefix,
    "unescape": lambda text, texts: unescape(text),
    "read back": _read_back,
    "lossless": _tables,
    "cut": lambda text, texts: without_halves(text[: len(text) // 2] + "…" + text[-20:], text),
    "leaf tokens": _tokens_of,
    "notices": _notices,
    "measures": measures_of,
    "exit codes": lambda text, texts: exit_codes(text),
    "said": _said,
    "dependencies": _dependencies,
    "words": lambda text, texts: words_of_name(text),
    "visible": lambda text, texts: visible(text),
    "tokens": lambda text, texts: TokenCounter().text(text),
    "redaction": lambda text, texts: Redactor(emails=True, homes=True).trace(trace_of(text)),
}


class TooLong(BaseException):
    """A stage that had its time."""


def _ring(*_: object) -> None:
    raise TooLong


def seconds(work: Callable[[str, Texts], Any], text: str, texts: Texts) -> float:
    """Processor time that a stage takes for a text; infinite where it was stopped."""
    gc.collect()
    start = time.process_time()
    signal.setitimer(signal.ITIMER_VIRTUAL, STAGE_S)
    try:
        work(text, texts)
    except TooLong:
        return float("inf")
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return time.process_time() - start


def repeated(name: str, size: int) -> str:
    """The text of a pattern with so many characters."""
    head, unit, *tail = PATTERNS[name]
    return (head + unit * (size // len(unit) + 1))[:size] + "".join(tail)


def ratios(times: list[float]) -> Iterator[float]:
    """How many times as long as before each size takes; what is too short counts as the shortest time."""
    for before, after in itertools.pairwise(times):
        yield after / max(before, TOO_SHORT_S)


def measured(name: str, stages: list[str], sizes: list[int]) -> dict[str, list[float]]:
    """Seconds of each stage at each size."""
    found: dict[str, list[float]] = {stage: [] for stage in stages}
    for size in sizes:
        text, texts = repeated(name, size), Texts()
        for stage, times in found.items():
            stopped = times and times[-1] > STAGE_S
            times.append(float("inf") if stopped else seconds(STAGES[stage], text, texts))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="50,500,5000", help="in thousands of characters")
    parser.add_argument("--only", default="", help="patterns and stages whose names hold one of these words")
    parser.add_argument("--stages", action="store_true", help="a line for each stage")
    options = parser.parse_args()
    sizes = [1000 * int(size) for size in options.sizes.split(",")]
    words = [word for word in options.only.split(",") if word]
    signal.signal(signal.SIGVTALRM, _ring)
    TokenCounter().text("warm")
    worst, slow, patterns = 0.0, 0, 0
    for name in PATTERNS:
        chosen = [stage for stage in STAGES if not words or any(word in f"{name}/{stage}" for word in words)]
        if not chosen:
            continue
        of_stages = measured(name, chosen, sizes)
        if max(ratios([sum(column) for column in zip(*of_stages.values(), strict=True)]), default=0) > LIMIT:
            again = measured(
                name, chosen, sizes
            )  # what else runs on a machine costs caches: the shorter of two times counts
            of_stages = {stage: list(map(min, times, again[stage])) for stage, times in of_stages.items()}
        totals = [sum(column) for column in zip(*of_stages.values(), strict=True)]
        patterns, worst = patterns + 1, max([worst, *ratios(totals)])
        slow += _printed(name, totals)
        for stage, times in of_stages.items() if options.stages else ():
            _printed(f"  {name}/{stage}", times)
    print(f"{patterns} patterns, {slow} slow, the worst ratio {worst:.1f}")
    return 1 if slow else 0


def _printed(label: str, times: list[float]) -> bool:
    grown = list(ratios(times))
    slow = any(ratio > LIMIT for ratio in grown)
    figures = "  ".join(f"{value:8.2f} s" for value in times)
    print(f"{label:36} {figures}   {'  '.join(f'{ratio:5.1f}x' for ratio in grown)}{'   SLOW' * slow}", flush=True)
    return slow


if __name__ == "__main__":
    sys.exit(main())
