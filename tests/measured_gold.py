"""What is measured of recordings in the project: a line for each strategy of each case, so that the line which changes names what moved."""

from __future__ import annotations

import bz2
import hashlib
import json
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from bench.reports.text import terminal_text

from bench import audit, compare, load
from bench.model import Case, Comparison, grouped
from bench.reports import rendered

ROOT = Path(__file__).parents[1]
DATA = Path(__file__).parent / "data"
GOLD = DATA / "measured"

SHIPPED = {
    "truncate": "summarizer=truncate:limit=300",
    "summary": "summarizer=output_summary",
    "console": "summarizer=table_console:max_rows=5",
    "csv": "summarizer=csv_table",
    "mask": "compactor=mask_observations:keep_last=2",
    "old": "compactor=summarize_old:max_tokens=1500",
    "clear": "compactor=clear_tool_uses:trigger=1500",
    "separate": "compactor=separate_commands:max_tokens=1500",
    "routed": "store=by_function+evaluator=step_v1+routers=[executor,step_evaluator]",
}
FORMATS = "tests/data/formats/"
GROUPS = {
    "inventories": ["traces/inventories/inventorie_0[1-6].jsonl"],
    "rounds": ["traces/rounds/round_0[1-3].jsonl"],
    "building": ["traces/building_model"],
    "analysis": ["traces/analysis/completed_cut.jsonl", "traces/analysis/empty_plan.jsonl"],
    "terminal": ["traces/terminal_beginnings/020_commands.json"],
    "formats_a_to_c": [f"{FORMATS}[a-c]*"],
    "formats_d_to_m": [f"{FORMATS}[d-m]*"],
    "formats_n_to_z": [f"{FORMATS}[n-z]*"],
}
GATES = ({"metric": "needed.recall", "min": 0.8}, {"metric": "cost.prompt_tokens", "strategy": "mask", "max": 20_000})


def current(group: str) -> str:
    """What is measured of a group now: the answer, a hash of each part of the comparison, and of each strategy of each case."""
    place = sorted(GROUPS).index(group)
    written = runpy.run_path(str(DATA / "adversarial" / "strategies.py"))
    strange = [*written["HARMFUL"].items(), *written["HARMLESS"].items()][place :: len(GROUPS)]
    strategies = {**SHIPPED, **dict(strange)}
    traces = load(GROUPS[group], ROOT).traces
    found = compare(traces, strategies, title=group, gates=GATES, jobs=2 if group == "analysis" else 1)
    lines = [terminal_text(found), *_parts(found), *_cases(found)]
    lines += [f"candidate {item.strategy} {_hash(item)}" for item in found.choice.candidates]
    lines += [f"{item.id} audit {_hash(item)}" for item in audit(GROUPS[group], ROOT).sessions]
    return "\n".join(lines) + "\n"


def _parts(found: Comparison) -> Iterator[str]:
    """The parts of a comparison's JSON; of what is said of strategies, a line for each."""
    data = json.loads(rendered([found], "json"))
    del data["signature"], data["rows"]
    for name, part in data.items():
        for key, items in _by_strategy(part).items():
            yield f"{name} {key} {_hash(items)}"


def _by_strategy(part: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if not isinstance(part, list) or not all(isinstance(item, dict) for item in part):
        return {"": part}
    for item in part:
        found.setdefault(f"{item.get('strategy', '')}", []).append(item)
    return found


def _cases(found: Comparison) -> Iterator[str]:
    rows = grouped(((row.case, row.strategy), (row.metric, row.value, row.n, row.reason)) for row in found.rows)
    for case in found.cases:
        yield from _case(case, rows)


def _case(case: Case, rows: dict[Any, list[Any]]) -> Iterator[str]:
    yield f"{case.id} recording {_hash(case.recording)}"
    for part in ("losses", "causes", "results"):
        yield f"{case.id} {part} {_hash(getattr(case, part))}"
    yield f"{case.id} prompts {_hash(bz2.decompress(case.prompts).decode() if case.prompts else None)}"
    for name, timed in case.runs.items():
        shown = msgspec.structs.replace(timed, seconds=0.0)
        yield f"{case.id} {name} rows {_hash(rows[case.id, name])} shown {_hash(shown)}"


def _hash(value: Any) -> str:
    """A few letters that change with a value; numbers count to nine digits, because sums are not equally exact in every Python."""
    plain = msgspec.to_builtins(value, order="sorted", str_keys=True)
    return hashlib.sha256(json.dumps(_rounded(plain)).encode("utf-8", "surrogatepass")).hexdigest()[:10]


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return f"{value:.9g}" if isinstance(value, float) else value
