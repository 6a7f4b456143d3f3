"""Changed: a text shows a value, a key or a message differently from the recording."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...model import ToolCall, as_text, nested
from ...model.scores import Check, Finding
from ...text.excerpts import Excerpt
from ...text.omissions import omission_in
from ..dropped import selectively_dropped
from ..generated_text import GeneratedText, RewrittenResult
from ..of_replay import ReplayEvidence
from ..repeated import repeated
from ..result_diff import diff_of
from .findings import check_of
from .quoted import altered_quotes


def changed(evidence: ReplayEvidence) -> Check:
    """The check of fields that a message shows differently from what the tool returned, over the
    rewritten structured results.

    A value is compared with the one under the same key in the record of the result that agrees with
    the shown record most. Fewer digits, separators, another layout or order, and truncated text are
    not a change. An absent value is lost, not changed, and a null in its place is not checked; but
    an empty text claims that there is nothing, and a result is not the same as another one because
    a text says so. A key that the result does not have is a change, unless a legend in the same
    text says what it stands for.
    Changes are also: a line of a text with a word replaced or a negation dropped, an exit code that
    the result does not state, altered words of a person or the model, a user message with fewer
    words and no notice, altered arguments of a call, a single dropped turn of the model, and a turn
    under another role. No value counts as changed if as many texts cannot be read as have one: the
    strategy writes in a notation that the bench does not know.

    Source: https://arxiv.org/abs/2005.00661 (intrinsic errors of summaries)
    """
    unread = [it for it in evidence.rewritten if diff_of(it).unclear]
    altered = [it for it in evidence.rewritten if diff_of(it).changed]
    is_known_notation = len(altered) > len(unread)
    findings = [Finding(it.step, "", it.result.text) for it in evidence.emptied]
    for step in selectively_dropped(evidence):
        turn = evidence.messages.messages[evidence.index.full[step]]
        if turn.kind in ("user", "model") and not turn.tool_calls:
            findings.append(Finding(step, "", turn.text))
    looked_at = len(findings)
    for generated in evidence.generated_texts:
        if generated.message.kind == "model":
            looked_at += 1
            findings += _changed_calls(generated)
        if isinstance(generated, RewrittenResult):
            looked_at += 1
            findings += diff_of(generated).changed if is_known_notation else ()
            findings += repeated(generated)
        else:
            quotes = [*altered_quotes(generated)]
            looked_at += bool(quotes) and generated.message.kind != "model"
            findings += quotes
    return check_of(findings, looked_at, unchecked=[diff_of(it).unclear for it in unread])


def _changed_calls(generated: GeneratedText) -> Iterator[Finding]:
    """Yield the recorded calls that a message shows with other arguments."""
    step, messages = generated.step, generated.session.messages
    number = messages.index.full.get(-1 if step is None else step)
    recorded = messages.messages[number].tool_calls if number is not None else ()
    by_id = {call.id: call for call in recorded}
    for shown in generated.message.tool_calls:
        call = by_id.get(shown.id)
        if call is not None and not _is_same_call(shown, call):
            yield Finding(step, f"{shown.name} {shown.arguments}", f"{call.name} {call.arguments}")


def _is_same_call(shown: ToolCall, call: ToolCall) -> bool:
    """True if a shown call is the recorded one; its arguments may be shortened with a notice."""
    if shown.name != call.name:
        return False
    return _is_shortened(shown.arguments, call.arguments) or _is_beginning(
        shown.arguments, as_text(call.arguments)
    )


def _is_shortened(shown: Any, value: Any) -> bool:
    """True if a shown value is the recorded one, perhaps with a notice in place of parts of its
    texts."""
    if isinstance(shown, str) and isinstance(value, str) and shown != value:
        gaps = Excerpt(shown, value).gaps(lambda gap: omission_in(gap.words, value) != "")
        return gaps is not None and all(gap.words.strip() for gap in gaps)
    if isinstance(shown, dict) and isinstance(value, dict) and shown.keys() == value.keys():
        return all(_is_shortened(shown[key], value[key]) for key in value)
    if isinstance(shown, list) and isinstance(value, list) and len(shown) == len(value):
        return all(map(_is_shortened, shown, value))
    return type(shown) is type(value) and shown == value


def _is_beginning(shown: Any, arguments: str) -> bool:
    """True if a text in the shown arguments is the beginning of the recorded ones written as JSON,
    and a notice says that it is cut."""
    if not omission_in(as_text(shown), arguments):
        return False
    texts = ("".join(text.split()) for text in nested(shown) if isinstance(text, str))
    return any(map("".join(arguments.split()).startswith, filter(None, texts)))
