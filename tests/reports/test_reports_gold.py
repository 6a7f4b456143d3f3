"""Every format against its gold file; a new look is accepted with `make accept-gold`, never by a test."""

from __future__ import annotations

from pathlib import Path

import pytest
from report_gold import GOLD, current


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    return current()


@pytest.mark.parametrize("path", sorted(GOLD.iterdir()), ids=lambda path: path.name)
def test_report_is_what_was_accepted(path: Path, made: dict[str, str]) -> None:
    assert made[path.name] == path.read_bytes().decode(), (
        f"{path.name} changed: read the difference, then make accept-gold"
    )


def test_every_report_was_accepted(made: dict[str, str]) -> None:
    assert sorted(path.name for path in GOLD.iterdir()) == sorted(made), "make accept-gold"
