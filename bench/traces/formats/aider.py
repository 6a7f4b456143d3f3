"""aider's Markdown history, `.aider.chat.history.md`: what was typed, what the model answered, what aider printed."""

from __future__ import annotations

import re

import msgspec

from ...model import ContextReset, ModelTurn, Usage
from .. import Confidence, Document, Keeps, Node, Traces, register
from ..steps import Said, Steps

_START = "# aider chat started at "
_MODEL = re.compile(r"(?:Main model|Model): (\S+) with ")
_TOKENS = re.compile(r"Tokens: ([\d.,]+[kM]?) sent,(.*?) ?([\d.,]+[kM]?) received\.(?:\s*Cost: \$([\d.]+) message)?")
_COST = re.compile(r"Cost: \$([\d.]+) message")
_ADDED = re.compile(r"Added .+ to the chat|.+ to the chat\.$")
_ASKS = ("/ask", "/code", "/architect", "/context", "/chat-mode")
_CLEARS = ("/clear", "/reset")


@register("reader", "aider")
class Aider:
    """One trace a session of the file; sessions without an answer are counted on the first.

    `####` lines are the user's, `>` lines what aider printed, the rest is the model's. An answer that nobody asked for was asked for by aider
    itself: what it printed stands for that prompt, and is counted. `/clear` and `/reset` are ContextResets. What was printed, and costs, are in
    `meta` by the step before. aider rounds token counts above 999: only exact ones are usage, others are counted. So are the files and the
    repository map in its prompts, whose text it does not record.

    Source: github.com/Aider-AI/aider, `aider/io.py` (append_chat_history, user_input), `aider/coders/base_coder.py` (show_usage_report)
    """

    keeps = Keeps(
        results="none",
        also=("usage", "resets", "model"),
        never="results (aider runs commands for the user), prompts of its own, times; token counts that it rounded",
        tested="aider 0.86 (`.aider.chat.history.md`), written by hand after the source",
    )

    def sniff(self, document: Document) -> Confidence:
        text = document.opening(-1)
        begins, later = text.lstrip().startswith(_START), f"\n{_START}" in text
        return Confidence.CERTAIN if begins else Confidence.POSSIBLE if later else Confidence.NO

    def read(self, document: Document) -> Traces:
        """The sessions in order, without ids; when each began is in `meta`."""
        lines: list[str] = []
        for line in document.data.split(b"\n"):
            try:
                lines.append(line.decode("utf-8"))
            except UnicodeDecodeError as error:
                what = f"byte {error.start + 1} of the line is not UTF-8 — save the file as UTF-8"
                raise document.fail(what, line=len(lines) + 1) from None
        marked = any(line.startswith("#### ") and line.endswith("  ") for line in lines)
        sessions: list[_ChatSession] = []
        before = 0
        for number, text in enumerate(lines, 1):
            if text.startswith(_START):
                sessions.append(_ChatSession(Node(document, number, "", text), marked))
            elif sessions:
                sessions[-1].line(text.rstrip("\r"))
            elif text.strip():
                before += 1
        for session in sessions:
            session.end()
        answered = [session for session in sessions if any(isinstance(step, ModelTurn) for step in session.steps)]
        if not answered:
            raise document.fail("expected a session with an answer of the model, got none — nothing was recorded")
        answered[0].unread.add("session without an answer", len(sessions) - len(answered))
        answered[0].unread.add("line before the first session", before)
        for session in answered:
            yield session.trace(document, "aider", session.place)


class _ChatSession(Steps):
    """One session on its way to a trace. `marked`: aider's own lines end with two blanks, so that others are the model's."""

    def __init__(self, place: Node, marked: bool) -> None:
        super().__init__()
        self.place, self.marked = place, marked
        started = str(place.value).removeprefix(_START).strip()
        self.meta = {"started": started, "printed": {}, "printed_costs_usd": {}}
        self.model: str | None = None
        self.typed: list[list[str]] = []  # what was typed since the last step, input by input
        self.open = False  # if the last input may go on
        self.answer: list[str] = []
        self.printed: list[str] = []  # since the last step
        self.begun = False

    @property
    def turn(self) -> ModelTurn | None:
        last = self.steps[-1] if self.steps else None
        return last if isinstance(last, ModelTurn) else None

    def line(self, line: str) -> None:
        own = line.endswith("  ") or not self.marked
        if line.startswith("####") and own and (line[4:5] in ("", " ")):
            self._answered()
            if not self.open:
                self.typed.append([])
            self.typed[-1].append(line[4:].strip())
            self.begun = self.open = True
            return
        self.open = False
        if not self.begun or (line.startswith(">") and own) or _TOKENS.match(line):
            self._prompt(answered=False)
            self._print(line.removeprefix(">").strip())
        elif line.strip() or self.answer:
            self._prompt(answered=True)
            self.answer.append(line)

    def end(self) -> None:
        self._prompt(answered=False)
        self._answered()
        self.meta = {key: value for key, value in self.meta.items() if key == "started" or value}

    def _prompt(self, answered: bool) -> None:
        """Tell what was typed as user turns. A command is none, unless the model answers what stands behind it."""
        typed, self.typed = ["\n".join(lines).strip() for lines in self.typed], []
        for text in typed:
            command, _, rest = text.partition(" ")
            if not text.startswith("/"):
                if text not in ("", "<blank>"):
                    self._add(Said("user", text))
            elif command in _CLEARS:
                self.add(ContextReset(index=self.index))
            elif command in _ASKS and rest and answered and text is typed[-1]:
                self._add(Said("user", rest))
            else:
                self._note(text)

    def _print(self, text: str) -> None:
        model, tokens, cost = _MODEL.match(text), _TOKENS.search(text), _COST.match(text)
        self.model = model.group(1) if model else self.model
        if _ADDED.fullmatch(text):
            self.unread.add("text of a file in the chat, which aider does not record")
        if text.startswith("Repo-map: using"):
            self.unread.add("repository map, which aider does not record")
        self._answered()
        if tokens or cost:
            self._count(tokens, tokens.group(4) if tokens else cost.group(1) if cost else None)
        if text:
            self._note(text)
            self.printed += [] if tokens else [text]

    def _note(self, text: str) -> None:
        printed, before = self.meta["printed"], str(self.index - 1) if self.index else "start"
        printed[before] = "\n".join(filter(None, (printed.get(before), text)))

    def _add(self, said: Said) -> None:
        self.say(said, model=self.model if said.role == "assistant" else None)
        self.printed = []

    def _answered(self) -> None:
        text, self.answer = "\n".join(self.answer).strip("\n"), []
        if not text.strip():
            return
        turn = self.turn
        if turn is not None and not self.printed and turn.usage is None and str(turn.index) not in self.meta["printed"]:
            self.steps[-1] = msgspec.structs.replace(turn, content=f"{turn.content}\n\n{text}")
            return
        if turn is not None or not self.steps:
            self.unread.add("prompt of aider's own, known by what it printed")
            self._add(Said("user", "\n".join(self.printed)))
        self._add(Said("assistant", text))

    def _count(self, tokens: re.Match[str] | None, cost: str | None) -> None:
        """Tokens and cost of the turn before; only exact counts are usage."""
        turn = self.turn
        if turn is None:
            self.unread.add("token count of a call without an answer")
            return
        if cost and re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", cost):
            self.meta["printed_costs_usd"][str(turn.index)] = float(cost)
        if tokens is None:
            return
        sent, beside, received = tokens.group(1, 2, 3)
        if beside.strip() or not re.fullmatch(r"[0-9]+ [0-9]+", f"{sent} {received}"):
            self.unread.add("token count that aider rounded")
        else:
            usage = Usage(prompt_tokens=int(sent[:9]), completion_tokens=int(received[:9]))
            self.steps[-1] = msgspec.structs.replace(turn, usage=usage)
