"""What is found of traces and runs is shared by everybody who asks: nobody can change it."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil

import pytest

import bench.evidence

MUTABLE = {"_Told", "_Parts", "_CauseFound"}
"""What grows while one function works, and is seen by nobody else."""

FOUND = [
    value
    for module in pkgutil.iter_modules(bench.evidence.__path__, "bench.evidence.")
    for value in vars(importlib.import_module(module.name)).values()
    if dataclasses.is_dataclass(value) and getattr(value, "__module__", "") == module.name
]


@pytest.mark.parametrize(
    "kind", [kind for kind in FOUND if kind.__name__ not in MUTABLE], ids=lambda kind: kind.__name__
)
def test_values_are_frozen(kind: type) -> None:
    parameters = kind.__dataclass_params__  # type: ignore[attr-defined]
    assert parameters.frozen
