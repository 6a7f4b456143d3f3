"""The report as plain text for a log or a mail: 100 columns wide, no colour."""

from __future__ import annotations

from collections.abc import Sequence

from . import NOTHING, WIDTH, Section, renderer
from .scenarios_table import scenarios_blocks
from .text_blocks import drawn, heading


@renderer("text", endings=(".txt",))
def text(sections: Sequence[Section]) -> str:
    """Every panel as text: headings, sentences, aligned tables, a sparkline for each line of a chart."""
    lines = drawn(scenarios_blocks([(section.name, section.comparison) for section in sections]), WIDTH)
    for section in sections:
        lines += heading(section.name, "=")
        for panel in section.panels:
            titled = [] if panel.name == NOTHING else heading(panel.title, "-")
            lines += [*titled, *drawn(panel.blocks, WIDTH)]
    return "\n".join(lines).rstrip() + "\n"
