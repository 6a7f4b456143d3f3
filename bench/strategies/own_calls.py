"""Calls of a strategy's own code during a replay: a model's answer out of a cassette, and a place outside of the prompt.

Models are answered from a cassette, and only while one is recorded by a host. What is kept outside of the prompt is kept for one case.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ..files.writing import write_atomically
from ..model import Value, WriterCall, compact_json
from ..model.errors import SpecError, StrategyError, TraceError, one_line
from ..plugins.registry import inside
from ..tokens.counting import TokenCounter
from ..traces.documents import Document, Node
from ..traces.nodes import only_text
from .offloading import offloaded_to

Api = Literal["openai", "anthropic"]
Host = Callable[[Mapping[str, Any]], "RecordedAnswer"]
Keep = Callable[[str, Any, int], None]
CASSETTE = "model.cassette.jsonl"


def ask(
    model: str,
    messages: str | Sequence[Mapping[str, str]],
    *,
    api: Api = "openai",
    cassette: str = CASSETTE,
    **options: Any,
) -> str:
    """A model's answer to a text, or to messages of `role` and `content`, for a strategy of yours: recorded once, and replayed from then on.

    The cassette lies beside the scenario; that of a function which a spec names in the same repository. `options` (temperature, max_tokens, …) are
    sent as they are, tokens and time are charged to the strategy. Raises StrategyError for a request that was never recorded, naming the nearest
    one: `bench run --record-model HOST` asks the host for what is missing, with the key in OPENAI_API_KEY or ANTHROPIC_API_KEY.

    >>> ask("small", "Shorten: …", cassette="none.jsonl")
    Traceback (most recent call last):
    bench.model.errors.StrategyError: none.jsonl: no such cassette — record it with --record-model HOST, or correct the path
    """
    told = [{"role": "user", "content": messages}] if isinstance(messages, str) else [dict(item) for item in messages]
    for item in told:
        if not (isinstance(item.get("role"), str) and isinstance(item.get("content"), str)):
            raise StrategyError(f"ask: a message has a role and a content, both text; got {one_line(item)[:80]}")
    calls = current()
    named = {} if api == "openai" else {"api": api}
    try:
        path = inside(cassette, calls.base) if calls.confined else calls.base / cassette
    except SpecError as error:
        raise StrategyError(str(error)) from None
    return calls.answer({"model": model, "messages": told, **named, **options}, path, cassette)


@dataclass
class OwnCalls:
    """The requests of one replayed strategy. `charged` are the calls so far, `step` is the one going on.

    `base` is the folder of its cassettes, which lie in its repository where it is `confined`. `count` counts what no provider counted, `keep` takes
    what is offloaded (name, value, step). While `free` no call is charged. `refused` is what a client was told that had no answer.
    """

    base: Path = Path()
    count: TokenCounter | None = None
    keep: Keep | None = None
    confined: bool = False
    step: int = -1
    free: bool = False
    charged: list[WriterCall] = field(default_factory=list)
    cassettes: dict[Path, Cassette] = field(default_factory=dict)
    host: Host | None = field(default_factory=lambda: _HOST.get())
    refused: str = ""

    @contextmanager
    def open(self) -> Iterator[None]:
        """Answer what is asked inside the block; at its end every client has been heard."""
        outer = _CALLS.set(self)
        if _SERVER:
            _SERVER[0].answer_for(self)
        try:
            with offloaded_to(self.keeps):
                yield
        finally:
            _CALLS.reset(outer)
            if _SERVER:
                _SERVER[0].hear_all()

    def answer(self, request: dict[str, Any], path: Path, name: str) -> str:
        """The text of the answer to a request, charged: from the cassette at a path, or while one is recorded from the host. Raises StrategyError."""
        return self._answered(request, path, name).text

    def body_for(self, request: dict[str, Any]) -> dict[str, Any] | str:
        """The whole answer to a request that a client made, charged; the text of its events where it was streamed. Raises StrategyError."""
        found = self._answered(request, self.base / CASSETTE, CASSETTE, whole=True)
        return found.body or {}

    def _answered(self, request: dict[str, Any], path: Path, name: str, whole: bool = False) -> RecordedAnswer:
        try:
            if path not in self.cassettes:
                self.cassettes[path] = Cassette(path, name, may_be_missing=self.host is not None)
        except SpecError as error:
            raise StrategyError(str(error)) from None
        kept = self.cassettes[path]
        found = kept.answer(request)
        if found is None or (whole and found.body is None):
            if self.host is None:
                raise StrategyError(f"{kept.miss(request)} — {HOW}")
            found = self.host(request)
            if not (found.text or whole):
                raise StrategyError(f"the host gave no text for model {request['model']!r} — try another model")
            kept.keep(request, found)
        if not self.free:
            self.charged.append(self._call(request, found))
        return found

    def keeps(self, name: str, value: Any) -> None:
        """Take what is offloaded, unless the untruncated side is asked: what it keeps, the strategy's prompts have not."""
        if self.keep is not None and not self.free:
            self.keep(name, value, self.step)

    def wrote(self, consumed_tokens: int, produced_tokens: int) -> None:
        """Charge a summary as a compactor tells of it, unless a model was really asked in this step, which is charged as it was."""
        if not (self.charged and self.charged[-1].step == self.step and self.charged[-1].model is not None):
            self.charged.append(
                WriterCall(step=self.step, consumed_tokens=consumed_tokens, produced_tokens=produced_tokens)
            )

    def _call(self, request: Mapping[str, Any], found: RecordedAnswer) -> WriterCall:
        def tokens(texts: Sequence[str]) -> int:
            return 0 if self.count is None else sum(map(self.count.text, texts))

        read = texts_of(request)
        return WriterCall(
            step=self.step,
            consumed_tokens=tokens(read) if found.input_tokens is None else found.input_tokens,
            produced_tokens=tokens([found.text]) if found.output_tokens is None else found.output_tokens,
            model=request["model"],
            seconds=found.seconds,
        )


_CALLS: ContextVar[OwnCalls | None] = ContextVar("_CALLS", default=None)
_HOST: ContextVar[Host | None] = ContextVar("_HOST", default=None)
_SERVER: list[Any] = []
"""The server for clients of models, in a process of somebody else's code."""


def serve_clients(server: Any) -> None:
    """From here on clients of models are answered too: for a process of somebody else's code, before it imports that."""
    _SERVER[:] = [server]


def current() -> OwnCalls:
    """The calls of the replay that is going on; outside of one, calls that nobody is charged for."""
    return _CALLS.get() or OwnCalls()


@contextmanager
def recording_from(host: Host | None) -> Iterator[None]:
    """Inside the block, ask a host for what no cassette holds, and keep it. None: ask nobody."""
    outer = _HOST.set(host)
    try:
        yield
    finally:
        _HOST.reset(outer)


def is_recording() -> bool:
    """True if a host answers, so that a cassette may be missing yet."""
    return _HOST.get() is not None


# ---------------------------------------------------------------- cassettes


_KEY = "bench_cassette"
_VERSION = 1

HOW = "record it with --record-model HOST"
"""The way to get an answer that is missing."""


class RecordedAnswer(Value, frozen=True, kw_only=True):
    """One answer of a model, as text and as the whole `body`, of a streamed one the text of its events; the tokens that it read and wrote, and the
    seconds it took, where known."""

    text: str
    input_tokens: int | None = None
    output_tokens: int | None = None
    seconds: float | None = None
    body: dict[str, Any] | str | None = None


class Cassette:
    """One cassette: JSON Lines, a header and one line a request with its answer, in the order in which they were recorded.

    `name` is the path as it was given, for messages. Raises SpecError for a file that is missing (unless it `may_be_missing`) or no cassette.
    """

    def __init__(self, path: Path, name: str, *, may_be_missing: bool = False) -> None:
        self.path, self.name = path, name
        if not name.endswith(".jsonl"):
            raise SpecError(f"{name}: is no cassette — give a name that ends in .jsonl")
        if not may_be_missing and not path.exists():
            raise SpecError(f"{name}: no such cassette — {HOW}, or correct the path")
        self._entries = self._read()

    def answer(self, request: dict[str, Any]) -> RecordedAnswer | None:
        found = self._entries.get(_key(request))
        return None if found is None else found[1]

    def keep(self, request: dict[str, Any], answer: RecordedAnswer) -> None:
        """Add a request and its answer to the file, with what others added meanwhile."""
        self._entries = {**self._read(), _key(request): (request, answer)}
        lines = [compact_json({_KEY: _VERSION})]
        for told, given in self._entries.values():
            more = {name: getattr(given, name) for name in ("input_tokens", "output_tokens", "seconds", "body")}
            known = {name: value for name, value in more.items() if value is not None}
            lines.append(compact_json({"request": told, "answer": given.text, **known}))
        write_atomically(self.path, "".join(f"{line}\n" for line in lines).encode())

    def miss(self, request: dict[str, Any]) -> str:
        """Why there is no answer: how the nearest recorded request differs from this one."""
        what = f"{self.name} holds no answer to this request of {one_line(request['model'])[:40]!r}"
        if not self._entries:
            return f"{what}; it is empty"
        now = _lines(request)
        best, number, recorded = max(
            (difflib.SequenceMatcher(None, now, _lines(told), autojunk=False).ratio(), -number, told)
            for number, (told, _) in enumerate(self._entries.values(), 1)
        )
        place = f"the nearest of {len(self._entries)} is number {-number}, {best:.0%} of its lines alike"
        return f"{what}; {place}; {_first_difference(_lines(recorded, settings=True), _lines(request, settings=True))}"

    def _read(self) -> dict[str, tuple[dict[str, Any], RecordedAnswer]]:
        if not self.path.exists():
            return {}
        try:
            header, *lines = Document(self.path, self.name).line_nodes()
            if header[_KEY].value != _VERSION:
                told = f"expected {_VERSION} — not a cassette of this version of bench; record it again"
                raise header[_KEY].fail(told)
            return {_key(line["request"].object()): _entry(line) for line in lines}
        except TraceError as error:
            raise SpecError(str(error)) from None


def _entry(line: Node) -> tuple[dict[str, Any], RecordedAnswer]:
    line["request"]["model"].text()
    if line["request"]["messages"].value is not None:
        list(line["request"]["messages"].items())
    streamed = only_text(line["body"])
    return line["request"].object(), RecordedAnswer(
        text=line["answer"].text(),
        input_tokens=line["input_tokens"].count(),
        output_tokens=line["output_tokens"].count(),
        seconds=line["seconds"].seconds(),
        body=line["body"].object() if line["body"].value is not None and not streamed else streamed,
    )


def _key(request: dict[str, Any]) -> str:
    return json.dumps(request, sort_keys=True)


def texts_of(request: Mapping[str, Any]) -> list[str]:
    """The texts that a model reads of a request, message by message.

    >>> texts_of({"model": "m", "messages": [{"role": "user", "content": "a"}]}), texts_of({"model": "m", "input": [1]})
    (['a'], ['[1]'])
    """
    told = [item.get("content") if isinstance(item, dict) else item for item in request.get("messages") or ()]
    told += [request[name] for name in ("system", "instructions", "input") if name in request]
    return [item if isinstance(item, str) else compact_json(item) for item in told]


def _lines(request: dict[str, Any], *, settings: bool = False) -> list[str]:
    """A request line by line: the model's name, the lines of its messages, and with `settings` all else that it says."""
    texts = [line for text in texts_of(request) for line in text.splitlines()]
    more = [
        f"{key}: {compact_json(value)}" for key, value in sorted(request.items()) if key not in ("model", "messages")
    ]
    return [request["model"], *texts, *(more if settings else ())]


def _first_difference(recorded: list[str], now: list[str]) -> str:
    for at in range(max(len(recorded), len(now))):
        before, after = ("(nothing)" if at >= len(lines) else repr(lines[at][:60]) for lines in (recorded, now))
        if before != after or recorded[at : at + 1] != now[at : at + 1]:
            return f"first difference: recorded {before}, now {after}"
    return "the same lines in other messages"
