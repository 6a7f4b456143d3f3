"""A report as one HTML page.

No script, no network; readable on a phone, in the dark and on paper.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from importlib.resources import files

import jinja2
from markupsafe import Markup, escape

from ..model.errors import visible
from .blocks import CODE, Report, plain

_LONG_WORD = re.compile(r"[^\s`]{12,}|[^\s`]*_[^\s`]*")
_OPTION = re.compile(r"(?<![^\s`(])--[a-z][a-z-]*")
_LONGER = 30  # letters of a word that begins on a new line


def render(reports: Sequence[Report]) -> Iterator[str]:
    """The page of one report, or of an overview with the reports under it, in pieces."""
    return _environment().get_template("page.html").generate(first=reports[0], others=reports[1:])


@functools.cache
def _environment() -> jinja2.Environment:
    """The templates; in all texts control characters are made visible, then HTML is escaped."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(__package__, "templates"),
        autoescape=True,
        finalize=lambda value: visible(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {
        "breakable": breakable,
        "prose": prose,
        "plain": plain,
        "type": lambda value: type(value).__name__,
    }
    style = (files(__package__) / "templates" / "page.css").read_text(encoding="utf-8")
    environment.globals["style"] = Markup(style)
    return environment


def breakable(text: str) -> Markup:
    """An escaped text whose words may break, the longest only where they fill a line: any after
    `_`, long specs (with a `=`) between names and values, other long ones after `/.:,` too. Options
    do not break."""
    breaking = _LONG_WORD.sub(_with_breaks, str(escape(visible(text))))
    return Markup(_OPTION.sub(r'<span class="option">\g<0></span>', breaking))


def prose(text: str) -> Markup:
    """An escaped text as `breakable`, with what stands between backticks as code."""
    return Markup(CODE.sub(r"<code>\1</code>", str(breakable(text))))


def _with_breaks(word: re.Match[str]) -> str:
    places = r"[/+]|[=:,](?=\w)(?!\d)" if "=" in word[0] else r"[/_]|[.:,](?=\w)(?!\d)"
    breaking = re.sub(places, r"\g<0><wbr>", word[0])
    return f'<span class="long">{breaking}</span>' if len(word[0]) >= _LONGER else breaking
