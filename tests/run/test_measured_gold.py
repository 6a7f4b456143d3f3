"""What is measured of recordings stays as it was accepted; new figures are accepted with `make accept-gold`, never by a test."""

from __future__ import annotations

import pytest
from measured_gold import GOLD, GROUPS, current


@pytest.mark.parametrize("group", GROUPS)
def test_what_is_measured_is_what_was_accepted(group: str) -> None:
    accepted = (GOLD / f"{group}.txt").read_text(encoding="utf-8").splitlines()
    found = current(group).splitlines()
    assert [line for line in found if line not in accepted] == [], "say why it moved, then make accept-gold"
    assert found == accepted


def test_every_group_was_accepted() -> None:
    assert sorted(path.stem for path in GOLD.iterdir()) == sorted(GROUPS)
