"""Reports: panels turn a comparison into blocks, renderers show the same blocks in every format.

A panel is a function `(comparison) → blocks`, registered with its place and the question it answers; a renderer is a function
`(sections) → text` (or bytes), registered with the file endings it writes.
"""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..files.writing import write_together
from ..model import Comparison
from ..model.errors import BenchError, nearest
from ..plugins.registry import Entry, entries, register
from .answered import Answered
from .blocks import Block, Prose

REPLAY_LIMIT = (
    "Replay keeps the recorded actions fixed: it measures what each strategy would have exposed the model to, "
    "not whether the task would have succeeded."
)
"""The limit of replay; every report states it."""

NOTHING = "nothing"  # the name of the last part of a report, which names the panels that have nothing to say


@dataclass(frozen=True)
class PanelBlocks:
    """The blocks of one panel about one comparison, under the question it answers. `detail`: a page shows it on request."""

    name: str
    title: str
    blocks: tuple[Block, ...]
    detail: bool = False


@dataclass(frozen=True)
class Section:
    """One comparison in a report: its name (unique in the report), itself, and its panels in order, the empty ones as one line."""

    name: str
    comparison: Answered
    panels: tuple[PanelBlocks, ...]


PanelFunction = Callable[[Answered], Sequence[Block]]
RendererFunction = Callable[[Sequence[Section]], str | bytes | Iterator[str]]
"""A report as a whole, or where it may be large as pieces of text one after the other."""


def panel(name: str, *, order: int, title: str, detail: bool = False) -> Callable[[PanelFunction], PanelFunction]:
    """Decorator that registers a panel: its place in the report, and the question that it answers.

    `detail`: it is for those who want to know it exactly; a page keeps it closed, and it may name metrics.
    """
    return register("panel", name, order=order, title=title, detail=detail)


def renderer(
    name: str, *, endings: tuple[str, ...], extra: tuple[str, str] | None = None, panels: bool = True
) -> Callable[[RendererFunction], RendererFunction]:
    """Decorator that registers a renderer for the file endings it writes (with the dot, lower case).

    `extra`: the package it cannot do without, and the extra of the bench that brings it. `panels`: it shows them; else its sections have none.
    """
    return register("renderer", name, endings=endings, extra=extra, panels=panels)


def build_blocks(comparison: Comparison, names: Sequence[str] | None = None) -> tuple[PanelBlocks, ...]:
    """Every panel's blocks in the order of the report (`names`: only these). A panel without data has none."""
    chosen = [entry for name, entry in entries("panel").items() if names is None or name in names]
    chosen.sort(key=lambda entry: (entry.meta.get("order", 1000), entry.name))
    answered, asked = Answered.of(comparison), [(entry.meta.get("title", entry.name), entry) for entry in chosen]
    return tuple(
        PanelBlocks(entry.name, title, tuple(entry.target(answered)), entry.meta.get("detail", False))
        for title, entry in asked
    )


def failed(comparison: Comparison) -> bool:
    """True if a gate failed: a report then begins with the gates, and the advice comes after them."""
    return any(verdict.outcome == "fail" for verdict in comparison.verdicts)


def without_empty(panels: Sequence[PanelBlocks]) -> tuple[PanelBlocks, ...]:
    """The panels that have something to say, then one line that names the others.

    >>> without_empty([PanelBlocks("probes", "What is asked?", ())])[0].blocks[0].text
    'Nothing to say about: probes.'
    """
    named = ", ".join(panel.name.replace("_", " ") for panel in panels if not panel.blocks)
    rest = PanelBlocks(NOTHING, "The rest", (Prose(f"Nothing to say about: {named}.", "muted"),))
    return (*(panel for panel in panels if panel.blocks), *([rest] if named else []))


def sections(comparisons: Sequence[Comparison], names: Sequence[str] | None = None) -> tuple[Section, ...]:
    """The comparisons as sections of one report; two of one title are told apart by a number. Panels without data are one line."""
    found: list[Section] = []
    taken: Counter[str] = Counter()
    for comparison in map(Answered.of, comparisons):
        title = comparison.title or "Comparison"
        taken[title] += 1
        name = title if taken[title] == 1 else f"{title} ({taken[title]})"
        taken[name] += name != title
        found.append(Section(name, comparison, without_empty(build_blocks(comparison, names))))
    return tuple(found)


STREAM = Path("-")  # the path that stands for standard output


def require_renderer(path: Path, form: str | None = None) -> Entry:
    """Return the renderer of a format, or else of a file's ending; text for standard output.

    Raises BenchError that lists what is known where there is none, or where the path is a folder.
    """
    renderers = entries("renderer")
    known = {ending: entry for entry in renderers.values() for ending in entry.meta["endings"]}
    ending = path.suffix.lower()
    if form is not None:
        found = renderers.get(form) or known.get(f".{form}")
        if found is None:
            raise BenchError(f"unknown format {form!r}{nearest(form, renderers)}")
    elif path == STREAM:
        found = renderers["text"]
    elif path.is_dir():
        raise BenchError(f"{path}: is a folder — give a file name that ends in {', '.join(sorted(known))}")
    elif ending not in known:
        said = f"unknown ending {ending!r}" if ending else "no ending"
        close = nearest(ending, known) if ending else ""
        hint = close if "did you mean" in close else f" — known: {', '.join(sorted(known))}"
        raise BenchError(f"{path}: {said}, which decides the format{hint} (or add --format NAME)")
    else:
        found = known[ending]
    extra = found.meta.get("extra")
    if extra is not None and importlib.util.find_spec(extra[0]) is None:
        raise BenchError(f"{path}: {found.name} needs {extra[0]} — pip install 'agent-memory-bench[{extra[1]}]'")
    return found


def rendered(comparisons: Sequence[Comparison], name: str, panels: Sequence[str] | None = None) -> str | bytes:
    """A report by the name of its renderer: html, text, markdown, junit, json, csv."""
    found = entries("renderer").get(name)
    if found is None:
        raise BenchError(f"unknown renderer {name!r}{nearest(name, entries('renderer'))}")
    document: str | bytes | Iterator[str] = found.target(_sections_for(found, comparisons, panels))
    return "".join(document) if isinstance(document, Iterator) else document


def render(comparisons: Sequence[Comparison], path: Path, panels: Sequence[str] | None = None) -> Path:
    """Write a report, whole or not at all; the path's ending decides the format. Gives the path. Errors: BenchError.

    `panels`: only these; None for all.
    """
    write_together({path: report_pieces(comparisons, path, panels)})
    return path


def report_pieces(
    comparisons: Sequence[Comparison], path: Path, panels: Sequence[str] | None = None, form: str | None = None
) -> Iterator[bytes]:
    """The bytes that `render` would write to a path, piece by piece: a report of many rows is never in memory as a whole. Errors: BenchError."""
    found = require_renderer(path, form)
    if not comparisons:
        raise BenchError(f"{path}: nothing to report — no comparison was made")
    return as_pieces(found.target(_sections_for(found, comparisons, panels)))


def _sections_for(found: Entry, comparisons: Sequence[Comparison], panels: Sequence[str] | None) -> tuple[Section, ...]:
    return sections(comparisons, panels if found.meta.get("panels", True) else ())


def as_pieces(document: str | bytes | Iterator[str]) -> Iterator[bytes]:
    """The bytes of what a renderer gave."""
    pieces = document if isinstance(document, Iterator) else iter([document])
    return (piece if isinstance(piece, bytes) else piece.encode("utf-8", "backslashreplace") for piece in pieces)
