"""Cassettes: requests to a model with the answers they once got, kept in a file so that a replay needs no network."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..files.writing import write_atomically
from ..model import Value, compact_json
from ..model.errors import SpecError, TraceError, one_line
from ..traces.documents import Document, Node
from ..traces.nodes import only_text

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

    `name` is the path as it was given, for messages. Raises SpecError for a name that does not end in `.jsonl`, for a file that is missing (unless it
    `may_be_missing`) or that is no cassette, with the place.
    """

    def __init__(self, path: Path, name: str, *, may_be_missing: bool = False) -> None:
        self.path, self.name = path, name
        if not name.endswith(".jsonl"):
            raise SpecError(f"{name}: is no cassette — give a name that ends in .jsonl")
        if not may_be_missing and not path.exists():
            raise SpecError(f"{name}: no such cassette — {HOW}, or correct the path")
        self._entries = self._read()

    def answer(self, request: dict[str, Any]) -> RecordedAnswer | None:
        """The recorded answer to a request; None where there is none."""
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
