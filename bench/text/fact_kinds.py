"""Facts by kind beyond what the fact pattern tells apart: numbers with their unit, and the exit code of an envelope."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..model import grouped
from .texts import Texts

_UNIT = (
    r"(?:%|‰|°[CF]?|[kcmµμn]?m(?:²|³|\^?[23])?|[kKMGT]i?B|bytes?|[kmµμn]?g|[mµμn]?s|sec(?:onds?)?|min(?:utes?)?"
    r"|h(?:ours?)?|days?|[kMG]?Hz|[kM]?W|[mk]?V|K|px|ft|bp|[kM]b|USD|EUR|€|(?<=\d)[xX])"
)
_MEASURE = re.compile(rf"(\d(?<![\w.]\d)[\d.]*(?:[eE][-+]?\d+)?)[ \t\u00a0]?{_UNIT}(?!\w)")
_GLUED = re.compile(rf"\d[\d.]*{_UNIT}")
_EXIT_CODE = re.compile(
    r"(?i:return_?code|exit_?(?:code|status)|exit(?:ed)? (?:with )?(?:code|status))[\"']?(?:>|\s*[:=]\s*|\s+)(-?\d+)(?!\w)"
)
_EXIT_WORDS = ("code", "Code", "CODE", "status", "Status", "STATUS")
_MEASURED_CHARS = 200_000


def measures_of(text: str, texts: Texts | None = None) -> tuple[str, ...]:
    """The facts of a text that are numbers with a unit: a number fact that a unit follows somewhere, or a name made of both.

    Units are looked for in the first 200,000 characters.
    """
    texts = texts or Texts()
    facts = texts.facts(text)
    with_unit: set[str] = set()
    if "number" in facts.values():
        with_unit = {match.group(1) for match in _MEASURE.finditer(texts.plain(text)[:_MEASURED_CHARS])}
    return tuple(
        fact
        for fact, kind in facts.items()
        if (kind == "number" and fact in with_unit)
        or (kind == "name" and fact[0].isdigit() and _GLUED.fullmatch(fact) is not None)
    )


def exit_codes(text: str) -> tuple[int, ...]:
    """The exit codes that a text states, in order: `<returncode>`, `"exit_code":`, `exit status 1` and the like; `()` for none.

    >>> exit_codes("<returncode>0</returncode>"), exit_codes('{"exit_code": 127}'), exit_codes("run_1 exited with code 2"), exit_codes("code 3")
    ((0,), (127,), (2,), ())
    """
    found: dict[int, int] = {}
    for word in _EXIT_WORDS:
        position = text.find(word)
        while position >= 0:
            for match in _EXIT_CODE.finditer(text, max(0, position - 12), position + 40):
                found[match.start()] = int(match.group(1))
            position = text.find(word, position + 1)
    return tuple(code for _, code in sorted(found.items()))


def kinds_of(text: str, texts: Texts | None = None) -> dict[str, tuple[str, ...]]:
    """The facts of a text by kind: the kinds of the pattern, and `measure` for those that are numbers with a unit. `texts` reads the text.

    >>> kinds_of("36.5 mm in a/b.csv")
    {'number': ('36.5',), 'path': ('a/b.csv',), 'measure': ('36.5',)}
    """
    texts = texts or Texts()
    found = grouped((kind, fact) for fact, kind in texts.facts(text).items())
    found["measure"] = list(measures_of(text, texts))
    return {kind: tuple(facts) for kind, facts in found.items() if facts}


def states(texts: Iterable[str], code: int) -> bool:
    """True if any of the texts states an exit code."""
    return any(code in exit_codes(text) for text in texts)
