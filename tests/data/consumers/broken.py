"""Consumers that break the rule on purpose: the defect of document 001 §2 step 3, for the tests to catch."""

from __future__ import annotations

from bench.strategies import Execution, Reply
from bench.strategies.documents.document_000 import task_state


def keeps_state(execution: Execution) -> Reply:
    """Replies, but forgets to clear the task state and goes back to the agent: "stuck in a loop"."""
    return Reply("Done.", "table", task_state(execution), "agent")


def says_nothing(execution: Execution) -> str:
    """Gives what is no Reply."""
    return "Done."
