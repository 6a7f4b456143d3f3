"""Document 002, "Summarize and Store Commands Separately": the rule of today, the proposed one, and that as it was built."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...model import Message
from ...model.errors import StrategyError
from ...plugins.registry import register
from .. import Edits, Window, Written
from ..engines import AtShare, Parts, Summarising, Summary, state
from ..histories import cut_to, split_old, summary_message, total, worth_summarising
from ..settings import Count, Share


@register("compactor", "summarize_old")
class SummarizeOld(AtShare, Summary):
    """`[system, summary, last 8]` once the prompt reaches a share of the window.

    Everything older becomes one summary message, an earlier summary too. All prompt tokens count,
    framing and tool definitions included. The rule counts messages, so a tool call can be cut from
    its result. Where nothing is older than the last `keep_last`, nothing changes.

    Source: 002 Current Behavior

    >>> SummarizeOld(keep_last=1).tried("user: 0", "user: 1", "user: 2")
    ['user: Summary of 2 earlier messages:', 'user: 2']
    """

    threshold: Share = 0.8
    keep_last: Count = 8

    def divided(self, window: Window) -> Parts | None:
        if window.tokens < self.limit(window):
            return None
        parts = split_old(window.messages, self.keep_last)
        return parts if worth_summarising(parts[1]) else None


_EXECUTE = re.compile(r"execute:\s*(.+?)(?:\n|$)")
_LABEL = re.compile(r"^Command result:\s?")


@dataclass(frozen=True)
class Executed:
    """One executed command: its number (from 1), itself, and what it gave."""

    number: int
    command: str
    result: str

    def text(self, result_chars: int | None, label: str = "Result", *, always_dots: bool = True) -> str:
        """Return the command and its result, cut at `result_chars` (None: in full) and followed by `...`.

        Not with `always_dots`: dots stand only where the result was cut, and a command without a result stands alone.
        """
        result = self.result[:result_chars]
        if not (always_dots or result):
            return f"Step {self.number}: {self.command}"
        dots = result_chars is not None and (always_dots or len(self.result) > result_chars)
        return f"Step {self.number}: {self.command}\n{label}: {result}{'...' if dots else ''}"


def _history(entries: list[str]) -> Message:
    return summary_message("Command History:\n" + "\n\n".join(entries))


def parts_of(window: Window, conversation: int, commands: Iterable[Message]) -> dict[str, int]:
    """Return the tokens of conversation and commands, counted separately."""
    history = total(window.count, commands)
    return {"conversation": conversation, "command_history": history, "total": conversation + history}


class CommandHistory:
    """The commands executed so far (`entries`), and the messages that hold them (`messages`). A command is a tool call or `execute: <command>`.

    A label `Command result:` before a result is no part of it.
    """

    def __init__(self) -> None:
        self.entries: list[Executed] = []
        self.messages: set[Message] = set()
        self._by_call: dict[str, str] = {}
        self._pending: str | None = None  # a command in text whose result is the next message

    def take(self, message: Message) -> None:
        pending, self._pending = self._pending, None
        if message.kind == "result" or (pending is not None and message.kind == "user"):
            command = self._by_call.get(message.call_id or "", pending or "(not recorded)")
            result = _LABEL.sub("", message.text, count=1)
            self.entries.append(Executed(len(self.entries) + 1, command, result))
            self.messages.add(message)
        elif message.kind == "model":
            written = _EXECUTE.search(message.text)
            for call in message.tool_calls:
                self._by_call[call.id] = call.command
            if written and not message.tool_calls:
                self._pending = written.group(1).strip()
            if written or message.tool_calls:
                self.messages.add(message)


@register("compactor", "separate_commands")
class SeparateCommands(AtShare, Summarising):
    """`[system, summary, later messages, command history]`: conversation is summarised as it ages, commands and their results are not.

    A command is a tool call or `execute: <command>`; it and its result are left out of what is summarised. Triggered as `summarize_old` is. From
    then on every prompt ends with the command history, in full while it costs at most `full_below` tokens, else its `last` entries, each result cut
    at `result_chars` and followed by `...`, as the document does even where nothing was cut. Commands among the last messages are shown in both.
    Token counts are kept as parts.

    Source: 002 Proposed Smart Strategy

    >>> SeparateCommands(keep_last=1).tried("call ls", "tool: a.txt", tokens=90)
    ['tool: a.txt', 'user: Command History:']
    """

    threshold: Share = 0.8
    keep_last: Count = 8
    full_below: Count = 2000
    last: Count = 20
    result_chars: Count = 200
    _commands: CommandHistory = state(CommandHistory)
    _triggered: bool = state(bool)
    _full_fits: bool = state(lambda: True)
    _history: Message | None = state(lambda: None)  # the command history of the last prompt

    def compact(self, window: Window) -> Edits | None:
        for message in window.added:
            self._commands.take(message)
        earlier = self._history
        conversation = window.tokens - (0 if earlier is None else window.count(earlier))
        shown = self._formatted(window) if self._triggered else None
        notes: tuple[str, ...] = ()
        if conversation + (0 if shown is None else window.count(shown)) >= self.limit(window):
            messages = [message for message in window.messages if message is not earlier]
            system, old, recent = split_old(messages, self.keep_last)
            if worth_summarising(old):
                return self._compacted(window, conversation, system, old, recent)
            notes = (f"{window.tokens} tokens, but nothing is older than the last {self.keep_last} messages",)
        self._history = shown
        return Edits(
            replace={} if earlier is None else {earlier: None},
            append=() if shown is None else (shown,),
            notes=notes,
            parts=parts_of(window, conversation, () if shown is None else (shown,)),
        )

    def _compacted(
        self, window: Window, conversation: int, system: list[Message], old: list[Message], recent: list[Message]
    ) -> Edits:
        self._triggered = True
        talk = [message for message in old if message not in self._commands.messages]
        written = (self.write(talk, window),) if worth_summarising(talk) else ()
        summary = [summary_message(item.text) for item in written] or [m for m in talk if m.kind == "made"]
        self._history = self._formatted(window)
        history = [] if self._history is None else [self._history]
        conversation += total(window.count, summary) - total(window.count, old)
        summarised = len(talk) if written else 0
        return Edits(
            messages=[*system, *summary, *recent, *history],
            written=written,
            notes=(f"{window.tokens} tokens: {len(old)} old messages left, {summarised} of them summarised",),
            parts=parts_of(window, conversation, history),
        )

    def _formatted(self, window: Window) -> Message | None:
        """Return the command history as the next prompt shows it; None where nothing was executed."""
        entries = self._commands.entries
        if not entries:
            return None
        if self._full_fits:
            # the results have been counted as messages: where they alone cost twice what may be shown, the whole need not be
            if sum(window.count(entry.result) for entry in entries) <= 2 * self.full_below:
                message = _history([entry.text(None) for entry in entries])
                if window.count(message) <= self.full_below:
                    return message
            self._full_fits = False  # entries only join: it never fits again
        return _history([entry.text(self.result_chars) for entry in entries[max(0, len(entries) - self.last) :]])


_EXECUTE_LINE = re.compile(r"execute:[^\n]*")


@register("compactor", "separate_commands_deployed")
class SeparateCommandsDeployed(AtShare, Summarising):
    """The whole history and the last `last` commands, until a trigger; then `[system, summary, summary of commands, last 8, last 5 commands]`.

    The trigger: the messages reach `threshold` of `max_tokens`, there are more than `more_than` of them, and they use at least `rise` more of
    `max_tokens` than they did when last summarised; it does not count the command message. Old messages that are no command messages are
    summarised, each cut at `message_chars` first; without one nothing happens. All commands but the last `keep_commands` are summarised from the
    commands themselves, never from an earlier summary. The new history then stands: the command message in it gets no new commands until the next
    trigger.

    A result that comes without the mark `Command result:` is conversation (`is_command`). Where the writer fails, the system messages and the last
    `keep_last` stay; where it fails on the commands alone, these are gone; a note says why. While any message says "Command History", as the agent
    itself may, no command message is added. A tool call can be cut from its result. Token counts are kept as parts.

    Source: 002 Proposed Smart Strategy, as one deployment has it

    >>> SeparateCommandsDeployed().tried("call ls", "tool: a.txt", tokens=11)
    ['call ls', 'tool: a.txt', 'user: Command History:']
    """

    threshold: Share = 0.8
    keep_last: Count = 8
    more_than: Count = 10
    rise: Share = 0.1
    last: Count = 20
    keep_commands: Count = 5
    result_chars: Count = 300
    message_chars: Count = 500
    old_result_chars: Count = 1000
    around_chars: Count = 50
    _commands: CommandHistory = state(CommandHistory)
    _summarised_at: float | None = state(lambda: None)  # the tokens at the last trigger
    _appended: tuple[Message, ...] = state(tuple)  # the command message of the last prompt, before the first trigger
    _of_commands: tuple[Message, ...] = state(tuple)  # what the history holds about commands, after it
    _naming: set[Message] = state(set)  # messages that say "Command History"

    def compact(self, window: Window) -> Edits:
        for message in window.added:
            self._commands.take(message)
        self._name(window.added)
        earlier = self._appended
        messages = [message for message in window.messages if message not in earlier]
        tokens = window.tokens - total(window.count, earlier)
        if self._due(window, tokens):
            system, old, recent = split_old(messages, self.keep_last)
            talk = [message for message in old if not is_command(message, self.around_chars)]
            if talk and len(messages) > self.more_than:
                self._summarised_at = tokens
                return self._compacted(window, tokens, system, old, talk, recent)
        if self._of_commands:
            talked = tokens - total(window.count, self._of_commands)
            return Edits(parts=parts_of(window, talked, self._of_commands))
        named = bool(self._naming) and not self._naming.isdisjoint(messages)
        self._appended = () if named else self._formatted(self._commands.entries, self.last)
        replace = dict.fromkeys(earlier)
        return Edits(replace=replace, append=self._appended, parts=parts_of(window, tokens, self._appended))

    def _due(self, window: Window, used: float) -> bool:
        last = self._summarised_at
        return used >= self.limit(window) and (last is None or used >= last + self.limit(window, self.rise))

    def _name(self, messages: Iterable[Message]) -> None:
        self._naming.update(message for message in messages if "Command History" in message.text)

    def _compacted(
        self,
        window: Window,
        tokens: int,
        system: list[Message],
        old: list[Message],
        talk: list[Message],
        recent: list[Message],
    ) -> Edits:
        entries = self._commands.entries
        older = entries[: max(0, len(entries) - self.keep_commands)]
        notes = [f"{window.tokens} tokens: {len(talk)} messages and {len(older)} commands summarised"]
        written: list[Written] = []
        try:
            written.append(self.write([cut_to(message, self.message_chars) for message in talk], window))
        except StrategyError as error:
            notes = [
                f"{window.tokens} tokens, but the writer failed: the last {self.keep_last} messages stay ({error})"
            ]
            self._of_commands = tuple(message for message in self._of_commands if message in recent)
            self._appended = () if self._of_commands else self._formatted(entries, self.last)
            messages = [*system, *recent, *self._appended]
        else:
            summary = summary_message(written[0].text)
            of_older = self._of_older(older, window, written, notes)
            of_last = self._formatted(entries[len(older) :], len(entries) - len(older))
            messages = [*system, summary, *of_older, *recent, *of_last]
            self._of_commands, self._appended = (*of_older, *of_last), ()
            self._name((summary,))
        before, after = {*system, *old, *recent}, set(messages)
        tokens += total(window.count, after - before) - total(window.count, before - after)
        commands = (*self._of_commands, *self._appended)
        parts = parts_of(window, tokens - total(window.count, commands), commands)
        return Edits(messages=messages, written=written, notes=notes, parts=parts)

    def _of_older(
        self, older: list[Executed], window: Window, written: list[Written], notes: list[str]
    ) -> list[Message]:
        """Return the summary of the older commands; nothing where there are none, or where the writer fails."""
        if not older:
            return []
        texts = [entry.text(self.old_result_chars, always_dots=False) for entry in older]
        try:
            written.append(self.write([Message(role="user", kind="result", text=text) for text in texts], window))
        except StrategyError as error:
            notes.append(f"the writer failed on {len(older)} commands: they are gone ({error})")
            return []
        return [summary_message(written[-1].text)]

    def _formatted(self, entries: Sequence[Executed], last: int) -> tuple[Message, ...]:
        """Return the message that shows the last of some commands; none without commands."""
        last_ones = entries[max(0, len(entries) - last) :]
        shown = [entry.text(self.result_chars, "  Result", always_dots=False) for entry in last_ones]
        if len(entries) > last:
            shown.append(f"(Total {len(entries)} commands executed, showing last {last})")
        return (_history(shown),) if entries else ()


def is_command(message: Message, around_chars: int = 50) -> bool:
    """True if a message is one of a command or its result, as that deployment tells it from its text.

    >>> [is_command(Message(role="assistant", text=text, kind="model")) for text in ("execute: ls", "No more.", "x" * 51 + "execute: ls")]
    [True, False, False]
    >>> [is_command(Message(role="user", text=text, kind="user")) for text in ("Command result: a.txt", "<returncode>0</returncode>")]
    [True, False]
    """
    if "Command result:" in message.text:
        return True
    found = _EXECUTE_LINE.search(message.text)
    if found is None or message.role not in ("assistant", "user"):
        return False
    before, after = message.text[: found.start()].strip(), message.text[found.end() :].strip()
    return message.role == "user" or (len(before) <= around_chars and len(after) <= around_chars)
