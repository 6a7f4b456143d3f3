"""Strict reading of JSON: from a text, or from a file's bytes with the place of an error."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

import msgspec

from ..model import too_deep

_DIGITS = bytes(ord("0") if chr(byte).isdigit() and byte < 128 else ord(" ") for byte in range(256))
# A number with more digits overflows a float, at the latest in a sum of a few such numbers.
_HUGE = b"0" * 300


class NotJson(ValueError):
    """Bytes that are not a JSON value: the reason, and the number of lines before the place."""

    def __init__(self, what: str, lines_before: int = 0) -> None:
        super().__init__(what)
        self.lines_before = lines_before


def strict_json(text: str) -> Any:
    """The JSON value of a text; None if it is not JSON, nested too deep, or contains NaN, which
    cannot be written again.

    >>> strict_json('{"a": [1]}'), strict_json("[1, NaN]"), strict_json("done")
    ({'a': [1]}, None, None)
    """
    try:
        value = msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        if "\\u" not in text:  # only escapes of lone surrogates are JSON that msgspec does not take
            return None
        try:
            value = json.loads(text, parse_constant=_refuse)
        except (ValueError, RecursionError):
            return None
    return None if too_deep(value) else value


def decode(data: bytes) -> Any:
    """The JSON value of bytes. Lone surrogates are read; NaN, infinity and numbers of 300 digits
    are refused.

    Raises NotJson, or RecursionError where the value is nested too deep to be read.
    """
    try:
        if _HUGE not in data.translate(_DIGITS):
            return msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        pass
    try:
        text = data.decode("utf-8")
        return json.loads(text, parse_constant=_refuse, parse_float=_float, parse_int=_int)
    except UnicodeDecodeError as error:
        before = data[: error.start]
        column = len(before) - before.rfind(b"\n")
        what = f"byte {column} of the line is not UTF-8 (0x{data[error.start]:02x}) — save the file as UTF-8"
        raise NotJson(what, before.count(b"\n")) from None
    except json.JSONDecodeError as error:
        what = f"not JSON at column {error.colno}: {error.msg}"
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
            what = "ends in the middle of a JSON value — the file was cut short; record it again or drop the rest"
        raise NotJson(what, error.lineno - 1) from None


def _refuse(name: str) -> NoReturn:
    raise NotJson(f"{name[:30]} is not a JSON number — write null instead")


def _float(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse(text)


def _int(text: str) -> int:
    return int(text) if len(text) < len(_HUGE) else _refuse(text)
