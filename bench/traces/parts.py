"""Pictures in messages, and the count of what a reader left out."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Set
from typing import Any, Literal

from ..model import Content, ImagePart, OtherPart
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


def picture(url: str) -> ImagePart:
    """A picture by its address: its size and hash where the address carries it (`data:…`), else the
    hash of the address and no size."""
    head, comma, body = url.partition(",")
    if not comma or not head.startswith("data:"):
        digest = hashlib.sha256(url.encode("utf-8", "replace")).hexdigest()
        return ImagePart(media_type="image/*", size_bytes=0, sha256=digest)
    try:
        raw = base64.b64decode(body, validate=True) if head.endswith(";base64") else body.encode()
    except ValueError:  # no base64, or letters that no bytes are
        raw = body.encode("utf-8", "replace")
    media_type = head[5:].split(";")[0] or "image/*"
    return ImagePart(
        media_type=media_type, size_bytes=len(raw), sha256=hashlib.sha256(raw).hexdigest()
    )
