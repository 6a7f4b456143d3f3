"""Failures of tools: the words for failure and success, and failed results."""

from __future__ import annotations

import re

from ..model import ToolResult
from ..text.exit_codes import exit_codes

FAILURE = re.compile(
    r"\b(?:errors?|fail(?:ed|s|ure|ing)?|exceptions?|traceback|denied|declined|refused|rejected|invalid|fatal|panic"
    r"|aborted|unable|unsuccessful|timed? ?out|timeout|missing|no such|cannot|can['’]t|could ?n[o']t|not (?:found|allowed|"
    r"possible|permitted|available|supported|exist|a valid)|unknown|unexpected|undefined|forbidden|unauthori[sz]ed)\b"
    r"|[A-Z]\w*(?:Error|Exception)\b|[❌✗✘]|\b(?:is_)?success[\"']?\s*[:=]\s*false\b|\bexit(?:ed)?\b.{0,12}[1-9]",
    re.IGNORECASE,
)
"""Words that report a failure."""

SUCCESS = re.compile(
    r"(?:\b(?:success(?:ful(?:ly)?)?|succeeded|ok|okay|done|completed?|passed|fine|worked|accepted|approved|confirmed)\b|[✅✓✔]|\[x\])"
    r"(?![\"']?\s*[:=]\s*[\"']?(?:false|no|none|null|0)\b)",
    re.IGNORECASE,
)
"""Words that claim a success."""

_DENIED_BEFORE = re.compile(
    r"(?:\b(?:no|not|never|without(?: any)?|0|zero)|n['’]t) $", re.IGNORECASE
)
_DENIED_AFTER = re.compile(r"[\"']?\s*[:=]\s*[\"']?(?:false|no|none|null|0)\b", re.IGNORECASE)
_STATUS = re.compile(r"(?:HTTP(?:/[\d.]+)? )?[45]\d\d [A-Z][a-z]+")
"""Matches the status with which a server refuses a request: 409 Conflict."""

_BRIEF_CHARS = 400
"""The most characters of a text that counts as a failure by its words alone."""


def reports_failure(text: str) -> bool:
    """True if a text has a word for a failure that it does not deny.

    >>> texts = "it failed", "success: no failure", "did not fail", "errors: none", "no such file"
    >>> [reports_failure(text) for text in texts]
    [True, False, False, False, True]
    """
    return any(
        not _DENIED_BEFORE.search(text[max(0, match.start() - 16) : match.start()])
        and not _DENIED_AFTER.match(text, match.end())
        for match in FAILURE.finditer(text)
    )


def _ends(text: str) -> str:
    """The first and the last lines of a text, which may state its own exit code; others may state
    that of something that the text is about."""
    lines = [line for line in text.split("\n") if line.strip()]
    return "\n".join(
        lines if len(lines) <= 2 * _END_LINES else lines[:_END_LINES] + lines[-_END_LINES:]
    )


_END_LINES = 4


def failed(result: ToolResult) -> bool:
    """True if a result failed: by its exit code, its flag, or a short text that says so.

    >>> texts = "Error: user not found", "2 rows", "<returncode>1</returncode>", "409 Conflict: taken"
    >>> [failed(ToolResult(index=0, call_id="a", function="f", seen=text)) for text in texts]
    [True, False, True, True]
    """
    codes = exit_codes(_ends(result.text))
    if codes and not result.error:
        return codes[0] != 0
    if not result.success or result.error:
        return True
    text = result.text.lstrip("{[\"' ")
    return len(text) < _BRIEF_CHARS and any(sign.match(text) for sign in (FAILURE, _STATUS))
