"""Messages between the process that measures and a child, and the limits of a child.

It imports little, since a child imports it, and each session is a fork of the child.
"""

from __future__ import annotations

import contextlib
import math
import struct
import time
from socket import socket

import msgspec

from ..files.limits import limit

CODE = struct.Struct("=i")
"""The exit code of a process, as the body of a message."""

SPOILT = "it left its process unable to answer — do not replace parts of Python or of the bench"

_HEAD = struct.Struct("=cQ")
_PIECE_BYTES = 1 << 16  # small enough that malloc does not map new memory for each piece


class Limits(msgspec.Struct, frozen=True):
    """The seconds that one request may take, the bytes of memory of a process, and the real paths
    of files that it may not read (Linux)."""

    call_s: float = msgspec.field(default_factory=lambda: limit("call"))
    memory: int = msgspec.field(default_factory=lambda: limit("memory"))
    hidden: tuple[str, ...] = ()

    @property
    def answer_bytes(self) -> int:
        """The most bytes that a session may answer; decoding them takes up to 32 times as much
        memory."""
        return self.memory >> 5


class Frames:
    """Messages on a socket: a kind of one byte, the length of the body, and the body.

    The kinds are R(equest), C(ount), A(nswer), (raised e)X(ception) and E(nd of the process).
    """

    def __init__(self, pipe: socket) -> None:
        self.pipe = pipe
        self._unread = bytearray()

    def send(self, kind: bytes, body: bytes) -> None:
        """Send a message. A failure is ignored: `receive` will raise."""
        with contextlib.suppress(OSError):
            self.pipe.sendall(_HEAD.pack(kind, len(body)) + body)

    def receive(self, room: float = math.inf, until: float = math.inf) -> tuple[bytes, bytes]:
        """The kind and the body of the next message.

        Raises EOFError if the other end was closed, TimeoutError at the time `until` of the
        monotonic clock, OverflowError for a body of more than `room` bytes.
        """
        unread, start = self._unread, _HEAD.size
        while True:
            if len(unread) >= start:
                kind, length = _HEAD.unpack_from(unread)
                if length > room:
                    raise OverflowError
                if len(unread) >= start + length:
                    body = bytes(unread[start : start + length])
                    del unread[: start + length]
                    return kind, body
            if until < math.inf:
                seconds_left = until - time.monotonic()
                if seconds_left <= 0:
                    raise TimeoutError
                self.pipe.settimeout(seconds_left)
            piece = self.pipe.recv(_PIECE_BYTES)
            if not piece:
                raise EOFError
            unread += piece
