"""The panel that shows recall by distance and origin, and the line that names empty panels."""

from __future__ import annotations

from compared import comparison

import bench
from bench.reports import build_blocks, sections
from bench.reports.blocks import Prose, Table
from bench.text.wording import quantity


def test_recall_by_distance_and_origin_is_a_row_a_strategy() -> None:
    compared = bench.compare(
        ["traces/building_model/construction.jsonl"], ["cut=compactor=mask_observations:keep_last=1"]
    )
    (panel,) = build_blocks(compared, ["distance"])
    tables = [block for block in panel.blocks if isinstance(block, Table)]
    assert [row[0].text for row in tables[0].rows] == list(compared.everyone)
    assert tables[0].columns[1].title == "0–1 turns back"
    shown = {row[0].text: row[1].text for row in tables[0].rows}
    assert shown["cut"] == quantity(compared.value("cut", "needed.recall.near"), "fraction")
    assert "turns that missed something" in [column.title for column in tables[1].columns]


def test_empty_panels_are_one_line_at_the_end() -> None:
    (section,) = sections([comparison()])
    last = section.panels[-1].blocks
    assert len(last) == 1
    assert isinstance(last[0], Prose)
    assert last[0].text.startswith("Nothing to say about: ")
    assert "probes" in last[0].text
    assert "probes" not in [panel.name for panel in section.panels]
