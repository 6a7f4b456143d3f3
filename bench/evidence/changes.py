"""The changes of a text that shows a result: other values, altered lines, another exit code."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..model.scores import Finding
from ..text.exit_codes import exit_codes
from ..text.line_changes import is_same_form
from ..text.quantities import same_value
from .changed_fields import Changes, changed_fields
from .changed_lines import changed_lines
from .own_text import RewrittenResult
from .repeated import repeated

_NAME = re.compile(r"(?=\S*[\d_])[\w.@#-]{2,80}")
_SCALAR = re.compile(r"[-+]?[$€£]?\d[\d.,]*\s?[%\w]{0,3}|true|false|yes|no", re.IGNORECASE)


def changes_of(own: RewrittenResult) -> Changes:
    """The changes of one rewritten result."""
    return own.once("changes", lambda: _find_changes(own))


def _find_changes(own: RewrittenResult) -> Changes:
    """The changes of one rewritten result. A truncated one, or one with the same words in other
    lines, has no changed value. What differs and has a sign that the result never has cannot be
    read.
    """
    findings = [*_changed_scalar(own)]
    is_read = not own.is_encoded
    if own.gaps is None:
        fields = changed_fields(own)
        findings += fields.findings
        is_read = is_read and fields.is_read
        altered = [*changed_lines(own)]
        findings += (item for item in altered if is_same_form(item.text, item.was))
        is_read = is_read and all(is_same_form(item.text, item.was) for item in altered)
        findings += _changed_exit_codes(own)
    lines = own.session.result_lines(own.result.index)
    plain = [item for item in findings if not lines.is_coded(item.text)]
    return Changes([*plain, *repeated(own)], is_read and len(plain) == len(findings))


def _changed_exit_codes(own: RewrittenResult) -> Iterator[Finding]:
    """Yield an exit code that a text states for a result that states only others."""
    stated, codes = exit_codes(own.text), exit_codes(own.result.text)
    for code in stated if codes else ():
        if code not in codes:
            yield Finding(own.step, f"exit code {code}", f"exit code {codes[0]}")
            return


def _changed_scalar(own: RewrittenResult) -> Iterator[Finding]:
    """Yield the value of a result that consists of one value, if a text shows another of its
    kind."""
    shown, was = own.text.strip(), own.result.text.strip()
    is_name_cut = shown != was and was.startswith(shown) and _NAME.fullmatch(was) is not None
    are_scalars = _SCALAR.fullmatch(shown) and _SCALAR.fullmatch(was)
    if is_name_cut or (are_scalars and not same_value(shown, was)):
        yield Finding(own.step, shown, was)
