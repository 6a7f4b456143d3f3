"""Recording an agent while it runs: a context manager for Python, and servers for agents in any language (`proxy.py`, `otlp.py`)."""

from __future__ import annotations

import functools
import inspect
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import msgspec

from ..files.writing import write_atomically
from ..model import ModelTurn, Outcome, Source, SystemTurn, ToolCall, ToolResult, ToolsChanged, Trace, Usage, UserTurn
from ..model.errors import BenchError, one_line
from ..model.trace import AnyStep, Content
from ..traces.documents import Document, Node
from ..traces.formats.native import encode_trace
from ..traces.parts import Unread
from ..traces.requests import answer_of
from ..traces.streams import assembled
from .lines import Lines
from .redaction import Redactor

Tool = TypeVar("Tool", bound=Callable[..., Any])


class Recorder:
    """Writes one run into a native file (`.jsonl`), a line a step, when the step is over: `with bench.record("runs/a.jsonl") as run`.

    A crash of the process loses no finished step. Secrets are removed unless `redact=False`. Several threads may record; `thread` tells apart
    conversations that have prompts of their own. Raises BenchError for a file that holds something already.

    >>> import tempfile
    >>> path = f"{tempfile.mkdtemp()}/run.jsonl"
    >>> with Recorder(path) as run:
    ...     run.user("How many walls?")
    ...     run.model(tool_calls=[{"id": "c1", "name": "count", "arguments": {"of": "walls"}}])
    ...     count = run.tool(lambda of: {"walls": 36}, name="count")(of="walls")
    ...     run.model("36 walls.")
    ...     run.outcome(success=True)
    >>> from bench.traces import load
    >>> trace = load([path]).traces[0]
    >>> [type(step).__name__ for step in trace.steps], trace.results[0].call_id, trace.outcome.success
    (['UserTurn', 'ModelTurn', 'ToolResult', 'ModelTurn'], 'c1', True)
    """

    def __init__(
        self,
        path: str | Path,
        *,
        id: str | None = None,
        redact: bool = True,
        labels: dict[str, Any] | None = None,
        meta: dict[str, Any] | None = None,
    ) -> None:
        self.path = Path(path)
        if self.path.suffix != ".jsonl":
            raise BenchError(f"{path}: a recording grows line by line — give a name that ends in .jsonl")
        self._redactor = Redactor() if redact else None
        self._head = Trace(
            id=id or self.path.stem, source=Source(format="native"), steps=(), labels=labels or {}, meta=meta or {}
        )
        self._head = self._clean(self._head)
        self._lines = Lines(self.path, new=True)
        self._lines.append(encode_trace(self._head).rstrip(b"\n"))
        self._lock = threading.Lock()
        self._index = 0
        self._waiting: dict[str, list[ToolCall]] = {}
        self._left_out: Counter[str] = Counter()
        self._outcome: Outcome | None = None

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ------------------------------------------------------------ what is said

    def system(self, text: str, *, thread: str = "main") -> None:
        """Instructions to the model."""
        self._add(SystemTurn, content=text, thread=thread)

    def user(self, text: str, *, thread: str = "main") -> None:
        """Record a message of a person."""
        self._add(UserTurn, content=text, thread=thread)

    def tools(self, definitions: list[Any], *, thread: str = "main") -> None:
        """The tool definitions in force from here on, as the provider is given them."""
        self._add(ToolsChanged, tools=tuple(definitions), thread=thread)

    def model(
        self,
        text: Content = "",
        *,
        tool_calls: list[dict[str, Any]] | tuple[ToolCall, ...] = (),
        model: str | None = None,
        reasoning: str | None = None,
        usage: Usage | None = None,
        finish_reason: str | None = None,
        thread: str = "main",
        agent: str = "agent",
    ) -> None:
        """One answer of the model. A tool call is a mapping with `id`, `name` and `arguments`, or a ToolCall."""
        calls = tuple(call if isinstance(call, ToolCall) else ToolCall(**call) for call in tool_calls)
        with self._lock:
            self._waiting.setdefault(thread, []).extend(calls)
        self._add(ModelTurn, content=text, tool_calls=calls, model=model, reasoning=reasoning, usage=usage,
                  finish_reason=finish_reason, thread=thread, agent=agent)  # fmt: skip

    def answer(self, response: Any, *, thread: str = "main", agent: str = "agent") -> None:
        """One answer of the model as the clients of OpenAI (chat or Responses) and Anthropic give it: their object, its mapping, or
        the events of its stream, which are taken to their end.

        What is not understood is counted in `left_out`. Raises BenchError for what is no answer.
        """
        value = _told(response)
        if isinstance(value, Iterable) and not isinstance(value, dict | str | bytes):
            value = assembled(map(_told, value)) or value
        unread = Unread()
        said = (
            answer_of(Node(Document(self.path, "response"), None, "$", value), unread)
            if isinstance(value, dict)
            else None
        )
        if said is None:
            what = f"an answer is expected, got {one_line(value)[:80]}"
            raise BenchError(f"{what} — give the client's response, or call `model`")
        with self._lock:
            self._left_out.update(unread.counts)
        self.model(said.content, tool_calls=said.calls, model=said.model, reasoning=said.reasoning,
                   usage=said.usage, finish_reason=said.finish_reason, thread=thread, agent=agent)  # fmt: skip

    def result(self, function: str, value: Any = None, *, call_id: str | None = None, arguments: Any = None, error: str | None = None,
               duration_s: float | None = None, thread: str = "main") -> None:  # fmt: skip
        """Record a tool result: a text, or a structured value. Without `call_id` it answers the oldest waiting call of that function."""
        with self._lock:
            call = self._waiting_call(thread, function, call_id, arguments)
        fields = {"seen": value} if isinstance(value, str) else {"data": value}
        self._add(ToolResult, call_id=call.id, function=function, arguments=call.arguments if arguments is None else arguments,
                  success=error is None, error=error, duration_s=duration_s, thread=thread, **fields)  # fmt: skip

    def outcome(self, *, success: bool | None = None, score: float | None = None) -> None:
        """Record how the run ended; written when the recording is closed."""
        self._outcome = Outcome(success=success, score=score, said_by="recorder")

    # ------------------------------------------------------------ tools

    def tool(self, function: Tool, *, name: str | None = None, thread: str = "main") -> Tool:
        """A decorator: each call of the function is recorded as a result, with its arguments, duration and, where it raises, its error.

        Functions may be `async`. What the function returns or raises is passed on as it is.
        """
        called = name or function.__name__

        @contextmanager
        def recorded(args: Any, kwargs: Any) -> Iterator[list[Any]]:
            arguments, given, start = _arguments(function, args, kwargs), list[Any](), time.perf_counter()
            try:
                yield given
            except BaseException as error:
                told = f"{type(error).__name__}: {error}"
                self.result(
                    called, told, arguments=arguments, error=told, duration_s=time.perf_counter() - start, thread=thread
                )
                raise
            value = _plain(given[0])
            self.result(called, value, arguments=arguments, duration_s=time.perf_counter() - start, thread=thread)

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            with recorded(args, kwargs) as given:
                given.append(function(*args, **kwargs))
            return given[0]

        @functools.wraps(function)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            with recorded(args, kwargs) as given:
                given.append(await function(*args, **kwargs))
            return given[0]

        return awaited if inspect.iscoroutinefunction(function) else call  # type: ignore[return-value]

    # ------------------------------------------------------------ writing

    def close(self) -> None:
        """Wait until the disk has the recording; then the header learns the outcome, what was removed and what was left out."""
        self._lines.close()
        removed = dict(sorted(self._redactor.removed.items())) if self._redactor else {}
        meta = {**self._head.meta, "redacted": removed} if removed else self._head.meta
        head = msgspec.structs.replace(self._head, meta=meta, outcome=self._outcome, left_out=dict(self._left_out))
        if head != self._head:
            rest = self.path.read_bytes().partition(b"\n")[2]
            write_atomically(self.path, encode_trace(head) + rest)
            self._head = head

    def _add(self, kind: type[Any], **fields: Any) -> None:
        with self._lock:
            step: AnyStep = self._clean(kind(index=self._index, t=time.time(), **fields))
            alone = Trace(id="step", source=Source(format="native"), steps=(step,))
            self._lines.append(encode_trace(alone).split(b"\n")[1])
            self._index += 1

    def _clean(self, value: Any) -> Any:
        return value if self._redactor is None else self._redactor.value(value)

    def _waiting_call(self, thread: str, function: str, call_id: str | None, arguments: Any) -> ToolCall:
        waiting = self._waiting.setdefault(thread, [])
        fits = [call for call in waiting if call.id == call_id or (call_id is None and call.name == function)]
        same = [call for call in fits if call.arguments == arguments]
        if not fits:
            return ToolCall(id=call_id or f"call-{self._index}", name=function, arguments=arguments)
        call = (same or fits)[0]
        waiting.remove(call)
        return call


record = Recorder
"""Record a run into a native file: `with bench.record("runs/a.jsonl") as run`."""


def _arguments(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """The arguments of a call by name; of one that does not fit the function, as they were given."""
    try:
        return _plain(dict(inspect.signature(function).bind(*args, **kwargs).arguments))
    except (TypeError, ValueError):
        return _plain({"args": list(args), **kwargs})


def _plain(value: Any) -> Any:
    """A value as JSON holds it; what JSON lacks becomes its text."""
    return json.loads(json.dumps(value, default=str), parse_constant=lambda name: None)


def _told(value: Any) -> Any:
    """A client's object as a mapping; anything else as it is."""
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else value
