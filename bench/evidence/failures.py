"""Failures of tools: the words for failure and success, and failed results."""

from __future__ import annotations

import re
from typing import Any

from ..model import ToolResult, as_text
from ..text.exit_codes import exit_codes

FAILURE = re.compile(
    r"\b(?:errors?|fail(?:ed|s|ure|ing)?|exceptions?|traceback|denied|declined|refused|rejected|invalid|fatal|panic"
    r"|aborted|unable|unsuccessful|timed? ?out|timeout|missing|no such|cannot|can['’]t|could ?n[o']t|not (?:found|allowed|"
    r"possible|permitted|available|supported|exist|a valid)|unknown|unexpected|undefined|forbidden|unauthori[sz]ed)\b"
    r"|[A-Z]\w*(?:Error|Exception)\b|[❌✗✘]|\b(?:is_)?(?:ok|success)[\"']?\s*[:=]\s*false\b|\b(?:http|status(?:_?code)?)\W{1,4}[45]\d\d\b"
    r"|\bexit(?:ed)?\b\D{0,12}[1-9]",
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
_DENIED_AFTER = re.compile(
    r"[\"']?\s*[:=]\s*[\"']?(?:(?:false|null|0)\b|(?:no|none)\b(?! \w)|\[\]|\{\})", re.IGNORECASE
)
_STATUS = re.compile(r"(?:HTTP(?:/[\d.]+)? )?[45]\d\d [A-Z][a-z]+")
"""Matches the status with which a server refuses a request: 409 Conflict."""

_FAILED_FIELD = re.compile(
    r"(?:is_?|has_?)?(?:errors?|exceptions?|fail(?:ed|ures?)|traceback)(?:_?(?:code|details?|info|message|type))?"
    r": (?!(?:|0|false|none|no|null|n/a|-|\[\]|\{\})\Z)|(?:is_?)?(?:ok|success): false\Z"
    r"|\w*status(?:_?code)?: (?:[45]\d\d\b|error|fail)|\w+: \w*(?:error|exception): ",
    re.IGNORECASE | re.DOTALL,
)
"""Matches a field of data that reports a failure, as `key: value`."""

_BRIEF_CHARS = 400
"""The most characters of a text that counts as a failure by its words alone."""


def reports_failure(text: str) -> bool:
    """True if a text has a word for a failure that it does not deny.

    >>> texts = "it failed", "success: no failure", "did not fail", "errors: none", "error: no sale"
    >>> [reports_failure(text) for text in texts]
    [True, False, False, False, True]
    """
    return any(_is_meant(match, text) for match in FAILURE.finditer(text))


def _is_meant(failure: re.Match[str], text: str) -> bool:
    """True if a text does not deny a word for a failure."""
    before = text[max(0, failure.start() - 16) : failure.start()]
    return not _DENIED_BEFORE.search(before) and not _DENIED_AFTER.match(text, failure.end())


def _ends(text: str) -> str:
    """The first and the last lines of a text, which may state its own exit code; others may state
    that of something that the text is about."""
    lines = [line for line in text.split("\n") if line.strip()]
    return "\n".join(
        lines if len(lines) <= 2 * _END_LINES else lines[:_END_LINES] + lines[-_END_LINES:]
    )


_END_LINES = 4


def failed(result: ToolResult, value: Any) -> bool:
    """True if a result failed: by its exit code or its flag; else by a field of its data, or, if its
    value is None, by the first words of a short text.

    >>> texts = "Error: user not found", "2 rows", "<returncode>1</returncode>", "409 Conflict: taken"
    >>> [failed(ToolResult(index=0, call_id="a", function="f", seen=text), None) for text in texts]
    [True, False, True, True]
    """
    codes = exit_codes(_ends(result.text))
    if codes and not result.error:
        return codes[0] != 0
    if not result.success or result.error:
        return True
    if value is not None:
        return bool(failing_fields(value))
    text = result.text.lstrip("{[\"' \n")
    if len(text) >= _BRIEF_CHARS or _STATUS.match(text):
        return len(text) < _BRIEF_CHARS
    failure = FAILURE.match(text)
    return failure is not None and _is_meant(failure, text)


def failing_fields(value: Any) -> list[tuple[str, str]]:
    """The fields with which data report a failure, as (key, text). They may be in the only item of a
    list or mapping.

    >>> values = {"ok": False}, [{"error": "no seat"}], {"error": None}, {"errors": []}, {"failed": 0}
    >>> [failing_fields(value) for value in values]
    [[('ok', 'false')], [('error', 'no seat')], [], [], []]
    """
    items = [*value.values()] if isinstance(value, dict) else value
    fields = value.items() if isinstance(value, dict) else ()
    texts = ((str(key), as_text(item)) for key, item in fields)
    failing = [(key, text) for key, text in texts if _FAILED_FIELD.match(f"{key}: {text}")]
    is_wrapper = not failing and isinstance(items, list) and len(items) == 1
    return failing_fields(items[0]) if is_wrapper else failing
