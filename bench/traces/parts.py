"""The count of what a reader left out."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any, Literal

from ..model import Content, OtherPart
from ..model.errors import one_line

Role = Literal["system", "user", "assistant", "tool"]


class Unread:
    """The count of what a file has and its reader did not understand, by a few words each: it
    becomes `Trace.left_out`."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def add(self, what: str, count: int = 1) -> None:
        """Count something that was left out; nothing for a count of 0."""
        if count:
            self.counts[what] = self.counts.get(what, 0) + count

    def kind(self, what: str, kind: object) -> None:
        """Count a thing of a kind that the reader does not know: `event of type 'x'`."""
        self.add(f"{what} of type {one_line(kind)[:40]!r}")

    def extra_keys(self, value: Mapping[str, Any], known: Set[str], where: str) -> None:
        """Count the members of an object that have a value and are not known."""
        if value.keys() <= known:
            return
        for key, member in value.items():
            if key not in known and member not in (None, False, "", [], {}):
                self.add(f"{one_line(key)[:40]!r} of {where}")

    def parts(self, content: Content) -> None:
        """Count the parts of a content that are neither text nor a picture: of these, size and hash
        stay."""
        for part in () if isinstance(content, str) else content:
            if isinstance(part, OtherPart):
                self.kind("block", part.media_type)
