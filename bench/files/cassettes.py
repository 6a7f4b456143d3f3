"""Cassettes: requests to a model with the answers they once got, kept in a file so that a replay needs no network."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import SpecError, TraceError, one_line
from ..model import compact_json
from .documents import Document
from .writing import write_atomically

_KEY = "bench_cassette"
_VERSION = 1


@dataclass(frozen=True)
class Endpoint:
    """The one place that a recording may ask: the base address of an OpenAI-compatible interface, and how long an answer may take."""

    base_url: str
    timeout_s: float = 120.0


_RECORDING: ContextVar[Endpoint | None] = ContextVar("_RECORDING", default=None)


@contextmanager
def recording_from(base_url: str, timeout_s: float = 120.0) -> Iterator[None]:
    """Record what cassettes lack for as long as the block lasts: the only way to it, so that no spec and no scenario can ask for it.

    Raises SpecError for an address that is none.

    >>> with recording_from("http://127.0.0.1:8000/v1"):
    ...     endpoint().base_url
    'http://127.0.0.1:8000/v1'
    >>> endpoint() is None
    True
    """
    if not re.fullmatch(r"https?://[^\s/]+(/\S*)?", base_url):
        raise SpecError(f"{one_line(base_url)!r} is no address to record from — write https://api.openai.com/v1")
    before = _RECORDING.set(Endpoint(base_url, timeout_s))
    try:
        yield
    finally:
        _RECORDING.reset(before)


def endpoint() -> Endpoint | None:
    """Where missing answers are recorded from; None: nowhere."""
    return _RECORDING.get()


class Cassette:
    """One cassette: JSON Lines, a header and one line a request with its answer, in the order in which they were recorded.

    `name` is the path as it was given, for messages. Raises SpecError for a file that is missing (unless it `may_be_missing`) or that is no
    cassette, with the place.
    """

    def __init__(self, path: Path, name: str, *, may_be_missing: bool = False) -> None:
        self.path, self.name = path, name
        if not may_be_missing and not path.exists():
            raise SpecError(f"{name}: no such cassette — record it with --record-from, or correct the path")
        self._entries = self._read()

    def answer(self, request: dict[str, Any]) -> str | None:
        """The recorded answer to a request; None where there is none."""
        found = self._entries.get(_key(request))
        return None if found is None else found[1]

    def keep(self, request: dict[str, Any], answer: str) -> None:
        """Add a request and its answer to the file, with what others added meanwhile."""
        self._entries = {**self._read(), _key(request): (request, answer)}
        lines = [compact_json({_KEY: _VERSION})]
        lines += [compact_json({"request": told, "answer": text}) for told, text in self._entries.values()]
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
        return f"{what}; {place}; {_first_difference(_lines(recorded), now)}"

    def _read(self) -> dict[str, tuple[dict[str, Any], str]]:
        if not self.path.exists():
            return {}
        try:
            return self._entries_of(Document(self.path, self.name))
        except TraceError as error:
            raise SpecError(str(error)) from None

    def _entries_of(self, document: Document) -> dict[str, tuple[dict[str, Any], str]]:
        lines = document.line_nodes()
        header = next(lines)
        if header[_KEY].value != _VERSION:
            raise header[_KEY].fail(f"expected {_VERSION} — not a cassette of this version of bench; record it again")
        entries: dict[str, tuple[dict[str, Any], str]] = {}
        for line in lines:
            request = line["request"].object()
            line["request"]["model"].text()
            for message in line["request"]["messages"].items():
                message["content"].text()
            entries[_key(request)] = (request, line["answer"].text())
        return entries


def _key(request: dict[str, Any]) -> str:
    return json.dumps(request, sort_keys=True)


def _lines(request: dict[str, Any]) -> list[str]:
    """A request line by line: the model's name first."""
    texts = (message["content"].splitlines() for message in request["messages"])
    return [request["model"], *(line for text in texts for line in text)]


def _first_difference(recorded: list[str], now: list[str]) -> str:
    for at in range(max(len(recorded), len(now))):
        before, after = ("(nothing)" if at >= len(lines) else repr(lines[at][:60]) for lines in (recorded, now))
        if before != after or recorded[at : at + 1] != now[at : at + 1]:
            return f"first difference: recorded {before}, now {after}"
    return "the same lines in other messages"
