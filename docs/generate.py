"""Writes docs/cli.md, docs/plugins.md, docs/metrics.md and the tables of docs/formats.md from the command line and the registries:
`python docs/generate.py`, or `make docs`.

docs/metrics.md is put together: the definitions are the docstrings, the introductions and worked examples are the parts in docs/metrics/.
A part is named after its group of metrics (`1_cost.md`) and has a heading `## FAMILY` for each example. A family without one shows the
example of its docstring. tests/test_docs.py says when the pages are older than the code, new plug-ins aside; with `--check` this script
says of those too, writes nothing, and ends with 1.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import click

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parent))

from bench.cli import cli  # noqa: E402
from bench.cli.listing import shown_type  # noqa: E402
from bench.metrics import metrics  # noqa: E402
from bench.plugins.registry import KINDS, Entry, entries  # noqa: E402
from bench.plugins.spec import format_value  # noqa: E402
from bench.traces import Kept  # noqa: E402

NOTICE = "<!-- written by docs/generate.py: change the code, then `make docs` -->"

SECTIONS = {
    "reader": ("Trace formats", "A path may name its format, `openai:run.jsonl`; otherwise it is recognised from the content."),
    "reference": ("Reference strategies", "A bare name on the command line. Every comparison holds them beside its own strategies."),
    "summarizer": ("Slot `summarizer`", "What the model sees of one tool result."),
    "compactor": ("Slot `compactor`", "What the model sees of the conversation."),
    "writer": ("Writers", "Who writes the summaries of a compactor: its `writer` parameter."),
    "store": ("Slot `store`", "What is kept of a tool result for later steps."),
    "evaluator": ("Slot `evaluator`", "What is concluded about a step."),
    "extractor": ("Extractors", "What is read back from a record. Every one runs on the stored and on the untruncated record."),
    "router": ("Slot `routers`", "Where the run goes next; a list of them, each at its own decision point."),
    "consumer": ("Slot `consumer`", "What the agent says after an execution."),
    "metric": ("Metrics", "Families: the values of a parameter become part of the name. [metrics.md](metrics.md) has definitions and examples."),
    "gate": ("Gates", "What a `[[gates]]` table of a scenario may set."),
    "panel": ("Panels", "The sections of a report, in its order."),
    "renderer": ("Report formats", "`-o FILE`: the ending decides."),
}  # fmt: skip


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


def shown_default(value: Any) -> str:
    """A default as it is written in a spec."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return format_value(tuple(map(str, value)) if isinstance(value, list | tuple) else str(value))


def parameters(entry: Entry) -> str:
    """The settings of a plug-in with types and defaults, each as it is written in a spec."""
    return ", ".join(
        f"`{item.name}`: {shown_type(item.type)}, required"
        if item.required
        else f"`{item.name}={shown_default(item.default)}`: {shown_type(item.type)}"
        for item in entry.parameters
    )


def declared(entry: Entry) -> str:
    """What a plug-in declared of itself beside its settings."""
    meta = entry.meta
    if entry.kind == "metric":
        return f"{meta['unit']}, {meta['better']} is better, {meta['aggregate']}{family_parameters(entry)}"
    if entry.kind == "router":
        return f"at `{meta['at']}`" + (f", a loop is `{meta['loop']}`" if "loop" in meta else "")
    return ", ".join(f"`{item}`" for item in meta.get("handles", meta.get("endings", ())))


def family_parameters(entry: Entry) -> str:
    """The parameters of a family of metrics with their values; an empty value, which leaves no trace in the name, is one that may be left out."""
    said = []
    for name, values in entry.meta["parameters"].items():
        named = ", ".join(f"`{value}`" for value in values if value)
        said.append(f"; {name}: {named}{'' if all(values) else ', or none'}")
    return "".join(said)


def found(kind: str, written: str | None = None) -> list[Entry]:
    """The plug-ins of a kind: by name, panels in the order of the report. `written`: only those that this page has already."""
    known = [entry for entry in entries(kind).values() if written is None or on_page(entry, written)]
    return sorted(known, key=lambda entry: entry.meta.get("order", 0)) if kind == "panel" else known


def on_page(entry: Entry, written: str) -> bool:
    """Whether a page has a plug-in: in the table of its kind, or under a heading of its own.

    >>> on_page(Entry("gate", "limits", None), "## Gates\\n| `limits` | ...\\n## Panels\\n"), on_page(Entry("panel", "limits", None), "")
    (True, False)
    """
    title = SECTIONS.get(entry.kind, (entry.kind, ""))[0]
    section = written.partition(f"## {title}\n")[2].partition("\n## ")[0]
    return f"| `{entry.name}` |" in section or f"### `{entry.name}`\n" in written


def plugins_page(written: str | None = None) -> str:
    """docs/plugins.md. `written`: of the plug-ins that this page has already, so that what is new does not make it old."""
    lines = ["# Plug-ins", "", NOTICE, "", "Everything that is registered, one file each, found by its decorator."]
    lines += ["[CONTRIBUTING.md](../CONTRIBUTING.md) shows how to add one.", ""]
    for kind in KINDS:
        title, said = SECTIONS.get(kind, (kind, ""))
        known = found(kind, written)
        if not known:
            continue
        lines += [f"## {title}", "", said, ""]
        columns = [
            ("name", [f"`{entry.name}`" for entry in known]),
            ("what it is", [first_sentence(entry.doc) for entry in known]),
            ("declared", [declared(entry) for entry in known]),
            ("parameters", [parameters(entry) for entry in known]),
            ("source", [entry.source for entry in known]),
        ]
        filled = [(head, texts) for head, texts in columns if any(texts)]
        lines += table(tuple(head for head, _ in filled), list(zip(*(texts for _, texts in filled), strict=True)))
    return "\n".join(lines)


# ---------------------------------------------------------------- docs/metrics.md

PARTS = FOLDER / "metrics"
GROUPS = {"cost": "Cost", "loss": "Loss", "needed": "What was needed", "findings": "Findings", "probes": "Probes", "routing": "Routing",
          "decision": "Differences, and which strategy wins"}  # fmt: skip
"""The title of each group of metrics; a group that is not among them is titled by its name."""


def parts() -> Iterator[tuple[str, str, dict[str, str]]]:
    """Each part of docs/metrics/ in order: its name, its introduction, and its worked examples by family."""
    for path in sorted(PARTS.glob("*.md")):
        said, *examples = re.split(r"^## (\w+\.\w+)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        worked = {name: text.strip() for name, text in zip(examples[::2], examples[1::2], strict=True)}
        yield path.stem.partition("_")[2], said.strip(), worked


def definition(doc: str) -> tuple[str, str]:
    """A docstring as (its paragraphs, its example), the `Source:` line left out. Either may be `""`.

    >>> definition("What it is.\\n\\nMore.\\n\\nSource: a paper\\n\\n>>> 1 + 1\\n2")
    ('What it is.\\n\\nMore.', '>>> 1 + 1\\n2')
    """
    paragraphs = [item for item in doc.split("\n\n") if not item.startswith("Source:")]
    told = [item for item in paragraphs if not item.startswith(">>>")]
    return "\n\n".join(told), "\n\n".join(item for item in paragraphs if item.startswith(">>>"))


def docstring_example(entry: Entry, example: str) -> str:
    """The example of a docstring as a code block that runs by itself."""
    return f"```python\n>>> from {entry.target.__module__} import {entry.target.__name__}\n{example}\n```"


def family_section(entry: Entry, worked: str) -> Iterator[str]:
    """One family of metrics: what it declares, its definition, an example, and its source."""
    told, example = definition(entry.doc)
    yield from (f"### `{entry.name}`", "", f"*{declared(entry)}*", "")
    names = [name for name, item in metrics().items() if item.entry == entry]
    yield from (f"Names: {', '.join(f'`{name}`' for name in names)}.", "") if len(names) > 1 else ()
    yield from (told, "")
    if worked or example:
        yield from (worked or docstring_example(entry, example), "")
    if entry.source:
        yield from (f"Source: {entry.source}", "")


def metrics_page(written: str | None = None) -> str:
    """docs/metrics.md. `written`: of the families that this page has already."""
    families: dict[str, list[Entry]] = {}
    for entry in found("metric", written):
        families.setdefault(entry.name.partition(".")[0], []).append(entry)
    lines = ["# Metrics", "", NOTICE, ""]
    for group, said, worked in parts():
        order = list(worked)  # examples build on each other; a newcomer without one comes last
        of_group = sorted(
            families.pop(group, []), key=lambda entry: order.index(entry.name) if entry.name in order else len(order)
        )
        lines += [f"## {GROUPS.get(group, group)}", "", said, ""] if of_group or group == "decision" else [said, ""]
        if group == "introduction":
            lines += [line for path in sorted(PARTS.glob("*.jsonl")) for line in shown_file(path)]
        lines += [line for entry in of_group for line in family_section(entry, worked.get(entry.name, ""))]
    for group, of_group in families.items():  # of newcomers, which have no part of their own
        lines += [f"## {GROUPS.get(group, group)}", ""]
        lines += [line for entry in of_group for line in family_section(entry, "")]
    return "\n".join(lines)


def shown_file(path: Path) -> list[str]:
    """A file as a code block under its name."""
    text = path.read_text(encoding="utf-8").rstrip()
    return [f"`docs/{path.relative_to(FOLDER).as_posix()}`", "", f"```{path.suffix[1:]}", text, "```", ""]


# ---------------------------------------------------------------- docs/formats.md

BEGIN, END = "<!-- written by docs/generate.py from what readers declare -->", "<!-- end of what readers declare -->"


def formats_page(written: str | None = None) -> str:
    """docs/formats.md with its tables written anew between their marks; the rest of the page is written by hand.

    `written`: with the readers that this page has already.
    """
    page = (FOLDER / "formats.md").read_text(encoding="utf-8") if written is None else written
    before, _, after = page.partition(BEGIN)
    old, _, rest = after.partition(END)
    readers = [
        entry
        for entry in found("reader")
        if hasattr(entry.target, "keeps") and (written is None or f"| `{entry.name}` |" in old)
    ]
    kinds = get_args(Kept)
    dots = [
        (f"`{entry.name}`", entry.target.keeps.results, *("•" * (kind in entry.target.keeps.also) for kind in kinds))
        for entry in readers
    ]
    told = [(f"`{entry.name}`", entry.target.keeps.never, entry.target.keeps.tested, entry.source) for entry in readers]
    lines = ["", *table(("reader", "results", *kinds), dots)]
    lines += [*table(("reader", "what it cannot keep", "tested on", "source"), told)]
    return "\n".join([before + BEGIN, *lines, END + rest])


# ---------------------------------------------------------------- docs/cli.md


def commands(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    """A command and every command below it, each with how it is called."""
    yield path, command
    if isinstance(command, click.Group):
        for name, inner in sorted(command.commands.items()):
            yield from commands(inner, f"{path} {name}")


def cli_page(written: str | None = None) -> str:
    """docs/cli.md, whatever is `written` there."""
    lines = ["# Command line", "", NOTICE, ""]
    for path, command in commands(cli, "bench"):
        context = click.Context(
            command, info_name=path, help_option_names=["-h", "--help"]
        )  # as when bench runs it: click keeps the option
        usage = " ".join(command.collect_usage_pieces(context))
        lines += [f"## `{path}`", "", f"    {path} {usage}", "", " ".join((command.help or "").split()), ""]
        options = [
            (f"`{', '.join((*item.opts, *item.secondary_opts))}{'' if item.is_flag else f' {metavar(item, context)}'}`",
             item.help or "")
            for item in command.get_params(context)
            if isinstance(item, click.Option)
        ]  # fmt: skip
        lines += table(("option", "what it does"), options)
    return "\n".join(lines + EXIT_CODES)


EXIT_CODES = [
    "## Exit codes",
    "",
    "| code | meaning |",
    "|---|---|",
    "| 0 | every gate passed, or there were none and something was measured |",
    "| 1 | a gate failed |",
    "| 2 | could not run: bad usage, bad input, broken scenario; one line on standard error |",
    "| 3 | nothing was measured, or a gate is inconclusive (`--allow-inconclusive` makes the latter 0) |",
    "",
    "Where several hold, 2 beats 1 beats 3 beats 0.",
    "",
]


def metavar(option: click.Option, context: click.Context) -> str:
    """What an option takes, as its help shows it."""
    return str(option.make_metavar(context))


PAGES = {"plugins.md": plugins_page, "cli.md": cli_page, "metrics.md": metrics_page, "formats.md": formats_page}


def main() -> None:
    """Write every page, and say which changed; with `--check`, write nothing and end with 1 where one would change."""
    check, old = "--check" in sys.argv[1:], False
    for name, page in PAGES.items():
        path, text = FOLDER / name, page()
        changed = not path.exists() or path.read_text(encoding="utf-8") != text
        old = old or changed
        if not check:
            path.write_text(text, encoding="utf-8")
        said = "old: run `make docs`" if check else "written"
        print(f"docs/{name}: {said if changed else 'as it was'}")
    raise SystemExit(int(check and old))


if __name__ == "__main__":
    main()
