"""With many cases a report opens those that matter: which they are does not depend on the order, and nothing else of a case changes."""

from __future__ import annotations

import random

import msgspec

from bench.model import Case, Failure, RecordingShown, ResultShown, RunShown
from bench.run.verbs import bounded


def case(number: int) -> Case:
    """A case with a result; each tenth failed, the larger numbers lost more, the smaller are larger."""
    failure = Failure(step=1, slot="store", error="no") if number % 10 == 0 else None
    shown = ResultShown(step=1, function="f", characters=1, untruncated=(), kept=(), missed=0, lost=0)
    return Case(id=f"c{number:03}", recording=RecordingShown(sha256="", counted_tokens=1000 - number), prompts=b"x", results=(shown,),
                runs={"a": RunShown(failure=failure)}, results_needed=number)  # fmt: skip


def test_those_that_matter_are_kept_in_any_order() -> None:
    cases = [case(number) for number in range(100)]
    expected = bounded(cases, 20)
    opened = {item.id for item in expected if not item.abridged}
    assert {"c099", "c098", "c097", "c096", "c095"} <= opened, "lost most"
    assert {"c000", "c001", "c002", "c003", "c004"} <= opened, "largest"
    assert len([name for name in opened if name.endswith("0")]) >= 5, "failed"
    assert 14 <= len(opened) <= 20
    for seed in range(5):
        shuffled = random.Random(seed).sample(cases, 100)
        assert [*bounded(shuffled, 20)] == [*expected]
    for was, now in zip(cases, expected, strict=True):
        assert now in (was, msgspec.structs.replace(was, prompts=b"", results=(), abridged=True))


def test_few_cases_are_as_they_were() -> None:
    cases = [case(number) for number in range(5)]
    assert [*bounded(reversed(cases))] == cases
