"""Input files: their bytes, and the JSON or YAML values in them."""

from __future__ import annotations

import functools
import itertools
import json
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ..files.limits import how_to_raise, limit, read_regular
from ..model import MAX_DEPTH, too_deep
from ..model.errors import TraceError, nearest_file, one_line
from .unpacked import GZIP, unpacked
from .values import Fields, Unread, as_dict, dicts, refuse

_BOM = b"\xef\xbb\xbf"
_OBJECTS = re.compile(rb'\s*(\[\s*)?\{\s*["}]')
_SNIFFED = 1000  # members of a list that a format is recognised by
_SNIFFED_LINES = 200
_DEEPEST_YAML, _TIME = 100, "tag:yaml.org,2002:timestamp"
_DIGITS = bytes(ord("0") if chr(byte).isdigit() and byte < 128 else ord(" ") for byte in range(256))
# A number with more digits overflows a float, at the latest in a sum of a few such numbers.
_HUGE = b"0" * 300


class Document:
    """One input file. `name` is the path as given (for messages), `below` the path under the given
    folder (for ids and sources). `beside` lists the files given from the same folder, this one
    included, in order; empty for a file that was named itself.

    Everything is read on first use and once; a file that cannot be read or decoded raises
    TraceError, one line with the place.
    """

    def __init__(
        self,
        path: Path,
        name: str | None = None,
        below: str | None = None,
        beside: Sequence[Path] = (),
    ) -> None:
        self.path = path
        self.beside = beside
        self.name = path.as_posix() if name is None else name
        self.below = path.name if below is None else below

    def fail(self, what: str, *, line: int | None = None, path: str = "") -> TraceError:
        """An error that names this file, the line and the path in the value: `runs/a.jsonl:41
        $.role: …`. The caller raises it."""
        place = self.name if line is None else f"{self.name}:{line}"
        return TraceError(one_line(f"{place}{' ' + path if path else ''}: {what}"))

    @functools.cached_property
    def disk_bytes(self) -> bytes:
        """The bytes on disk."""
        try:
            return read_regular(self.path)
        except FileNotFoundError:
            elsewhere = f", looked for {self.path}" if self.path.as_posix() != self.name else ""
            hint = nearest_file(self.path) or f" — check the path{elsewhere}"
            raise self.fail(f"no such file{hint}") from None
        except (OSError, ValueError) as error:  # one of a null character in the path
            why = f"cannot be read: {getattr(error, 'strerror', None) or error}"
            raise self.fail(f"{why} — check the file and its permissions") from None

    @functools.cached_property
    def sha256(self) -> str:
        """The sha256 of the bytes on disk."""
        import hashlib  # not in every child

        return hashlib.sha256(self.disk_bytes).hexdigest()

    @property
    def data(self) -> bytes:
        """The bytes, decompressed if needed, without a byte order mark."""
        if isinstance(self._expanded, TraceError):
            raise self._expanded
        return self._expanded

    @functools.cached_property
    def _expanded(self) -> bytes | TraceError:
        """The decompressed bytes, or the error: a zip bomb should expand once."""
        try:
            data = unpacked(self.disk_bytes, self.name).removeprefix(_BOM)
        except TraceError as error:
            return error
        nothing = self.fail("is empty — nothing was recorded; record it again")
        return data if data.strip() else nothing

    def opening(self, size: int) -> str:
        """The first bytes as text, for recognising a format; `""` where the file cannot be read."""
        data = b"" if isinstance(self._expanded, TraceError) else self._expanded
        return data[:size].decode("utf-8", "replace").replace("\r\n", "\n")

    def decode(self, data: bytes, line: int | None = None) -> Any:
        """The JSON value of some of this file's bytes, which start at `line`. Lone surrogates are
        read; NaN, infinity and numbers of 300 digits are refused.

        Limited are the bytes of one value and how deep it is nested.
        """
        first = line or 1
        if len(data) > limit("line"):
            what = f"a JSON value of more than {limit('line'):,} bytes — {how_to_raise('line')}"
            raise self.fail(what, line=line)
        try:
            value = _decoded(data)
            deep = data.count(b"[") + data.count(b"{") > MAX_DEPTH and too_deep(value)
        except RecursionError:
            deep = True
        except UnicodeDecodeError as error:
            before = data[: error.start]
            column = len(before) - before.rfind(b"\n")
            what = f"byte {column} of the line is not UTF-8 (0x{data[error.start]:02x})"
            at = first + before.count(b"\n")
            raise self.fail(f"{what} — save the file as UTF-8", line=at) from None
        except json.JSONDecodeError as error:
            what = f"not JSON at column {error.colno}: {error.msg}"
            if error.pos >= len(error.doc.rstrip()) or error.msg.startswith("Unterminated string"):
                what = "ends in the middle of a JSON value — the file was cut short; "
                what += "record it again or drop the rest"
            raise self.fail(what, line=first + error.lineno - 1) from None
        except ValueError as error:
            raise self.fail(one_line(error), line=first) from None
        if deep:
            what = f"is nested more than {MAX_DEPTH} levels deep — flatten it"
            raise self.fail(what, line=line)
        return value

    def _value_of(self, number: int, line: bytes) -> Any:
        try:
            return self.decode(line, number)
        except TraceError as error:
            return error

    @functools.cached_property
    def json(self) -> Any:
        """The whole file as one JSON value."""
        return self.decode(self.data)

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """The lines that are not blank, each with its number (from 1)."""
        start, number = 0, 0
        while start <= len(self.data):  # split() would copy the whole file
            end = self.data.find(b"\n", start)
            end = len(self.data) if end < 0 else end
            line, start, number = self.data[start:end], end + 1, number + 1
            if line and not line.isspace():
                yield number, line

    @functools.cached_property
    def _beginning(self) -> tuple[Any, bool] | TraceError:
        """The first line's value and True if the file is JSON Lines, the whole file's value and
        False if it is one JSON value, else the error."""
        try:
            first = list(itertools.islice(self.lines(), 2))
            value = self._value_of(*first[0]) if len(first) == 2 else None
            is_line = len(first) == 2 and not isinstance(value, TraceError)
            return (value, True) if is_line else (self.json, False)
        except TraceError as error:
            return error

    @property
    def problem(self) -> TraceError | None:
        """The error of reading the file as JSON or as JSON Lines; None without one."""
        return self._beginning if isinstance(self._beginning, TraceError) else None

    @property
    def is_json_lines(self) -> bool:
        """True if the file is JSON Lines: the first line is a complete value and more follow."""
        return not isinstance(self._beginning, TraceError) and self._beginning[1]

    def values(self, most: int | None = None) -> Iterator[Any]:
        """The values of a JSON Lines file, at most `most`, with a TraceError for a line that is not
        JSON; of another file the members of its list, or its one value. Raises TraceError if the
        file cannot be read."""
        if self.is_json_lines or self.problem is not None:
            yield from itertools.starmap(self._value_of, itertools.islice(self.lines(), most))
        else:
            yield from self.json if isinstance(self.json, list) else [self.json]

    def objects(self, unread: Unread) -> list[Fields]:
        """The objects of the file: its lines, the members of its list, or the file as one object.
        Anything else is counted. Raises TraceError for a file without an object."""
        values = list(self.values())
        broken = [at for at, value in enumerate(values) if isinstance(value, TraceError)]
        if self.problem is not None and len(values) - len(broken) == 0:
            raise self.problem
        half = bool(broken) and broken[-1] == len(values) - 1
        unread.add("half-written last line", half)
        unread.add("line that is not JSON", len(broken) - half)
        objects = dicts(values)
        unread.add("line that is no object", len(values) - len(broken) - len(objects))
        return objects

    @property
    def head(self) -> Any:
        """The value for recognising a format: that of the first line, or of the whole file (a list
        cut to 1,000 members); None if it is not JSON."""
        value = None if isinstance(self._beginning, TraceError) else self._beginning[0]
        return value[:_SNIFFED] if isinstance(value, list) else value

    @property
    def first(self) -> Fields:
        """The object for recognising a format: the head, or its first member; `{}` without one."""
        return as_dict(self.head[0] if isinstance(self.head, list) and self.head else self.head)

    @functools.cached_property
    def first_objects(self) -> list[Fields]:
        """The objects among the first 200 lines, or the first 1,000 members of the file's list."""
        if isinstance(self._expanded, TraceError):
            return []
        return dicts(list(itertools.islice(self.values(_SNIFFED_LINES), _SNIFFED)))

    @property
    def is_broken_json(self) -> bool:
        """True if the file looks like damaged JSON: it cannot be read, and is called `.json` or
        `.jsonl`, or starts like JSON objects or compressed data."""
        packed = isinstance(self._expanded, TraceError)
        data = self.disk_bytes if packed else self.data
        named = not {".json", ".jsonl"}.isdisjoint(self.path.suffixes)
        looks_like = named or data.startswith(GZIP) or _OBJECTS.match(data) is not None
        return self.problem is not None and looks_like

    @property
    def yaml(self) -> Any:
        """The whole file as one YAML value, with times as texts. Raises TraceError for aliases, for
        tags other than binary, for several documents, and for more than 100 levels."""
        import yaml  # slow, and few recordings are YAML

        class Loader(yaml.CSafeLoader):
            yaml_implicit_resolvers = {
                sign: [rule for rule in rules if rule[0] != _TIME]
                for sign, rules in yaml.CSafeLoader.yaml_implicit_resolvers.items()
            }

        data, levels = self.data, 0
        try:
            text = data.decode("utf-8").replace("\r\n", "\n")
            for event in yaml.parse(text, Loader=Loader):  # the loader would crash, or never end
                levels += isinstance(event, yaml.CollectionStartEvent)
                levels -= isinstance(event, yaml.CollectionEndEvent)
                if levels > _DEEPEST_YAML or isinstance(event, yaml.AliasEvent):
                    odd = "it has an alias, or is nested too deeply"
                    raise yaml.YAMLError(f"{odd}{event.start_mark}")
            return yaml.load(text, Loader=Loader)
        except (yaml.YAMLError, ValueError) as error:
            raise self.fail(f"no YAML of a recorder: {error}") from None


def _decoded(data: bytes) -> Any:
    try:
        if _HUGE not in data.translate(_DIGITS):
            return msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        pass
    text = data.decode("utf-8")
    return json.loads(text, parse_constant=refuse, parse_float=_float, parse_int=_int)


def _float(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else refuse(text)


def _int(text: str) -> int:
    return int(text) if len(text) < len(_HUGE) else refuse(text)
