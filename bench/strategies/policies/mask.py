"""The engine of policies that leave the conversation and show older tool results as a placeholder, and its presets.

A preset says which results are replaced. Where a project does not document its placeholder, the text is ours.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from ...model import Message
from ...plugins.registry import register
from .. import Edits, Window
from ..histories import (
    AtShare,
    Batched,
    Compactor,
    Count,
    PromptMessages,
    Repeated,
    Share,
    Turns,
    View,
    state,
    system_count,
    total,
)
from ..units import (
    Calls,
    answered,
    callers,
    dense_json,
    events_of,
    exchanged,
    langchain_tokens,
    messages_of,
    older,
    pydantic_ai_tokens,
    requests_of,
    results_of,
    tool_name,
    without_inputs,
)


class Mask(Compactor):
    """The engine: `replaced` gives the placeholder of each message that goes; as a view, or as edits of the history."""

    clear_tool_inputs = False
    placeholder = "[tool result cleared]"

    @abstractmethod
    def replaced(self, window: Window) -> dict[Message, Message]:
        """The messages that are replaced now, each with what stands in its place."""

    def view(self, window: Window) -> PromptMessages:
        instead = self.replaced(window)
        return exchanged(window.messages, instead) if instead else None

    def edit(self, window: Window) -> Edits | None:
        instead = self.replaced(window)
        return Edits(replace=instead) if instead else None

    def cleared(self, results: Sequence[Message], calls: Calls) -> dict[Message, Message]:
        """The placeholders of some results, with `clear_tool_inputs` the messages that call them without their arguments too."""
        instead = {message: self.rewritten(message, self.placeholder) for message in results}
        ids = [message.call_id for message in results if message.call_id in calls and message.call_id]
        if self.clear_tool_inputs:
            instead |= {calls[call_id][0]: without_inputs(calls[call_id][0], ids) for call_id in ids}
        return instead


@register("compactor", "clear_tool_uses")
class ClearToolUses(Mask, View):
    """Above `trigger` prompt tokens all tool results but the last `keep` are cleared: a placeholder stands in their place.

    A view, as the provider has it. With `trigger_tool_uses` the number of tool uses counts instead. Results of `exclude_tools` stay and do not
    count towards `keep`. Where clearing would free fewer than `clear_at_least` tokens, nothing is cleared.

    Source: Anthropic API, "Context editing", clear_tool_uses_20250919 (https://platform.claude.com/docs/en/build-with-claude/context-editing)

    >>> ClearToolUses(trigger=10, keep=1).tried("tool: one", "tool: two")
    ['tool: [tool result cleared]', 'tool: two']
    """

    trigger: Count = 100_000
    trigger_tool_uses: Count | None = None
    keep: Count = 3
    clear_at_least: Count = 0
    exclude_tools: tuple[str, ...] = ()
    clear_tool_inputs: bool = False
    placeholder: str = "[tool result cleared]"

    def replaced(self, window: Window) -> dict[Message, Message]:
        results = [message for message in window.messages if message.kind == "result"]
        uses = self.trigger_tool_uses
        if (window.tokens <= self.trigger) if uses is None else (len(results) <= uses):
            return {}
        calls = callers(window.messages)
        instead = self.cleared(
            older([m for m in results if tool_name(m, calls) not in self.exclude_tools], self.keep), calls
        )
        freed = sum(window.count(message) - window.count(new) for message, new in instead.items())
        return instead if freed >= self.clear_at_least else {}


@register("compactor", "langchain.clear_tool_uses")
class LangchainClearToolUses(Mask, View):
    """Above `trigger` tokens every tool result but the last `keep` becomes `placeholder`, from the oldest on.

    A view. System prompt and tool definitions count with `count="model"` alone. With `clear_at_least` it stops once that many are freed. Results
    of `exclude_tools` are not cleared but use up `keep`; so does a result whose call is not in the model message before it.

    Source: langchain 1.5.2, langchain/agents/middleware/context_editing.py (ClearToolUsesEdit)

    >>> LangchainClearToolUses(trigger=10, keep=1).tried("call read", "tool: one", "call read", "tool: two")
    ['call read', 'tool: [cleared]', 'call read', 'tool: two']
    """

    trigger: Count = 100_000
    clear_at_least: Count = 0
    keep: Count = 3
    clear_tool_inputs: bool = False
    exclude_tools: tuple[str, ...] = ()
    placeholder: str = "[cleared]"
    count: Literal["approximate", "model"] = "approximate"

    def replaced(self, window: Window) -> dict[Message, Message]:
        approximate, caller, freed = self.count == "approximate", None, 0
        count = langchain_tokens if approximate else window.count
        talk = window.messages[system_count(window.messages) :]
        if (total(count, talk) if approximate else window.tokens) <= self.trigger:
            return {}
        instead: dict[Message, Message] = {}
        left = sum(message.kind == "result" for message in window.messages) - self.keep
        for message in window.messages:
            caller = message if message.kind == "model" else caller
            if message.kind != "result":
                continue
            left -= 1
            call = next((call for call in caller.tool_calls if call.id == message.call_id), None) if caller else None
            if left < 0 or (self.clear_at_least and freed >= self.clear_at_least):
                break
            if call is None or caller is None or call.name in self.exclude_tools:
                continue
            changed = {message: self.rewritten(message, self.placeholder)}
            if self.clear_tool_inputs:
                changed[caller] = without_inputs(instead.get(caller, caller), [call.id])
            freed += sum(count(instead.get(old, old)) - count(new) for old, new in changed.items())
            instead |= changed
        return instead


@register("compactor", "pydantic_ai.clear")
class PydanticAiClear(Mask, Batched):
    """Above `max_tokens`, or `max_messages` since the last clearing, every tool result but those of the last `keep_pairs` calls is cleared.

    `max_fraction` of the window may stand for `max_tokens`. Where that would free fewer than `min_clear_tokens` nothing is cleared. Results of
    `exclude_tools` stay, and use up what is kept. The original has no default trigger; 100,000 is the one of its example.

    Source: pydantic-ai-harness 0.62.0, pydantic_ai_harness/compaction/_clear_tool_results.py (ClearToolResults)

    >>> PydanticAiClear(max_tokens=20, keep_pairs=0).tried("call read", "tool: " + "x" * 99)
    ['call read', 'tool: [tool result cleared]']
    """

    max_messages: Count | None = None
    max_tokens: Count | None = 100_000
    max_fraction: Share | None = None
    keep_pairs: Count = 3
    min_clear_tokens: Count = 0
    exclude_tools: tuple[str, ...] = ()
    clear_tool_inputs: bool = False
    placeholder: str = "[tool result cleared]"

    def replaced(self, window: Window) -> dict[Message, Message]:
        messages, calls, fraction = window.messages, callers(window.messages), self.max_fraction
        limit = self.max_tokens if fraction is None else int(fraction * window.max_tokens)
        above = limit is not None and pydantic_ai_tokens(messages) > limit
        if not above and (self.max_messages is None or self._since(messages) <= self.max_messages):
            return {}
        old = older([m for m in messages if m.kind == "result" and m.call_id in calls], self.keep_pairs)
        instead = self.cleared(
            [m for m in old if tool_name(m, calls) not in self.exclude_tools and m.text != self.placeholder], calls
        )
        freed = pydantic_ai_tokens(messages) - pydantic_ai_tokens(exchanged(messages, instead))
        return instead if freed >= self.min_clear_tokens else {}

    def _since(self, messages: Sequence[Message]) -> int:
        cleared = [any(m.kind == "result" and m.text == self.placeholder for m in run) for run in requests_of(messages)]
        return next((place for place, gone in enumerate(reversed(cleared)) if gone), len(cleared))


@register("compactor", "openhands.mask")
class OpenhandsMask(Mask, View):
    """Observations older than the last `window` events become `<MASKED>`.

    A view. With `calls="dropped"` a masked result takes its call with it, as in the original where the model calls tools natively: the call and all
    results of that message go, and a user's `<MASKED>` is left for each. The class itself has a window of 5.

    Source: openhands-ai 0.62.0, openhands/memory/condenser/impl/observation_masking_condenser.py; its configuration has 100

    >>> OpenhandsMask(window=1).tried("tool: one", "tool: two")
    ['tool: <MASKED>', 'tool: two']
    """

    window: Count = 100
    calls: Literal["kept", "dropped"] = "kept"
    placeholder = "<MASKED>"
    _alone: dict[Message, Message] = state(dict)

    def replaced(self, window: Window) -> dict[Message, Message]:
        old = [m for m in messages_of(older(events_of(window.messages), self.window)) if m.kind == "result"]
        instead = self.cleared(old, {})
        if self.calls == "kept":
            return instead
        users = {
            m: msgspec.structs.replace(new, role="user", call_id=None)
            for m, new in instead.items()
            if m not in self._alone
        }
        self._alone |= users
        return {message: self._alone[message] for message in old}

    def view(self, window: Window) -> PromptMessages:
        instead = self.replaced(window)
        if self.calls == "kept" or not instead:
            return exchanged(window.messages, instead) if instead else None
        gone, shown = {message.call_id for message in instead}, exchanged(window.messages, instead)
        broken = {m for m in shown if any(call.id in gone and not call.in_text for call in m.tool_calls)}
        lost = {call.id for message in broken for call in message.tool_calls}
        return [m for m in shown if m not in broken and not (m.kind == "result" and m.call_id in lost)]


@register("compactor", "swe_agent.last_n")
class SweAgentLastN(Mask, View):
    """All observations but the first and the last `n` become one line that says how many lines they had.

    A view. An observation is a tool result; the first is the task, which SWE-agent counts as one (the first user message here, else the first
    result). With `polling` above 1 the boundary moves only when that many more observations have come, so the cached prefix holds in between.

    Source: SWE-agent 1.1, sweagent/agent/history_processors.py (LastNObservations)

    >>> SweAgentLastN(n=1).tried("user: go", "tool: a", "tool: b")
    ['user: go', 'tool: Old environment output: (1 lines omitted)', 'tool: b']
    """

    n: Count = 5
    polling: Turns = 1

    def replaced(self, window: Window) -> dict[Message, Message]:
        task = next((message for message in window.messages if message.kind == "user"), None)
        seen = [message for message in window.messages if message is task or message.kind == "result"]
        old = seen[1 : max(0, len(seen) // self.polling * self.polling - self.n)]
        lines = {m: f"Old environment output: ({len(m.text.splitlines())} lines omitted)" for m in old}
        return {message: self.rewritten(message, line) for message, line in lines.items()}


@register("compactor", "gemini.mask")
class GeminiMask(Mask, Batched):
    """Tool results beyond the newest `protect_tokens` become a preview and a file's name, once `min_prunable_tokens` of them can go.

    The result that crosses the border goes too. The preview is the first and the last 250 characters of the result's JSON, or of a shell's output
    (`shell_tools`) the first and the last 10 lines. A result that would not become smaller stays, and so do those of `exempt` tools.

    Source: @google/gemini-cli-core 0.61.0, src/context/toolOutputMaskingService.ts

    >>> GeminiMask(protect_tokens=0, min_prunable_tokens=100).tried("tool: " + "x" * 4000, "assistant: ok")
    ['tool: <tool_output_masked>', 'assistant: ok']
    """

    protect_tokens: Count = 50_000
    min_prunable_tokens: Count = 30_000
    shell_tools: tuple[str, ...] = ("run_shell_command",)
    exempt: tuple[str, ...] = ("activate_skill", "ask_user", "enter_plan_mode", "exit_plan_mode")

    def replaced(self, window: Window) -> dict[Message, Message]:
        told = window.messages[: answered(window.messages)]
        calls, used, may_go = callers(told), 0.0, 0.0
        instead: dict[Message, Message] = {}
        for message in reversed(told):
            name = tool_name(message, calls) or ""
            if message.kind != "result" or name in self.exempt or "<tool_output_masked" in message.text:
                continue
            size = len(dense_json({"output": message.text}))
            tokens = (len(name) + size) / 4
            used += tokens if used <= self.protect_tokens else 0
            if used > self.protect_tokens:
                may_go += tokens
                masked = self.rewritten(message, self._preview(message, name))
                if len(dense_json({"output": masked.text})) < size:
                    instead[message] = masked
        return {} if may_go < self.min_prunable_tokens else instead

    def _preview(self, message: Message, name: str) -> str:
        lines = message.text.split("\n")
        preview = json.dumps({"output": message.text}, indent=2, ensure_ascii=False)
        if name in self.shell_tools:
            left_out = f"\n... [{len(lines) - 20} lines omitted] ...\n"
            preview = message.text if len(lines) <= 20 else "\n".join([*lines[:10], left_out, *lines[-10:]])
        elif len(preview) > 500:
            preview = f"{preview[:250]}\n... [TRUNCATED] ...\n{preview[-250:]}"
        path = f"tool-outputs/{name or 'tool'}_{message.call_id}.txt"
        return f"<tool_output_masked>\n{preview}\n\n[the whole is in {path}]\n</tool_output_masked>"


@register("compactor", "inspect.edit")
class InspectEdit(Repeated, AtShare):
    """Above `threshold` of the window every tool result but the last `keep_tool_uses` becomes `(Tool result removed)`.

    A tool use is a call with a result; those of `exclude_tools` are not cleared and do not count. Without `keep_tool_inputs` the call goes with
    its result, and the model's message says so in our words. A model's message at the end of the history goes. It acts up to four times while
    that helps. The original also drops older reasoning and what was written into a memory tool.

    Source: inspect-ai 0.3.285, inspect_ai/model/_compaction/edit.py

    >>> InspectEdit(keep_tool_uses=1).tried("call read", "tool: one", "call read", "tool: two")
    ['call read', 'tool: (Tool result removed)', 'call read', 'tool: two']
    """

    keep_tool_uses: Count = 3
    keep_tool_inputs: bool = True
    exclude_tools: tuple[str, ...] = ()

    def shown(self, messages: list[Message]) -> list[Message]:
        results, kept = results_of(messages), (*self.exclude_tools, "tool_search")
        calls = [call for message in messages for call in message.tool_calls]
        gone = older([call.id for call in calls if call.id in results and call.name not in kept], self.keep_tool_uses)
        if self.keep_tool_inputs:
            old = (results[call_id] for call_id in gone)
            left = exchanged(messages, {message: self.rewritten(message, "(Tool result removed)") for message in old})
        else:
            left = [_without(m, gone) for m in messages if m.kind != "result" or m.call_id not in gone]
        while left and left[-1].kind == "model":
            left.pop()
        return left


def _without(message: Message, gone: Iterable[str]) -> Message:
    """A model's message without these calls, each named in its text instead."""
    calls = tuple(call for call in message.tool_calls if call.id not in gone)
    names = [call.name for call in message.tool_calls if call not in calls]
    removed = [f"[call of {name} removed, with its result]" for name in reversed(names)]
    text = "\n".join([message.text, *removed] if message.text else removed)
    return msgspec.structs.replace(message, tool_calls=calls, text=text) if removed else message
