"""Tools of the strategies: values of JSON texts changed by key, and every prompt's history as a summary."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import msgspec

from bench.model import Message

Rewrite = Callable[[str], str]


def value_of(text: str) -> Any:
    """The value of a text that is a JSON container, strings within it that are some read too; None for any other text."""
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return _read_strings(value) if isinstance(value, dict | list) else None


def _read_strings(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _read_strings(item) for key, item in node.items()}
    if isinstance(node, list):
        return [*map(_read_strings, node)]
    inner = value_of(node) if isinstance(node, str) and node[:1] in ("{", "[") else None
    return node if inner is None else inner


def leaves(change: Callable[[str, Any], Any]) -> Rewrite:
    """A summarizer that changes every scalar by its key."""

    def walk(key: str, node: Any) -> Any:
        if isinstance(node, dict):
            return {name: walk(name, item) for name, item in node.items()}
        return [walk(key, item) for item in node] if isinstance(node, list) else change(key, node)

    def rewrite(text: str) -> str:
        value = value_of(text)
        changed = walk("", value)
        return text if changed == value and repr(changed) == repr(value) else json.dumps(changed, ensure_ascii=False)

    return rewrite


def records(node: Any) -> list[dict[str, Any]]:
    """Every mapping of a value, outermost first."""
    if isinstance(node, dict):
        return [node, *(found for item in node.values() for found in records(item))]
    return [found for item in node for found in records(item)] if isinstance(node, list) else []


def each_record(change: Callable[[dict[str, Any]], None]) -> Rewrite:
    """A summarizer that changes every record of a JSON text in place."""

    def rewrite(text: str) -> str:
        value = value_of(text)
        for record in records(value):
            change(record)
        return text if value == value_of(text) else json.dumps(value)

    return rewrite


def as_value(write: Callable[[Any], str]) -> Rewrite:
    """A summarizer that writes the value of a JSON text otherwise; other text stays."""
    return lambda text: text if value_of(text) is None else write(value_of(text))


def column_moved(key: str) -> Rewrite:
    """A summarizer that gives each record the value of the next one."""

    def rewrite(text: str) -> str:
        value = value_of(text)
        found = [record for record in records(value) if key in record]
        items = [record[key] for record in found]
        for record, item in zip(found, items[1:] + items[:1], strict=True):
            record[key] = item
        return text if value == value_of(text) else json.dumps(value)

    return rewrite


def replaced(pattern: str, by: Any) -> Rewrite:
    """A summarizer that replaces a pattern."""
    return lambda text: re.sub(pattern, by, text)


def table_of(value: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The first list of flat records of a value, and what stands beside it."""
    if isinstance(value, dict):
        for key, item in value.items():
            flat = isinstance(item, list) and item and all(isinstance(row, dict) for row in item)
            if flat and not any(isinstance(cell, dict | list) for row in item for cell in row.values()):
                return {name: other for name, other in value.items() if name != key}, item
    return {}, []


def as_table(write: Callable[[list[dict[str, Any]]], str]) -> Rewrite:
    """A summarizer that writes the table of a JSON text; what stands beside it as JSON in front."""

    def rewrite(text: str) -> str:
        others, rows = table_of(value_of(text))
        written = write(rows) if rows else ""
        if not written:
            return text
        return f"{json.dumps(others)}\n{written}" if others else written

    return rewrite


def sheet(rows: list[dict[str, Any]], sign: str = ",") -> str:
    """Rows as delimited text below their keys."""
    return "\n".join(sign.join(map(str, line)) for line in ([*rows[0]], *(row.values() for row in rows)))


def by_number(rows: list[dict[str, Any]], told: str) -> str:
    """Three rows or more by the first column of numbers, the lowest first, and what is told of that."""
    keys = [key for key in rows[0] if all(type(row.get(key)) in (int, float) for row in rows)]
    if len(rows) < 3 or not keys:
        return ""
    return f"sorted by {keys[0]}, {told}\n{sheet(sorted(rows, key=lambda row: row[keys[0]]))}"


def told_of_all(rows: list[dict[str, Any]], key: str) -> str:
    """Rows without a key, and a line that gives all of them the value of the first."""
    rest = [{name: item for name, item in row.items() if name != key} for row in rows]
    return f"all {len(rows)} rows: {key}={rows[0][key]}\n{sheet(rest)}"


Compact = Callable[[list[Message]], list[Message] | None]


def summary(write: Callable[[list[Message]], str], keep: int = 6, after: int = 10) -> Compact:
    """A compactor that puts a summary in the place of all but the system prompt, the task and the last messages."""

    def compactor(messages: list[Message]) -> list[Message] | None:
        if len(messages) < after or any(message.kind == "made" for message in messages):
            return None
        text = write(messages[2:-keep])
        return [*messages[:2], Message(role="user", kind="made", text=text), *messages[-keep:]] if text else None

    return compactor


def without(pattern: str, by: str = "") -> Compact:
    """A compactor that deletes or replaces words of the system prompt and of the user."""

    def compactor(messages: list[Message]) -> list[Message] | None:
        if not any(re.search(pattern, message.text) for message in messages if message.kind in ("system", "user")):
            return None
        return [
            msgspec.structs.replace(message, text=re.sub(pattern, by, message.text))
            if message.kind in ("system", "user")
            else message
            for message in messages
        ]

    return compactor
