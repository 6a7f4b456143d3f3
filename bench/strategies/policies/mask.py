"""The engine of policies that leave the conversation and show older tool results as a placeholder, and its presets.

A preset says which results are replaced. Where a project does not document its placeholder, the text is ours.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Sequence
from typing import Literal

from ...model import Message
from ...plugins.registry import register
from .. import Edits, Window
from ..histories import Batched, Compactor, Count, PromptMessages, Repeated, Turns, View, system_count, total
from ..units import (
    Calls,
    answered,
    callers,
    dense_json,
    events_of,
    exchanged,
    langchain_tokens,
    older,
    pydantic_ai_tokens,
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
    """Above `max_tokens` every tool result but those of the last `keep_pairs` calls is cleared.

    Where that would free fewer than `min_clear_tokens` nothing is cleared. Results of
    `exclude_tools` stay, and use up what is kept. The original has no default trigger; 100,000 is
    the one of its example.

    Source: pydantic-ai-harness 0.62.0, pydantic_ai_harness/compaction/_clear_tool_results.py

    >>> PydanticAiClear(max_tokens=20, keep_pairs=0).tried("call read", "tool: " + "x" * 99)
    ['call read', 'tool: [tool result cleared]']
    """

    max_tokens: Count = 100_000
    keep_pairs: Count = 3
    min_clear_tokens: Count = 0
    exclude_tools: tuple[str, ...] = ()
    clear_tool_inputs: bool = False
    placeholder: str = "[tool result cleared]"

    def replaced(self, window: Window) -> dict[Message, Message]:
        messages, calls = window.messages, callers(window.messages)
        before = pydantic_ai_tokens(messages)
        if before <= self.max_tokens:
            return {}
        old = older([m for m in messages if m.kind == "result" and m.call_id in calls], self.keep_pairs)
        new = [m for m in old if tool_name(m, calls) not in self.exclude_tools and m.text != self.placeholder]
        instead = self.cleared(new, calls)
        freed = before - pydantic_ai_tokens(exchanged(messages, instead))
        return instead if freed >= self.min_clear_tokens else {}


@register("compactor", "openhands.mask")
class OpenhandsMask(Mask, View):
    """Observations older than the last `window` events become `<MASKED>`.

    A view. The class itself has a window of 5; its configuration has 100.

    Source: openhands-ai 0.62.0, openhands/memory/condenser/impl/observation_masking_condenser.py

    >>> OpenhandsMask(window=1).tried("tool: one", "tool: two")
    ['tool: <MASKED>', 'tool: two']
    """

    window: Count = 100
    placeholder = "<MASKED>"

    def replaced(self, window: Window) -> dict[Message, Message]:
        old = dict.fromkeys(older(events_of(window.messages), self.window))
        return self.cleared([message for message in old if message.kind == "result"], {})


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
class InspectEdit(Repeated):
    """Above `threshold` of the window results become `(Tool result removed)`, the last excepted.

    The last `keep_tool_uses` stay. A tool use is a call with a result; those of `exclude_tools` are
    not cleared and do not count. A model's message at the end of the history goes. It acts up to
    four times while that helps. The original also drops older reasoning and what was written into a
    memory tool.

    Source: inspect-ai 0.3.285, inspect_ai/model/_compaction/edit.py

    >>> InspectEdit(keep_tool_uses=1).tried("call read", "tool: one", "call read", "tool: two")
    ['call read', 'tool: (Tool result removed)', 'call read', 'tool: two']
    """

    keep_tool_uses: Count = 3
    exclude_tools: tuple[str, ...] = ()

    def once(self, messages: list[Message]) -> list[Message]:
        results, kept = results_of(messages), (*self.exclude_tools, "tool_search")
        calls = [call for message in messages for call in message.tool_calls]
        uses = [call.id for call in calls if call.id in results and call.name not in kept]
        old = [results[call_id] for call_id in older(uses, self.keep_tool_uses)]
        left = exchanged(messages, {m: self.rewritten(m, "(Tool result removed)") for m in old})
        while left and left[-1].kind == "model":
            left.pop()
        return left
