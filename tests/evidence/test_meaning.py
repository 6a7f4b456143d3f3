"""Facts of fields are kept where a reader can tell what they are the value of: judged by texts as models and strategies write them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
from bench.evidence.meaning import Meaning

from bench.model import ToolResult
from bench.text.texts import Texts

DATA = Path(__file__).parents[1] / "data/meaning"
EXAMPLES = [json.loads(line) for line in (DATA / "texts.jsonl").read_text("utf-8").splitlines()]


@cache
def meaning(name: str) -> Meaning:
    data = json.loads((DATA / "results.json").read_text("utf-8"))[name]
    return Meaning({1: ToolResult(index=1, call_id="c", function="get", data=data)}, Texts())


def kept(name: str, text: str, fact: str) -> bool:
    return meaning(name).kept(text, fact, (1,)) if meaning(name).of_field(1, fact) else Texts().holds(text, fact)


@pytest.mark.parametrize("example", EXAMPLES, ids=[item["text"][:40] for item in EXAMPLES])
def test_a_fact_is_kept_with_its_meaning(example: dict[str, str]) -> None:
    found = {fact: kept(example["data"], example["text"], fact) for fact in (*example["kept"], *example["lost"])}
    assert found == {**dict.fromkeys(example["kept"], True), **dict.fromkeys(example["lost"], False)}, example["why"]


def test_there_are_enough_of_both_kinds() -> None:
    assert min(sum(len(item[side]) for item in EXAMPLES) for side in ("kept", "lost")) >= 40
