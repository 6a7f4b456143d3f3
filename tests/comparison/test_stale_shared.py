"""Which cases two comparisons share, by the rule that the docstring says, and each reason for which accepted values no longer compare."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from decided import INFOS, against, comparison, only
from hypothesis import given, strategies as st

from bench.comparison.baselines import SharedCases, baseline_from, shared_cases, stale_metrics
from bench.model import Comparison, Signature

METRIC = "needed.recall"
NAMES = st.dictionaries(st.sampled_from("abcde"), st.sampled_from(["1", "2", "3"]), min_size=1, max_size=4)


def held_against(then: dict[str, str], now: dict[str, str], **asked: Any) -> Comparison:
    """A comparison of cases, each with the recording that it is of, held against another."""
    before = comparison(only(METRIC, s=dict.fromkeys(then, 0.9)), traces=then)
    after = comparison(only(METRIC, s=dict.fromkeys(now, 0.9)), traces=now, against=against(before))
    return msgspec.structs.replace(after, signature=msgspec.structs.replace(after.signature, **asked))


def of(then: dict[str, str], now: dict[str, str], **asked: Any) -> SharedCases:
    return shared_cases(held_against(then, now, **asked), [*then, ""])


def test_each_kind_of_case() -> None:
    then = {"same": "1", "gone": "2", "old name": "3", "replaced": "4", "asked": "5"}
    now = {"same": "1", "new": "6", "new name": "3", "replaced": "7", "asked": "5"}
    assert of(then, now, questions={"asked": "others"}) == SharedCases(
        shared=("same",),
        new=("new",),
        lost=("gone",),
        renamed=(("old name", "new name"),),
        other=(
            ("asked", "is asked other questions (labels or probes)"),
            ("replaced", "is another recording under the same name"),
        ),
    )


@given(then=NAMES, now=NAMES)
def test_every_case_is_of_one_kind(then: dict[str, str], now: dict[str, str]) -> None:
    found = of(then, now)
    before, after = {old for old, _ in found.renamed}, {new for _, new in found.renamed}
    other = {case for case, _ in found.other}
    assert set(found.shared) | other == then.keys() & now.keys()
    assert all(then[case] == now[case] for case in found.shared)
    assert all(then[case] != now[case] for case in other)
    assert set(found.lost) | before == then.keys() - now.keys()
    assert set(found.new) | after == now.keys() - then.keys()
    assert not before & set(found.lost)
    assert not after & set(found.new)
    assert all(then[old] == now[new] for old, new in found.renamed)
    assert {then[case] for case in found.lost}.isdisjoint(now[case] for case in now.keys() - then.keys())
    assert found.all_shared == (then == now)


def test_without_a_baseline_of_its_own_a_comparison_is_held_against_itself() -> None:
    plain = comparison(only(METRIC, s={"a": 0.9, "b": 0.9}))
    assert shared_cases(plain, ["a", "b", ""]) == SharedCases(shared=("a", "b"))
    assert shared_cases(plain, ["a"]) == SharedCases(shared=("a",), new=("b",))
    assert shared_cases(plain, ["a", "b", "c"]) == SharedCases(shared=("a", "b"), lost=("c",))


RECALL, TOKENS, PRICE = METRIC, "cost.prompt_tokens", "cost.cost_usd"
SIGNED = comparison(only(METRIC, s={"a": 0.9})).signature
CHANGES: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, str]]] = [
    ("nothing", {}, {}, {}),
    ("another seed", {"seed": 1}, {"seed": 2}, {}),
    ("another release", {"bench_version": "1"}, {"bench_version": "2"}, {}),
    ("facts", {"facts_version": "1"}, {"facts_version": "2"}, dict.fromkeys(
        (RECALL, TOKENS, PRICE), "the pattern of facts changed (1 then, 2 now)")),
    ("a family", {"metrics": {RECALL: 1, TOKENS: 1, PRICE: 1}}, {"metrics": {RECALL: 1, TOKENS: 1, PRICE: 1}}, {}),
    ("an older family", {"metrics": {RECALL: 3, TOKENS: 1, PRICE: 1}}, {}, {
        RECALL: f"how {RECALL} is counted changed (version 3 then, version 1 now)"}),
    ("the fit", {"calibration": ""}, {"calibration": "1"}, dict.fromkeys(
        (TOKENS, PRICE), "how counts of tokens are fitted changed (not said then, 1 now)")),
    ("the model", {"model": "m"}, {"model": ""}, dict.fromkeys(
        (TOKENS, PRICE), "the model of traces that name none changed (m then, not said now)")),
    ("prices", {"prices_date": "d"}, {"prices_date": "e"}, {PRICE: "the table of prices changed (d then, e now)"}),
    ("the encoding of a case", {"case_encodings": {"a": ("x",), "b": ("z",)}}, {"case_encodings": {"a": ("y",), "c": ("w",)}},
     dict.fromkeys((TOKENS, PRICE), "the token encoding changed (x then, y for a now)")),
    ("encodings of other cases", {"case_encodings": {"b": ("x",)}, "encodings": ("x",), "traces": {"a": "1"}},
     {"case_encodings": {"c": ("y",)}, "encodings": ("y",), "traces": {"a": "1"}},
     dict.fromkeys((TOKENS, PRICE), "the token encoding changed (x then, y now)")),
    ("encodings, and other traces", {"encodings": ("x",), "traces": {"a": "1"}, "case_encodings": {}},
     {"encodings": ("y",), "traces": {"b": "1"}, "case_encodings": {}}, {}),
]  # fmt: skip


@pytest.mark.parametrize(("then", "now", "stale"), [item[1:] for item in CHANGES], ids=[item[0] for item in CHANGES])
def test_why_accepted_values_no_longer_compare(
    then: dict[str, Any], now: dict[str, Any], stale: dict[str, str]
) -> None:
    def signature(fields: dict[str, Any]) -> Signature:
        return msgspec.structs.replace(SIGNED, **fields)

    values = {"s": {metric: {"a": 1.0} for metric in (RECALL, TOKENS, PRICE, "gone")}}
    assert stale_metrics(signature(now), baseline_from(signature(then), values), INFOS) == stale
