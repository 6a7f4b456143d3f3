"""Requests of the Berkeley Function Calling Leaderboard: each with several functions to choose from, and the expected one."""

from __future__ import annotations

from bench.model import UserTurn
from bench.traces import Confidence, Document, Traces, certain_if
from bench.traces.messages import messages
from bench.traces.parts import Unread
from bench.traces.records import objects_of
from bench.traces.steps import Steps


class Bfcl:
    """One trace a request: its messages as turns, `function` as the manifest in `meta`, `expected` as `labels.scripts` of the last user turn.

    JSON Lines of `{id, question, function, expected}`; `question` is a list of turns, each a list of messages. Where several functions are
    expected the label is their list; without `expected` there is no label.

    Not kept: answers and results: the benchmark publishes questions and expected calls.

    Source: Berkeley Function Calling Leaderboard (gorilla.cs.berkeley.edu), PyPI `bfcl-eval`.
    Tested: BFCL v4 (`bfcl-eval` 2026.3.23), published files
    """

    def sniff(self, document: Document) -> Confidence:
        head = document.head
        keys = head.keys() if isinstance(head, dict) else set()
        return certain_if({"question", "function"} <= keys)

    def read(self, document: Document) -> Traces:
        """The file's requests in order, each under its own id."""
        for request in objects_of(document, Unread()):
            steps = Steps()
            asked_for = [message for turn in request["question"] for message in turn]
            steps.tell(messages(asked_for, steps.unread))
            asked = [step.index for step in steps.steps if isinstance(step, UserTurn)]
            if not asked:
                raise document.fail("expected a user message, got none — nothing was asked")
            expected = request.get("expected") or []
            label = {str(asked[-1]): expected[0] if len(expected) == 1 else expected}
            said = {"labels": {"scripts": label} if expected else {}, "meta": {"manifest": request["function"]}}
            yield steps.trace(document, "bfcl", id=request.get("id") or "", **said)
