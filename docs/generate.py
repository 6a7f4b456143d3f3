"""Fills the generated parts of the pages from the command line and the registries, and writes the schema of native traces.

Run `python docs/generate.py`, or `make docs`.

A generated part stands between `<!-- generated: NAME -->` and `<!-- end of NAME -->`; the rest of a page is written by hand. A test says when
a part is older than the code, new plug-ins aside. With `--check` this script says so of new plug-ins too, writes nothing, and ends with 1.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parent))

from bench.cli import cli  # noqa: E402
from bench.cli.listing import SLOTS as LISTED_SLOTS, default_text, type_name  # noqa: E402
from bench.model import SCHEMA_VERSION, AnyStep, Approval, ContextReset, RouteDecision, ToolsChanged  # noqa: E402
from bench.plugins.registry import Plugin, entries  # noqa: E402
from bench.strategies.portfolio import REFERENCES  # noqa: E402
from bench.traces import load  # noqa: E402
from bench.traces.lines import KEY, Header  # noqa: E402

PAGES = ("traces.md", "strategies.md", "ci.md", "metrics.md")
SCHEMA = "trace.schema.json"
PART = re.compile(r"(<!-- generated: (.*) -->\n)(.*?)(<!-- end of \2 -->)", re.DOTALL)
SLOTS = (*LISTED_SLOTS, "consumer")
SHARED = ("debug", "limit", "limits")
"""Options that every command has."""
FEATURES = {
    "routes": RouteDecision,
    "resets": ContextReset,
    "tools": ToolsChanged,
    "approvals": Approval,
}
"""Features of traces that are steps."""
GROUPS = ("cost", "needed", "loss", "faithful", "prompt", "findings", "probes", "routing")
"""The groups of metrics, in the order of the page."""


# ---------------------------------------------------------------- words


def first_sentence(text: str) -> str:
    """The first paragraph's first sentence on one line; `""` for an empty text.

    >>> first_sentence("What it is, e.g. 1.5 of it.\\n\\nMore.")
    'What it is, e.g. 1.5 of it.'
    >>> first_sentence("One. Two.")
    'One.'
    """
    paragraph = " ".join(text.split("\n\n")[0].split())
    position = paragraph.find(". ")
    while position >= 0 and not paragraph[position + 2].isupper():
        position = paragraph.find(". ", position + 1)
    return paragraph if position < 0 else paragraph[: position + 1]


def definition(doc: str) -> str:
    """The paragraphs of a docstring without its examples and its `Source:` line.

    >>> definition("The share of it.\\n\\nMore.\\n\\nSource: a paper\\n\\n>>> 1 + 1\\n2")
    'The share of it.\\n\\nMore.'
    """
    return "\n\n".join(
        item for item in doc.split("\n\n") if not item.startswith(("Source:", ">>>"))
    )


def paragraph(doc: str, start: str) -> str:
    """The rest of a docstring's paragraph that begins so; `""` where there is none.

    >>> paragraph("The share.\\n\\nNot kept: times.\\n\\nSource: a paper", "Not kept: ")
    'times.'
    """
    return next(
        (item.removeprefix(start) for item in doc.split("\n\n") if item.startswith(start)), ""
    )


def cell(text: object) -> str:
    """A text as one cell of a Markdown table."""
    return " ".join(str(text).split()).replace("|", "\\|")


def table(head: tuple[str, ...], rows: list[tuple[object, ...]]) -> Iterator[str]:
    """A Markdown table, and a blank line after it."""
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(map(cell, row))} |"
    yield ""


def settings(entry: Plugin) -> str:
    """The settings of a plug-in, each with its default as it is written in a spec, else with its type."""
    return ", ".join(
        f"`{item.name}`: {type_name(item.annotation)}"
        if item.default is item.empty or item.default is None
        else f"`{item.name}={default_text(item.default)}`"
        for item in entry.parameters.values()
    )


# ---------------------------------------------------------------- parts


def known(kind: str, written: str | None) -> list[Plugin]:
    """The plug-ins of a kind. `written`: only those that this part of a page has already, so that a newcomer does not make it old."""
    return [
        entry for entry in entries(kind).values() if written is None or f"`{entry.name}`" in written
    ]


def is_policy(entry: Plugin) -> bool:
    """True for a strategy that is the rule of an agent or library of today."""
    return ".policies." in f"{getattr(entry.target, '__module__', '')}."


def readers(written: str | None) -> Iterator[str]:
    """Each reader with the features that the traces of its samples have."""
    rows = [
        (
            f"`{entry.name}`",
            first_sentence(entry.doc),
            ", ".join(features_of(entry.name)),
            paragraph(entry.doc, "Not kept: "),
        )
        for entry in known("reader", written)
    ]
    return table(("format", "a file", "its samples have", "not kept"), rows)


def features_of(reader: str) -> list[str]:
    """The features that the traces of a reader's samples have beside messages, calls and results."""
    folder = FOLDER.parent / "tests" / "data" / "formats"
    paths = sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and path.relative_to(folder).parts[0].split(".")[0] == reader
    )
    traces = [trace for path in paths for trace in load([f"{reader}:{path}"]).traces]
    steps = [step for trace in traces for step in trace.steps]
    turns, results = (
        [step for trace in traces for step in getattr(trace, name)]
        for name in ("model_turns", "results")
    )
    has = {
        "untruncated results": any(result.full is not None for result in results),
        "cuts": any(result.truncated_at_source for result in results),
        "errors": not all(result.success for result in results),
        "usage": any(turn.usage is not None for turn in turns),
        "reasoning": any(turn.reasoning is not None for turn in turns),
        "model": any(turn.model is not None for turn in turns),
        "times": any(step.t is not None for step in steps),
        "threads": any(len({step.thread for step in trace.steps}) > 1 for trace in traces),
        "labels": any(trace.labels.keys() - {"task"} for trace in traces),
        **{word: any(isinstance(step, kind) for step in steps) for word, kind in FEATURES.items()},
    }
    return [name for name, is_there in has.items() if is_there]


def strategies(written: str | None) -> Iterator[str]:
    """Every strategy that is no policy of the field, by slot, with its settings."""
    rows = [
        (slot, f"`{entry.name}`", first_sentence(entry.doc), settings(entry))
        for slot in SLOTS
        for entry in known(slot, written)
        if not is_policy(entry)
    ]
    return table(("slot", "name", "rule", "settings"), rows)


def policies(written: str | None) -> Iterator[str]:
    """Every policy of the field."""
    rows = [(slot, f"`{item.name}`", first_sentence(item.doc)) for slot in SLOTS for item in known(slot, written) if is_policy(item)]  # fmt: skip
    return table(("slot", "name", "rule"), rows)


def references(written: str | None) -> Iterator[str]:
    """The strategies that are in every comparison."""
    return table(
        ("name", "slots"),
        [
            (f"`{name}`", f"`{slots}`" if slots else "")
            for name, slots in sorted(REFERENCES.items())
        ],
    )


def measures(written: str | None) -> Iterator[str]:
    """Every metric by group: its unit, direction and sum, and its definition."""
    found = known("number", written)
    for group in dict.fromkeys((*GROUPS, *(entry.name.partition(".")[0] for entry in found))):
        of_group = [entry for entry in found if entry.name.startswith(f"{group}.")]
        yield from (f"## {group}.*", "") if of_group else ()
        for entry in of_group:
            meta = entry.meta
            names = [entry.name.format(place) for place in meta["places"]] or [entry.name]
            yield from (f"### {', '.join(f'`{name}`' for name in names)}", "")
            yield f"*{meta['unit']}, {meta['better']} is better, {meta['aggregate']}.*"
            yield from (definition(entry.doc), "")


def commands(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    """A command and every command below it, each with how it is called."""
    yield path, command
    if isinstance(command, click.Group):
        for name, inner in sorted(command.commands.items()):
            yield from commands(inner, f"{path} {name}")


def command_line(written: str | None) -> Iterator[str]:
    """Every command with its options; those that all have stand once, at the end."""
    shared: dict[str, str] = {}
    for path, command in commands(cli, "bench"):
        if path == "bench":
            continue
        context = click.Context(command, info_name=path, help_option_names=["-h", "--help"])
        yield from (f"### `{path} {' '.join(command.collect_usage_pieces(context))}`", "")
        yield from (" ".join((command.help or "").split()), "")
        options = [
            item
            for item in command.get_params(context)
            if isinstance(item, click.Option) and "--help" not in item.opts and not item.hidden
        ]
        rows = [
            (f"`{written_as(item, context)}`", item.help or "")
            for item in options
            if item.name not in SHARED
        ]
        shared.update(
            {written_as(item, context): item.help or "" for item in options if item.name in SHARED}
        )
        yield from table(("option", "effect"), rows) if rows else ()
    yield from ("### Options of every command", "")
    yield from table(("option", "effect"), [(f"`{name}`", text) for name, text in shared.items()])


def written_as(option: click.Option, context: click.Context) -> str:
    """An option as it is typed, with the name of its value."""
    names = ", ".join((*option.opts, *option.secondary_opts))
    return names if option.is_flag else f"{names} {option.make_metavar(context)}"


PARTS = {
    "readers": readers,
    "strategies": strategies,
    "policies": policies,
    "references": references,
    "command line": command_line,
    "metrics": measures,
}


def filled(page: str, newcomers: bool = True) -> str:
    """A page with its generated parts written anew. `newcomers=False`: of the plug-ins that it names already."""

    def part(found: re.Match[str]) -> str:
        lines = PARTS[found[2]](None if newcomers else found[3])
        return "\n".join([f"{found[1]}", *lines, found[4]])

    return PART.sub(part, page)


def trace_schema() -> dict[str, Any]:
    """The JSON Schema of one line of a native trace: a header or a step, made of the types that read it.

    >>> [option["$ref"] for option in trace_schema()["anyOf"]][:2]
    ['#/$defs/Header', '#/$defs/SystemTurn']
    """
    (header, steps), kinds = msgspec.json.schema_components(
        (Header, AnyStep), ref_template="#/$defs/{name}"
    )
    kinds["Header"]["properties"][KEY] = {"const": SCHEMA_VERSION}
    kinds["Header"]["properties"]["id"]["minLength"] = 1
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "One line of a native trace of bench",
        "description": "A file begins with a header; another header begins the next trace.",
        "anyOf": [header, *steps["anyOf"]],
        "$defs": kinds,
    }


def schema_text() -> str:
    """The file with the schema of native traces."""
    return json.dumps(trace_schema(), indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    """Write every page and the schema, and say which changed; with `--check`, write nothing and end with 1 where one would change."""
    check, old = "--check" in sys.argv[1:], False
    for name in (*PAGES, SCHEMA):
        path = FOLDER / name
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        after = schema_text() if name == SCHEMA else filled(before)
        old = old or after != before
        if not check:
            path.write_text(after, encoding="utf-8")
        state = (
            ("is old: run `make docs`" if check else "written") if after != before else "unchanged"
        )
        print(f"{path.relative_to(FOLDER.parent)}: {state}")
    if check and old:
        sys.exit(1)


if __name__ == "__main__":
    main()
