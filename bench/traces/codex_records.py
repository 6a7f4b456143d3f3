"""The records of a Codex rollout, and what they say of a tool's run and of token counts."""

from __future__ import annotations

import re
from typing import Annotated, Any

import msgspec

from ..model import Usage, compact_json
from .decoded import as_dict, strict_json
from .markers import cut_in
from .records import dict_in, text
from .steps import Ran

_CODE = re.compile(r"^(?:Process exited with code|Exit code:) *(-?\d{1,9})$", re.MULTILINE)


_TOOK = re.compile(r"^Wall time: *(\d{1,9}(?:\.\d{1,9})?) seconds$", re.MULTILINE)


_BODY = re.compile(r"^Output:\n", re.MULTILINE)


Count = Annotated[int, msgspec.Meta(ge=0)]


class Line(msgspec.Struct):
    """One line of a rollout."""

    type: str | None = None
    timestamp: Any = None
    payload: dict[str, Any] | None = None


class Item(msgspec.Struct):
    """One item of the Responses interface."""

    type: str | None = None
    id: str | None = None
    role: str | None = None
    content: Any = None
    status: str | None = None
    name: str | None = None
    call_id: str | None = None
    summary: Any = None
    author: str | None = None
    error: Any = None
    arguments: Any = None
    input: Any = None
    action: Any = None
    operation: Any = None
    code: Any = None
    queries: Any = None
    output: Any = None
    outputs: Any = None
    results: Any = None
    result: Any = None
    tools: Any = None

    @property
    def kind(self) -> str:
        """The type of the item; a message may leave it out."""
        return self.type or ("message" if self.role else "item")

    def first(self, *names: str) -> Any:
        """The first of some fields that is not null."""
        return next((held for name in names if (held := getattr(self, name)) is not None), None)


class TokenUsage(msgspec.Struct):
    """The tokens of one call, or of the session so far."""

    input_tokens: Count | None = None
    cached_input_tokens: Count | None = None
    output_tokens: Count | None = None
    reasoning_output_tokens: Count | None = None
    total_tokens: Count | None = None


class TokenInfo(msgspec.Struct):
    """What a token count says."""

    total_token_usage: TokenUsage | None = None
    last_token_usage: TokenUsage | None = None


def usage_of(count: TokenUsage | None) -> Usage | None:
    """The usage of a token count; None without an input."""
    if count is None or count.input_tokens is None:
        return None
    return Usage(
        prompt_tokens=count.input_tokens,
        completion_tokens=count.output_tokens or 0,
        cached_prompt_tokens=count.cached_input_tokens,
        reasoning_tokens=count.reasoning_output_tokens,
    )


def counts_first(lines: list[dict[str, Any]]) -> bool:
    """True if the session writes an answer's token count before the answer's items, as Codex 0.40 does: most counts stand after an output or a prompt
    and before an item of the model's. Empty ones and repeated ones, with which later versions begin a turn, say nothing."""
    order: list[bool | None] = []  # the model's items (True), others (False) and counts (None)
    total: Any = None
    for line in lines:
        payload = dict_in(line, "payload")
        kind = payload.get("type")
        if line.get("type") == "response_item" and payload:
            order.append(payload.get("role") == "assistant" or str(kind).endswith("_call") or kind == "reasoning")
        elif kind == "token_count":
            count = dict_in(payload, "info").get("total_token_usage")
            if count not in (None, total):
                total = count
                order.append(None)
    around = [(before, after) for before, at, after in zip(order, order[1:], order[2:], strict=False) if at is None]
    return around.count((False, True)) > sum(before is True for before, _ in around)


def run_of(shown: str, end: dict[str, Any] | None) -> Ran:
    """A tool's run by its output and by the event of its end: exit code, time, structured value, and the
    whole output where it was cut."""
    envelope = as_dict(strict_json(shown)) if shown.startswith("{") else {}
    metadata, start = dict_in(envelope, "metadata"), _BODY.search(shown)
    head = start.end() if start else 0
    stated, wall = _CODE.search(shown, 0, head), _TOOK.search(shown, 0, head)
    code = int(stated.group(1)) if stated else metadata.get("exit_code")
    took, cut = float(wall.group(1)) if wall else metadata.get("duration_seconds"), cut_in(shown) is not None
    if end is None:
        return Ran(failed=code not in (0, None), duration_s=_seconds(took), cut=cut)
    result, error = dict_in(end, "result", "Ok"), text(dict_in(end, "result").get("Err"))
    code = end.get("exit_code") if end.get("exit_code") is not None else code
    broken = end.get("success") is False or True in (result.get("isError"), result.get("is_error"))
    output, whole = end.get("aggregated_output"), None
    if cut and isinstance(output, str) and cut_in(output) is None and len(output) > len(shown) - head:
        whole = compact_json({**envelope, "output": output}) if envelope else shown[:head] + output
    return Ran(
        data=result.get("structuredContent") or result.get("structured_content"),
        whole=whole,
        failed=broken or code not in (0, None) or error is not None,
        error=error,
        duration_s=_seconds(end.get("duration"), took),
        cut=cut and whole is None,
    )


def _seconds(*values: Any) -> float | None:
    """The first of some durations that can be read: seconds, or whole seconds and nanoseconds."""
    for value in values:
        if type(value) in (int, float):
            return float(value)
        if isinstance(value, dict) and type(value.get("secs")) is int and type(value.get("nanos")) is int:
            return float(value["secs"] + value["nanos"] / 1e9)
    return None
