"""Execution reports of LangGraph runs as Flowgentic writes them: Markdown with a section a node, its state changes and messages."""

from __future__ import annotations

import ast
import re
from typing import Any

from .. import Confidence, Document, Keeps, Near, Node, Traces, as_dict, by_marks, register, strict_json
from ..langchain import said_of
from ..nodes import moment
from ..prompts import Prompts, key_of

_REPORT = "# 📊 LangGraph Execution Report"
_NODE = re.compile(r"^### \d+\. Node: `(.+?)`[ \t]*$", re.MULTILINE)
_CHANGES = re.compile(r"^\*\*🔄 State Changes:\*\*\n```json\n", re.MULTILINE)
_CLOSED = re.compile(r"\n```$", re.MULTILINE)
_FIELD = re.compile(r"^- \*\*(.+?):\*\* `(.*?)`", re.MULTILINE)
_GENERATED = re.compile(r"^\*\*Generated on:\*\* `(.+?)`", re.MULTILINE)
_CUT_CHARS = 300
"""The most characters of a text in the state that a report keeps."""


@register("reader", "flowgentic")
class Flowgentic:
    """One run a report. Each node is a RouteDecision of `graph` as it begins, and a key `…_decision` that it sets one of that name.

    The messages of a node are in the report as Python prints them, whole; those that no node before had said are told, in the node's own
    thread. State values that the report cut are counted; what is no message is the decisions' state.

    Source: github.com/stride-research/flowgentic, `examples/langgraph-integration` (agent_execution_results/execution_summary.md)
    """

    keeps = Keeps(
        results="as shown",
        also=("usage", "times", "routes", "threads", "model"),
        never="state values that the report cut, tool definitions",
        tested="reports of flowgentic at 88a7c06 (LangGraph), published files",
    )

    def sniff(self, document: Document) -> Confidence | Near:
        text = document.opening(-1)
        section = _NODE.search(text) is not None
        return by_marks({"the title of an execution report": _REPORT in text, "a section '### 1. Node: `x`'": section})

    def read(self, document: Document) -> Traces:
        """The report's one run."""
        text = document.text.replace("\r\n", "\n")  # as a checkout on Windows writes it
        found = list(_NODE.finditer(text))
        if not found:
            raise document.fail("expected sections '### 1. Node: `name`', got none — no report of a run")
        generated = _GENERATED.search(text)
        run = _Report(generated[1].split()[0] if generated else None)
        ends = [*(match.start() for match in found[1:]), len(text)]
        for match, end in zip(found, ends, strict=True):
            line = text.count("\n", 0, match.start()) + 1
            run.section(match[1], text[match.end() : end], Node(document, line, f"node {match[1]}", None))
        meta = {"report": dict(_FIELD.findall(text[: found[0].start()]))}
        yield run.trace(document, "flowgentic", Node(document, None, "$", None), meta=meta)


class _Report(Prompts):
    """One run on its way to a trace: the state as it grows, and the messages that were told."""

    def __init__(self, day: str | None) -> None:
        super().__init__()
        self.day = day
        self.state: dict[str, Any] = {}
        self.known: set[Any] = set()

    def section(self, name: str, body: str, place: Node) -> None:
        fields, t = dict(_FIELD.findall(body)), None
        if self.day is not None and "Timestamp" in fields:
            t = moment(place.made(f"{self.day}T{fields['Timestamp']}"))
        self.route(name, "graph", name, t=t, at="before_model", state=dict(self.state))
        block = _CHANGES.search(body)
        closed = block and _CLOSED.search(body, block.end())
        changes = strict_json(body[block.end() : closed.start()]) if block and closed else {}
        if not isinstance(changes, dict):
            raise place.fail("expected its state changes as JSON — the report was cut; write it again")
        for key, change in changes.items():
            value = as_dict(change).get("changed_to")
            if key == "messages":
                self._messages(name, _unwrapped(_python(value)), place, t)
                continue
            if isinstance(value, str) and len(value) == _CUT_CHARS:
                self.unread.add(f"state value cut at {_CUT_CHARS} characters")
            self.state[key] = _unwrapped(_python(value))
        for key in changes:
            if key.endswith("_decision"):
                taken = self.state[key] if isinstance(self.state[key], list) else [self.state[key]]
                self.route("+".join(map(str, taken)), key, name, t=t, at="after_model", state=dict(self.state))

    def _messages(self, name: str, listed: Any, place: Node, t: float | None) -> None:
        if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
            what = "expected messages as Python prints them — the report was cut; write it again"
            raise place.made(None, ".messages").fail(what)
        told = filter(None, (said_of(place.made(item, ".messages"), self.unread) for item in listed))
        new = [said for said in told if key_of(said) not in self.known]
        self.known.update(map(key_of, new))
        if new:
            self.hold(new, group=name, t=t)


def _python(value: Any) -> Any:
    """A value as Python prints it; the text itself where it is none."""
    if not isinstance(value, str):
        return value
    try:
        return _literal(ast.parse(value, mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return value


def _literal(node: ast.AST) -> Any:
    """A literal; a call of a message's class with nothing but named literals is an object of that type."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int | float | None):
        return node.value
    if isinstance(node, ast.List | ast.Tuple):
        return [_literal(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return {str(_literal(key)): _literal(value) for key, value in pairs if key is not None}
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _literal(node.operand)
        return -value if isinstance(value, int | float) else value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args:
        return {"type": node.func.id, **{str(word.arg): _literal(word.value) for word in node.keywords}}
    raise ValueError("no literal")


def _unwrapped(value: Any) -> Any:
    """A value without the lists of one that the report wraps it in."""
    while isinstance(value, list) and len(value) == 1 and isinstance(value[0], list | dict):
        value = value[0]
    return value
