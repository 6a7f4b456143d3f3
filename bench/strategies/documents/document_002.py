"""Document 002, "Summarize and Store Commands Separately": the rules today, proposed and built."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...model import Message
from ...plugins.registry import register
from .. import NewHistory, Window, WrittenSummary
from ..engines import AtShare, Parts, Summary, WithWriter, state
from ..histories import older, split_old, summary_message, total, with_text, worth_summarising
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
        head, old, end = split_old(window.messages, self.keep_last)
        return (head, old, end) if worth_summarising(old) else None


# ---------------------------------------------------------------- commands apart

_EXECUTE = re.compile(r"execute:\s*(.+?)(?:\n|$)")
_LABEL = re.compile(r"^Command result:\s?")


@dataclass(frozen=True)
class ExecutedCommand:
    """One executed command: its number (from 1), itself, and its result."""

    number: int
    command: str
    result: str

    def text(self, chars: int | None = None) -> str:
        """The command and its result; with `chars` the result is cut there and always followed by
        `...`."""
        result = self.result if chars is None else f"{self.result[:chars]}..."
        return f"Step {self.number}: {self.command}\nResult: {result}"

    def deployed_text(self, chars: int, label: str) -> str:
        """The text in the deployed version: `...` only if something is cut, and no line for an
        empty result."""
        command, result = f"Step {self.number}: {self.command}", self.result[:chars]
        dots = "..." if len(self.result) > chars else ""
        return f"{command}\n{label}: {result}{dots}" if result else command


class CommandHistory:
    """The commands executed so far (`entries`), and the messages that hold them (`messages`).

    A command is a tool call or `execute: <command>`. A label `Command result:` before a result does
    not belong to it.
    """

    def __init__(self) -> None:
        self.entries: list[ExecutedCommand] = []
        self.messages: set[Message] = set()
        self._by_call: dict[str, str] = {}
        self._pending: str | None = None  # a command in text whose result is the next message

    def take(self, messages: Iterable[Message]) -> None:
        """Add the commands and results in new messages."""
        for message in messages:
            pending, self._pending = self._pending, None
            if message.kind == "result" or (pending is not None and message.kind == "user"):
                command = self._by_call.get(message.call_id or "", pending or "(not recorded)")
                result = _LABEL.sub("", message.text, count=1)
                self.entries.append(ExecutedCommand(len(self.entries) + 1, command, result))
                self.messages.add(message)
            elif message.kind == "model":
                written = _EXECUTE.search(message.text)
                self._by_call.update({call.id: call.command for call in message.tool_calls})
                if written and not message.tool_calls:
                    self._pending = written.group(1).strip()
                if written or message.tool_calls:
                    self.messages.add(message)


def _history(entries: Iterable[str]) -> Message:
    return summary_message("Command History:\n" + "\n\n".join(entries))


def _last(entries: Sequence[ExecutedCommand], number: int) -> Sequence[ExecutedCommand]:
    return entries[max(0, len(entries) - number) :]


class WithCommands(AtShare, WithWriter):
    """Base of a history that ends with a message about its commands, written for each prompt."""

    threshold: Share = 0.8
    keep_last: Count = 8
    _commands: CommandHistory = state(CommandHistory)
    _last_commands: Sequence[Message] = state(tuple)  # those at the end of the last prompt

    def history(self, window: Window) -> tuple[list[Message], int]:
        """The history without that message, and the tokens of a prompt with it."""
        self._commands.take(window.added)
        messages = [message for message in window.messages if message not in self._last_commands]
        return messages, window.tokens - total(window.count, self._last_commands)


@register("compactor", "separate_commands")
class SeparateCommands(WithCommands):
    """`[system, summary, later messages, command history]`: commands are never summarised.

    A command is a tool call or `execute: <command>`; it and its result are left out of what is
    summarised. Triggered as `summarize_old` is. From then on every prompt ends with the command
    history, in full while it costs at most `full_below` tokens, else its `last` entries, each
    result cut at `result_chars` and followed by `...`, as the document does even where nothing was
    cut. Commands among the last messages are shown in both.

    Source: 002 Proposed Smart Strategy

    >>> SeparateCommands(keep_last=1).tried("call ls", "tool: a.txt", tokens=90)
    ['tool: a.txt', 'user: Command History:']
    """

    full_below: Count = 2000
    last: Count = 20
    result_chars: Count = 200
    _full_fits: bool = state(lambda: True)
    _is_summarised: bool = state(bool)

    def compact(self, window: Window) -> NewHistory:
        """The new command history at the end; at a trigger the summary in front too."""
        messages, tokens = self.history(window)
        commands = self._history_message(window) if self._is_summarised else ()
        written: tuple[WrittenSummary, ...] = ()
        if tokens + total(window.count, commands) >= self.limit(window):
            system, old, recent = split_old(messages, self.keep_last)
            if worth_summarising(old):
                summary, written = self._summary(old)
                messages = [*system, *summary, *recent]
                self._is_summarised = True
                commands = self._history_message(window)
        self._last_commands = commands
        return NewHistory([*messages, *commands], written, total(window.count, commands))

    def _summary(self, old: Sequence[Message]) -> tuple[list[Message], tuple[WrittenSummary, ...]]:
        """The summary of old messages other than commands; the earlier summary where there are
        none."""
        talk = [message for message in old if message not in self._commands.messages]
        if not worth_summarising(talk):
            return talk, ()
        written = self.write(talk)
        return [summary_message(written.text)], (written,)

    def _history_message(self, window: Window) -> tuple[Message, ...]:
        """The message with the command history for the next prompt; none if nothing was
        executed."""
        entries = self._commands.entries
        if not entries:
            return ()
        if self._full_fits:
            history = _history(entry.text() for entry in entries)
            if window.count(history) <= self.full_below:
                return (history,)
        self._full_fits = False  # entries only join: it never fits again
        return (_history(entry.text(self.result_chars) for entry in _last(entries, self.last)),)


# ---------------------------------------------------------------- as it was built

_EXECUTE_LINE = re.compile(r"execute:[^\n]*")


@register("compactor", "separate_commands_deployed")
class SeparateCommandsDeployed(WithCommands):
    """Everything and the last `last` commands, until a trigger; then two summaries and two tails.

    That is `[system, summary, summary of commands, last keep_last, last keep_commands commands]`.
    The trigger: the messages reach `threshold` of `max_tokens`, there are more than `more_than` of
    them, and they use at least `rise` more of `max_tokens` than when last summarised; it does not
    count the command message. Old messages other than command messages are summarised, each cut at
    `message_chars` first; without one nothing happens. All commands but the last `keep_commands`
    are summarised from the commands themselves, never from an earlier summary. The new history then
    stays as it is: its command message gets no new commands until the next trigger.

    A result that comes without the mark `Command result:` is conversation (`is_command`). While any
    message says "Command History", as the agent itself may, no command message is added. A tool
    call can be cut from its result.

    Source: 002 Proposed Smart Strategy, as one deployment has it

    >>> SeparateCommandsDeployed().tried("call ls", "tool: a.txt", tokens=11)
    ['call ls', 'tool: a.txt', 'user: Command History:']
    """

    more_than: Count = 10
    rise: Share = 0.1
    last: Count = 20
    keep_commands: Count = 5
    result_chars: Count = 300
    message_chars: Count = 500
    old_result_chars: Count = 1000
    around_chars: Count = 50
    _due_at: float = state(float)  # the tokens that the next trigger needs
    _standing: Sequence[Message] = state(tuple)  # about commands, in the history since a trigger

    def compact(self, window: Window) -> NewHistory:
        """The history with the last commands at its end; at a trigger the rewritten history."""
        messages, tokens = self.history(window)
        if tokens >= max(self.limit(window), self._due_at) and len(messages) > self.more_than:
            system, old, recent = split_old(messages, self.keep_last)
            talk = [message for message in old if not is_command(message, self.around_chars)]
            if talk:
                self._due_at = tokens + self.limit(window, self.rise)
                return self._summarised(window, system, talk, recent)
        if self._standing:
            return NewHistory(messages, commands=total(window.count, self._standing))
        commands: Sequence[Message] = ()
        if not any("Command History" in message.text for message in messages):
            commands = self._history_message(self._commands.entries, self.last)
        self._last_commands = commands
        return NewHistory([*messages, *commands], commands=total(window.count, commands))

    def _summarised(
        self, window: Window, system: list[Message], talk: list[Message], recent: list[Message]
    ) -> NewHistory:
        """The history after a trigger: two summaries and two tails."""
        entries = self._commands.entries
        old = older(entries, self.keep_commands)
        written = [self.write(list(map(self._cut, talk)))]
        if old:
            texts = [entry.deployed_text(self.old_result_chars, "Result") for entry in old]
            written.append(self.write([Message(role="user", kind="result", text=t) for t in texts]))
        of_old = [summary_message(one.text) for one in written[1:]]
        of_last = self._history_message(entries[len(old) :], self.keep_commands)
        self._standing, self._last_commands = (*of_old, *of_last), ()
        messages = [*system, summary_message(written[0].text), *of_old, *recent, *of_last]
        return NewHistory(messages, written, total(window.count, self._standing))

    def _cut(self, message: Message) -> Message:
        """A message cut to the length that the writer reads."""
        text = message.text[: self.message_chars]
        return message if text == message.text else with_text(message, text)

    def _history_message(
        self, entries: Sequence[ExecutedCommand], last: int
    ) -> tuple[Message, ...]:
        """The message with the last commands; none without commands."""
        texts = [
            entry.deployed_text(self.result_chars, "  Result") for entry in _last(entries, last)
        ]
        if len(entries) > last:
            texts.append(f"(Total {len(entries)} commands executed, showing last {last})")
        return (_history(texts),) if entries else ()


def is_command(message: Message, around_chars: int = 50) -> bool:
    """True if that deployment takes a message for a command or its result.

    >>> texts = ("execute: ls", "No more.", "x" * 51 + "execute: ls")
    >>> [is_command(Message(role="assistant", text=text, kind="model")) for text in texts]
    [True, False, False]
    >>> texts = ("Command result: a.txt", "<returncode>0</returncode>")
    >>> [is_command(Message(role="user", text=text, kind="user")) for text in texts]
    [True, False]
    """
    if "Command result:" in message.text:
        return True
    line = _EXECUTE_LINE.search(message.text)
    if line is None or message.role not in ("assistant", "user"):
        return False
    before, after = message.text[: line.start()].strip(), message.text[line.end() :].strip()
    return message.role == "user" or (len(before) <= around_chars and len(after) <= around_chars)
