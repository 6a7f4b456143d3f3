"""Strategies that lose nothing, or only what they say they leave out: layouts, masks, windows, honest summaries, handles."""

from __future__ import annotations

import csv
import io
import json
import re
import textwrap
from collections.abc import Iterator
from typing import Any
from xml.sax.saxutils import escape

import yaml
from msgspec import structs

from bench.model import Message

from .rewriting import Rewrite, as_table, as_value, by_number, leaves, records, summary, table_of, value_of


def reordered(node: Any, keys: bool, rows: bool) -> Any:
    if isinstance(node, dict):
        names = reversed(node) if keys else node
        return {key: reordered(node[key], keys, rows) for key in names}
    if isinstance(node, list):
        return [reordered(item, keys, rows) for item in (reversed(node) if rows else node)]
    return node


def delimited(rows: list[dict[str, Any]], delimiter: str) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def markdown_table(rows: list[dict[str, Any]]) -> str:
    lines = ["| " + " | ".join(rows[0]) + " |", "|" + "---|" * len(rows[0])]
    return "\n".join([*lines, *("| " + " | ".join(map(str, row.values())) + " |" for row in rows)])


def columns(rows: list[dict[str, Any]]) -> str:
    cells = [list(rows[0]), *([str(item) for item in row.values()] for row in rows)]
    widths = [max(len(line[at]) for line in cells) for at in range(len(cells[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells
    )


def nested_lines(node: Any, depth: int = 0) -> Iterator[str]:
    for key, item in node.items() if isinstance(node, dict) else enumerate(node):
        name = key if isinstance(node, dict) else "item"
        if isinstance(item, dict | list):
            yield f"{'  ' * depth}{name}:"
            yield from nested_lines(item, depth + 1)
        else:
            yield f"{'  ' * depth}{name}: {item}"


def bullets(node: Any, depth: int = 0) -> Iterator[str]:
    """A dash before each pair, and alone before each item that holds pairs."""
    for key, item in node.items() if isinstance(node, dict) else (("", item) for item in node):
        label = f"{'  ' * depth}- {key}{':' * bool(key)}".rstrip()
        if isinstance(item, dict | list):
            yield label
            yield from bullets(item, depth + 1)
        else:
            yield f"{label} {item}"


def bracketed(node: Any, path: str = "") -> Iterator[str]:
    for key, item in node.items() if isinstance(node, dict) else enumerate(node):
        inner = f"{path}.{key}".lstrip(".") if isinstance(node, dict) else f"{path}[{key}]"
        if isinstance(item, dict | list):
            yield from bracketed(item, inner)
        else:
            yield f"{inner} = {item}"


def paths(node: Any, path: str = "") -> Iterator[str]:
    if not isinstance(node, dict | list):
        yield f"{path} = {json.dumps(node)}"
    else:
        for key, item in node.items() if isinstance(node, dict) else enumerate(node):
            yield from paths(item, f"{path}.{key}" if path else str(key))


def xml(node: Any, name: str) -> str:
    if isinstance(node, dict):
        return f"<{name}>" + "".join(xml(item, re.sub(r"\W", "_", key)) for key, item in node.items()) + f"</{name}>"
    if isinstance(node, list):
        return f"<{name}>" + "".join(xml(item, "item") for item in node) + f"</{name}>"
    return f"<{name}>{escape(str(node))}</{name}>"


def short_keys(text: str) -> str:
    names = list(dict.fromkeys(key for record in records(value_of(text)) for key in record))
    for at, name in enumerate(names):
        text = text.replace(f'"{name}":', f'"k{at}":')
    return f"Legend: {', '.join(f'k{at}={name}' for at, name in enumerate(names))}\n{text}" if names else text


def by_reference(text: str) -> str:
    strings = list(
        dict.fromkeys(
            item for r in records(value_of(text)) for item in r.values() if isinstance(item, str) and len(item) > 6
        )
    )
    for at, item in enumerate(strings):
        text = text.replace(json.dumps(item), f'"@{at}"')
    return f"Legend: {', '.join(f'@{at}={item}' for at, item in enumerate(strings))}\n{text}" if strings else text


def repeated_lines(text: str) -> str:
    lines: list[str] = []
    for line in text.split("\n"):
        if lines and re.sub(r" \[\d+ times\]$", "", lines[-1]) == line:
            count = int(m[1]) if (m := re.search(r" \[(\d+) times\]$", lines[-1])) else 1
            lines[-1] = f"{line} [{count + 1} times]"
        else:
            lines.append(line)
    return "\n".join(lines)


def nested(item: Any) -> bool:
    return isinstance(item, dict) or (isinstance(item, list) and any(isinstance(one, dict | list) for one in item))


def key_lines_of(value: Any) -> str:
    blocks = []
    for record in records(value):
        flat = {
            key: ", ".join(map(str, item)) if isinstance(item, list) else item
            for key, item in record.items()
            if not nested(item)
        }
        blocks.append("\n".join(f"{key}: {item}" for key, item in flat.items()))
    return "\n\n".join(filter(None, blocks))


def numbered(text: str) -> str:
    return "\n".join(f"{at:>4}\t{line}" for at, line in enumerate(text.split("\n"), 1))


csv_text = as_table(lambda rows: delimited(rows, ","))
markdown = as_table(markdown_table)
yaml_lines = as_value(lambda value: str(yaml.safe_dump(value, sort_keys=False)))
key_lines = as_value(key_lines_of)


def sums_by_group(rows: list[dict[str, Any]]) -> str:
    of = next((key for key, item in rows[0].items() if isinstance(item, float)), "")
    by = next(reversed([key for key, item in rows[0].items() if isinstance(item, str)]))
    sums = {row[by]: sum(other[of] for other in rows if other[by] == row[by]) for row in rows} if of else {}
    listed = ", ".join(f"{group} {number:.2f}" for group, number in sums.items())
    return f"{delimited(rows, ',')}\nsum of {of} by {by}: {listed}" if of else ""


def grouped(rows: list[dict[str, Any]]) -> str:
    """The rows without their keys below the values of the second one, each with its number."""
    names = [*rows[0]]
    lines = [f"columns: {', '.join(name for name in names if name != names[1])}"]
    for group in dict.fromkeys(str(row[names[1]]) for row in rows):
        members = [row for row in rows if str(row[names[1]]) == group]
        lines.append(f"{names[1]} {group} ({len(members)}):")
        lines += [", ".join(str(item) for key, item in row.items() if key != names[1]) for row in members]
    return "\n".join(lines)


def rows_of_pairs(value: Any) -> Iterator[str]:
    """A line for each key, and one of pairs for each row below it; lists and mappings in them are JSON."""
    for key, item in value.items() if isinstance(value, dict) else [("rows", value)]:
        rows = item if isinstance(item, list) and all(isinstance(row, dict) for row in item) else []
        yield f"{key}:" if rows else f"{key}: {item if isinstance(item, str) else json.dumps(item)}"
        for row in rows:
            pairs = (f"{k}={v if isinstance(v, str) else json.dumps(v)}" for k, v in row.items())
            yield f" - {', '.join(pairs)}"


def with_offer(text: str) -> str:
    lines = text.split("\n")
    few = len(lines) // 3
    note = f"[{len(lines) - few} lines left out here; call the tool again to see them]"
    return "\n".join([*lines[:few], note]) if few > 3 else text


LAYOUTS: dict[str, Rewrite] = {
    "unchanged": lambda text: text,
    "pretty": as_value(lambda value: json.dumps(value, indent=2)),
    "pretty_four": as_value(lambda value: json.dumps(value, indent=4)),
    "compact": as_value(lambda value: json.dumps(value, separators=(",", ":"))),
    "keys_sorted": as_value(lambda value: json.dumps(value, sort_keys=True)),
    "keys_reversed": as_value(lambda value: json.dumps(reordered(value, True, False))),
    "rows_reversed": as_value(lambda value: json.dumps(reordered(value, False, True))),
    "python_repr": as_value(repr),
    "thousands": leaves(
        lambda _, item: f"{item:,}" if isinstance(item, int | float) and not isinstance(item, bool) else item
    ),
    "trailing_zeros": lambda text: text if value_of(text) is None else re.sub(r"(\d\.\d)(?=[,}\s])", r"\g<1>0", text),
    "in_a_fence": lambda text: f"```json\n{text}\n```",
    "in_tags": lambda text: f"<result>\n{text}\n</result>",
    "csv": csv_text,
    "tsv": as_table(lambda rows: delimited(rows, "\t")),
    "semicolons": as_table(lambda rows: delimited(rows, ";")),
    "markdown": markdown,
    "columns": as_table(columns),
    "toon": as_table(
        lambda rows: "\n".join(
            [f"rows[{len(rows)}]{{{','.join(rows[0])}}}:", *("  " + ",".join(map(str, row.values())) for row in rows)]
        )
    ),
    "json_lines": as_table(lambda rows: "\n".join(map(json.dumps, rows))),
    "columnar_json": as_table(lambda rows: json.dumps({key: [row[key] for row in rows] for key in rows[0]})),
    "sorted_as_told": as_table(lambda rows: by_number(rows, "lowest first")),
    "header_and_rows": as_table(
        lambda rows: json.dumps({"columns": list(rows[0]), "rows": [list(row.values()) for row in rows]})
    ),
    "yaml": yaml_lines,
    "yaml_list_of_pairs": as_table(
        lambda rows: "\n".join("- " + ", ".join(f"{key}: {item}" for key, item in row.items()) for row in rows)
    ),
    "yaml_items_by_id": as_table(
        lambda rows: "\n".join(
            f"- #{next(iter(row.values()))}\n" + "\n".join(f"  {k}: {v}" for k, v in row.items()) for row in rows
        )
    ),
    "key_lines": key_lines,
    "indented_pairs": as_value(lambda value: "\n".join(nested_lines(value))),
    "equals_pairs": as_table(
        lambda rows: "\n".join(" ".join(f"{key}={json.dumps(item)}" for key, item in row.items()) for row in rows)
    ),
    "dotted_paths": as_value(lambda value: "\n".join(paths(value))),
    "xml": as_value(lambda value: xml(value, "result")),
    "bullets": as_value(lambda value: "\n".join(bullets(value))),
    "rows_of_pairs": as_value(lambda value: "\n".join(rows_of_pairs(value))),
    "with_offer": with_offer,
    "paths_with_brackets": as_value(lambda value: "\n".join(bracketed(value))),
    "wrapped": as_value(lambda value: "\n".join(textwrap.wrap(json.dumps(value), 100, break_on_hyphens=False))),
    "behind_line_numbers": lambda text: "\n".join(f"{n:>5}: {line}" for n, line in enumerate(text.split("\n"), 1)),
    "entities": escape,
    "short_keys": short_keys,
    "strings_by_reference": by_reference,
    "repeated_lines": repeated_lines,
    "numbered_lines": numbered,
    "trimmed_blanks": lambda text: "\n".join(line.rstrip() for line in text.split("\n")),
    "sentences": as_table(
        lambda rows: "\n".join(
            f"{next(iter(row.values()))}: " + ", ".join(f"{k} {v}" for k, v in [*row.items()][1:]) + "." for row in rows
        )
    ),
    "form_noted": as_table(lambda rows: f"table of {len(rows)} rows, reformatted for brevity\n{markdown_table(rows)}"),
    "sums_by_group": as_table(sums_by_group),
    "grouped": as_table(grouped),
    "counted": as_table(lambda rows: f"{len(rows)} rows\n{markdown_table(rows)}"),
}


def stated(messages: list[Message]) -> str:
    """A summary that states every record of the results and every line that is no data, as they are."""
    lines = []
    for message in messages:
        others, rows = table_of(value_of(message.text))
        for row in rows:
            lines.append(
                f"{next(iter(row.values()))}: " + ", ".join(f"{key} {item}" for key, item in [*row.items()][1:])
            )
        if not rows:
            lines += key_lines(message.text).split("\n")
        lines += [f"{key}: {item}" for key, item in others.items()]
    return "What happened so far:\n" + "\n".join(filter(None, lines))


def outlined(messages: list[Message]) -> str:
    """A summary that gives each message behind its speaker."""
    return "\n".join(f"- {message.kind}: {message.text}" for message in messages if message.text)


def last_events(messages: list[Message]) -> list[Message]:
    """The results among the last 100 messages and calls; `<MASKED>` for an older one."""
    events = [message for message in messages for _ in range(max(1, len(message.tool_calls)))]
    old = {m for m in events[:-100] if m.kind == "result"}
    return [structs.replace(m, text="<MASKED>") if m in old else m for m in messages]


HONEST: dict[str, Any] = {
    "summary_of_everything": {"compactor": summary(stated)},
    "outline": {"compactor": summary(outlined)},
    "quotes": {"compactor": summary(lambda old: "\n".join(f"> {line}" for m in old for line in m.text.split("\n")))},
    "keep_all": {},
    "external": {"store": "external"},
    "compact_json": {"summarizer": "compact_json"},
    "csv_table": {"summarizer": "csv_table"},
    "mask": {"compactor": "mask_observations:keep_last=12"},
    "clear": {"compactor": "clear_tool_uses"},
    "swe_agent": {"compactor": "swe_agent.last_n:n=12"},
    "openhands": {"compactor": last_events},
    "window": {"compactor": "sliding_window:keep_last=40"},
}
HARMLESS = {**{name: {"summarizer": function} for name, function in LAYOUTS.items()}, **HONEST}
