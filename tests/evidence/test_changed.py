"""Values that a rewritten result changes, and cuts and layouts that change none."""

from __future__ import annotations

import json

import pytest
from handmade import compose, result, trace
from measured import evidence_of

from bench.evidence.checks import checks_of
from bench.evidence.unmet import missed_needs
from bench.model import ModelTurn, UserTurn
from bench.text.lossless import write_tables

ROWS = [{"id": f"W{100 + n}", "length": round(2.5 + n * 1.25, 2), "storey": f"L{n % 4}"} for n in range(40)]
RECORDING = trace(
    UserTurn(index=0, content="List the walls."),
    ModelTurn(index=1, content="Yes."),
    result(None, index=2, data=ROWS),
    ModelTurn(index=3, content="Listed."),
)  # fmt: skip


def changes(text: str) -> list[str]:
    """The findings of the rule in a text that replaces the list of walls."""
    strategy = compose("mine", {"summarizer": lambda result: text}, "tests")
    return [item.text for item in checks_of(evidence_of(RECORDING, strategy))["changed"].findings]


@pytest.mark.parametrize("stop", [31, 32, 33])
def test_an_admitted_gap_does_not_join_two_records(stop: int) -> None:
    lines = list(map(json.dumps, ROWS))
    shown = "\n".join([*lines[:10], f"[{stop - 10} lines left out]", *lines[stop:]])
    assert changes(shown) == []
    altered = shown.replace('"length": 51.25', '"length": 50.25')
    assert altered != shown
    assert changes(altered) != []


@pytest.mark.parametrize("end", range(400, 440, 7))
def test_a_cut_in_the_middle_of_json_changes_nothing(end: int) -> None:
    text = json.dumps(ROWS)
    assert changes(f"{text[:end]}\n[{len(text) - 2 * end} characters left out]\n{text[-end:]}") == []


LOG = "\n".join(f"{n:02} step W{100 + n} took {n * 37 % 90 + 10} minutes and ended well" for n in range(30))


@pytest.mark.parametrize("end", range(300, 350, 3))
def test_a_line_that_is_cut_beside_a_notice_is_not_another_line(end: int) -> None:
    recording = trace(*(result(LOG, index=2) if step.index == 2 else step for step in RECORDING.steps))
    shown = f"{LOG[:end]}\n[{len(LOG) - 2 * end} characters left out]\n{LOG[-end:]}"
    for text, is_changed in ((shown, False), (shown.replace("03 step W103 took", "03 step W109 took"), True)):
        mine = compose("mine", {"summarizer": lambda given, text=text: text}, "tests")
        assert bool(checks_of(evidence_of(recording, mine))["changed"].findings) is is_changed


def test_the_first_lines_of_a_table_may_stand_in_data() -> None:
    table = "\n".join(["id    state    size", *(f"W{100 + n}  open     {n}.5" for n in range(9))])
    recording = trace(*(result(table, index=2) if step.index == 2 else step for step in RECORDING.steps))
    for first, unchecked in ((table.split("\n")[:4], 0), (table.split("\n")[6:], 1)):
        text = json.dumps({"message": f"10 lines; first {len(first)} shown.", "lines": first})
        mine = compose("mine", {"summarizer": lambda given, text=text: text}, "tests")
        assert checks_of(evidence_of(recording, mine))["invented"].unchecked == unchecked


def test_objects_in_a_column_are_cells() -> None:
    shirt = {"size": "S", "kind": "cotton", "neck": "v", "hem": "round", "wash": "40"}
    pump = {"hold": "9 bar", "kind": "foot", "tube": "1 m", "feet": "two", "wash": "no"}
    rows = [{"item": "T-Shirt", "id": "95", "options": shirt}, {"item": "Air pump", "id": "12", "options": pump}]
    recording = trace(
        UserTurn(index=0, content="What did I buy?"),
        result(None, index=1, data={"items": rows}),
        ModelTurn(index=2, content="Two things."),
    )
    shown = {"mine": write_tables, "wrong": lambda data: write_tables(data).replace('"S"', '"L"')}
    checks = {
        name: checks_of(
            evidence_of(recording, compose(name, {"summarizer": lambda item, of=of: of(item.data)}, "tests"))
        )
        for name, of in shown.items()
    }
    assert [item.text for item in checks["mine"]["changed"].findings] == []
    assert [item.text for item in checks["wrong"]["changed"].findings] == ["size: L"]


def test_values_without_their_keys_are_missed() -> None:
    steps = (*RECORDING.steps[:3], ModelTurn(index=3, content="W107 is 11.25 m long."))
    shown = "\n".join(f"{row['length']};\nB=2 id={row['id']} storey={row['storey']}" for row in ROWS)
    found = evidence_of(trace(*steps), compose("mine", {"summarizer": lambda result: shown}, "tests"))
    assert checks_of(found)["invented"].unchecked == 1
    assert {item.step for item in missed_needs(found)} == {3}


@pytest.mark.parametrize(
    ("value", "is_change"),
    [*((it, True) for it in ("L3", "L7", "n/a", "W100")), *((it, False) for it in ("@1", "null", "max 12.5", "12.5"))],
)
def test_a_value_of_another_kind_than_its_column_is_not_checked(value: str, is_change: bool) -> None:
    shown = "\n".join(f"id={row['id']} storey={value if not at else row['storey']}" for at, row in enumerate(ROWS))
    strategy = compose("mine", {"summarizer": lambda result: shown}, "tests")
    check = checks_of(evidence_of(RECORDING, strategy))["changed"]
    assert (check.hits > 0, check.unchecked > 0) == (is_change, not is_change)


def as_xml(rows, line="\n  "):
    walls = (f"<wall>{line}{line.join(f'<{k}>{v}</{k}>' for k, v in row.items())}{line}</wall>" for row in rows)
    return f'<walls floor="2">{line.join(walls)}</walls>'


OF_XML = {
    "no indentation": lambda rows: as_xml(rows, ""),
    "CSV": lambda rows: "floor: 2\n" + "\n".join(map(",".join, [rows[0], *(map(str, row.values()) for row in rows)])),
    "JSON": lambda rows: json.dumps({"floor": 2, "wall": rows}),
    "blocks": lambda rows: "\n\n".join(["floor: 2", *("\n".join(f"{k}: {v}" for k, v in it.items()) for it in rows)]),
    "beginning": lambda rows: f"{as_xml(rows, '')[:700]}\n[{len(as_xml(rows)) - 700} characters left out]",
}


@pytest.mark.parametrize("layout", OF_XML)
def test_a_result_in_xml_is_compared_in_every_layout(layout: str) -> None:
    recording = trace(*(result(as_xml(ROWS), index=2) if step.index == 2 else step for step in RECORDING.steps))
    exchanged = [{**ROWS[0], "length": ROWS[1]["length"]}, {**ROWS[1], "length": ROWS[0]["length"]}, *ROWS[2:]]
    altered = [*ROWS[:2], {**ROWS[2], "storey": "L9"}, *ROWS[3:]]
    renamed = [{"id": row["id"], "height": row["length"], "storey": row["storey"]} for row in ROWS]
    for rows in (ROWS, exchanged, altered, renamed):
        mine = compose("mine", {"summarizer": lambda given, rows=rows: OF_XML[layout](rows)}, "tests")
        check = checks_of(evidence_of(recording, mine))["changed"]
        assert bool(check.findings or check.unchecked) == (rows is not ROWS)


@pytest.mark.parametrize(("exchanged", "findings"), [(False, []), (True, ["kind: box", "kind: fin"])])
def test_a_row_may_have_the_fields_of_a_record_inside(exchanged: bool, findings: list[str]) -> None:
    sizes = [{"mm": 7, "kind": "fin"}, {"mm": 8, "kind": "box"}]
    rows = [{"id": f"W{n}", "size": sizes[n], "tags": [f"a{n}", "b"], "price": 40 + n} for n in range(2)]
    recording = trace(*(result(None, index=2, data=rows) if step.index == 2 else step for step in RECORDING.steps))
    kinds = [size["kind"] for size in (sizes[::-1] if exchanged else sizes)]
    lines = (f"W{n}|{sizes[n]['mm']}|{kind}|a{n}, b|{40 + n}" for n, kind in enumerate(kinds))
    shown = "\n".join(["id|size_mm|kind|tags|price", *lines])
    check = checks_of(evidence_of(recording, compose("mine", {"summarizer": lambda item: shown}, "tests")))["changed"]
    assert ([item.text for item in check.findings], check.unchecked) == (findings, 0)
