"""The intake of calls: model calls as logs keep them, each with its request and its answer, in any interface's form."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from ..model import ContextReset, Trace, grouped
from .decoded import as_dict
from .documents import Document
from .exchange import answers_of, conversation_in, instructions_in, tools_in
from .parts import Unread
from .prompts import Prompts, PromptThread, key_of
from .records import text
from .steps import ReadMessage

_INPUTS = ("input", "messages", "contents", "prompt", "inputText")
_REQUEST = {*_INPUTS, "instructions", "system", "tools", "functions", "model", "previous_response_id", "metadata",
            "previous_interaction_id", "user", "stream",
            "stream_options", "temperature", "top_p", "top_k", "max_tokens", "max_completion_tokens", "max_output_tokens", "tool_choice",
            "parallel_tool_calls", "response_format", "reasoning", "reasoning_effort", "thinking", "store", "include", "text", "seed", "stop",
            "stop_sequences", "n", "truncation", "service_tier", "prompt_cache_key", "betas", "context_management", "output_config", "verbosity",
            "anthropic_version", "presence_penalty", "frequency_penalty", "logprobs", "top_logprobs", "litellm_session_id", "safety_identifier",
            "systemInstruction", "system_instruction", "generationConfig", "toolConfig", "safetySettings", "cachedContent", "inferenceConfig",
            "additionalModelRequestFields", "guardrailConfig", "additionalModelResponseFieldPaths", "performanceConfig", "textGenerationConfig",
            "schemaVersion", "max_tokens_to_sample", "options", "format", "keep_alive"}  # fmt: skip
_ANSWER = {"output", "id", "object", "created_at", "completed_at", "status", "usage", "error", "incomplete_details", "background",
           "max_tool_calls", "billing", "prompt_cache_retention", "choices", "created", "system_fingerprint", "provider"}  # fmt: skip


@dataclass
class Call:
    """One model call: its instructions, what it was asked, what it answered (the turn, then what
    tools on the server gave back), and what is known of it. `tools` is None where the request names
    none.

    `after` names the answer that the prompt goes on from where the server kept the conversation,
    `name` is the answer's own.
    """

    system: list[ReadMessage]
    prompt: list[ReadMessage]
    answer: list[ReadMessage]
    tools: list[Any] | None = None
    model: str | None = None
    asked: float | None = None
    answered: float | None = None
    name: str | None = None
    after: str | None = None
    unread: Unread = field(default_factory=Unread)


def call_of(request: Any, answer: Any, *, body: bool = True) -> Call:
    """A call out of the bodies of its request and its answer, which may be one object; `body`: it holds nothing but
    these."""
    unread, asked = Unread(), as_dict(request)
    if body:
        unread.extra_keys(asked, _REQUEST | _ANSWER if request is answer else _REQUEST, "a request")
    system, prompt = instructions_in(asked, unread), conversation_in(asked, unread)
    answers = answers_of(answer, unread)
    unread.add("request whose input is not recorded", all(asked.get(key) is None for key in _INPUTS))
    return Call(
        system,
        prompt,
        answers,
        tools=tools_in(asked),
        model=text(asked.get("model")),
        name=text(as_dict(answer).get("id")),
        after=text(asked.get("previous_response_id")) or text(asked.get("previous_interaction_id")),
        unread=unread,
    )


class Calls:
    """Runs out of calls in the order they were made: one trace a session where calls share one,
    else one a conversation that grows."""

    def __init__(self, document: Document, reader: str) -> None:
        self.document, self.reader = document, reader
        # by an answer's name: the answer that it followed, what was new with it, its conversation and how long that was
        self.told: dict[str, tuple[str | None, list[ReadMessage], PromptThread | None, int]] = {}
        self.runs: dict[str, Prompts] = {}
        self.unread: dict[str, dict[str, int]] = {}
        self.skipped = Unread()

    def run(self, session: str = "") -> Prompts:
        """The run of a session so far."""
        return self.runs.setdefault(session, Prompts())

    def add(self, call: Call, session: str = "", agent: str | None = None) -> None:
        """One call more; `agent` is who made it, where that is known."""
        run = self.run(session)
        lost = call.after is not None and call.after not in self.told
        run.unread.add("call whose earlier conversation is not in the file", lost)
        if not call.answer:
            run.unread.add("call without an answer")
            return
        turn, *results = call.answer
        _, _, thread, length = self.told.get(call.after or "", (None, [], None, 0))
        system = [key_of(said) for said in call.system]
        follows = thread is not None and len(thread.keys) == length and thread.keys[: thread.task] == system
        run.ask(
            call.prompt if follows else [*call.system, *self._earlier(call.after), *call.prompt],
            turn,
            goes_on=thread if follows else None,
            results=results,
            agent=agent,
            tools=call.tools,
            asked=call.asked,
            answered=call.answered,
            model=turn.model or call.model,
        )
        if call.name is not None:
            thread, news = run.asked, [*call.prompt, *call.answer]
            self.told[call.name] = (call.after, news, thread, 0 if thread is None else len(thread.keys))
        counts = self.unread.setdefault(session, {})
        for what, count in call.unread.counts.items():  # prompts repeat what was there before: the most of one call
            counts[what] = max(counts.get(what, 0), count)

    def _earlier(self, name: str | None) -> list[ReadMessage]:
        parts: list[list[ReadMessage]] = []
        while name is not None and name in self.told:
            name, news, _, _ = self.told[name]
            parts.append(news)
            if len(parts) > len(self.told):  # answers that name each other in a circle
                break
        return [said for news in reversed(parts) for said in news]

    def skip(self, what: str) -> None:
        """Count a record that is left out, on the first trace."""
        self.skipped.add(what)

    def traces(self) -> list[Trace]:
        """The runs as traces, without ids; where calls share no session each thread is one.
        TraceError where there is none."""
        found: list[Trace] = []
        for session, run in self.runs.items():
            for what, count in self.unread.get(session, {}).items():
                run.unread.add(what, count)
            trace = run.trace(self.document, self.reader, meta={"session": session} if session else {})
            found.extend([trace] if session else _apart(trace))
        if self.skipped.counts and found:
            found[0] = msgspec.structs.replace(found[0], left_out={**found[0].left_out, **self.skipped.counts})
        if not found:
            raise self.document.fail("expected a call with its answer, got none — log requests and responses whole")
        return found


def _apart(trace: Trace) -> list[Trace]:
    """A trace a thread, its steps numbered anew; what was left out is said on the first."""
    found: list[Trace] = []
    for own in grouped((step.thread, step) for step in trace.steps).values():
        index = {step.index: at for at, step in enumerate(own)}
        steps = []
        for at, step in enumerate(own):
            changes: dict[str, Any] = {"index": at, "thread": "main"}
            if isinstance(step, ContextReset):
                changes["kept"] = tuple(index[kept] for kept in step.kept if kept in index)
            steps.append(msgspec.structs.replace(step, **changes))
        part = msgspec.structs.replace(trace, steps=tuple(steps), left_out={} if found else trace.left_out)
        found.append(part)
    return found
