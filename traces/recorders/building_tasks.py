"""Short tasks on buildings of their own: inventories, which look back at what they listed, and rounds, which never do."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

from .building_agent import Session
from .building_scripts import Engine

TASKS = 14
"""The tasks of each kind: enough for a difference in price to be sure."""

WANTED = {
    "inventories": "I will list walls now and ask about single ones later.",
    "rounds": "We go through it level by level and raise what is too low.",
}
"""The request that each task begins with."""

LEVELS = ("Level 1", "Level 2", "Level 3", "Level 4")
Rows = list[dict[str, Any]]


def tasks() -> Iterator[tuple[str, Session]]:
    """Every task with the folder that it belongs to."""
    kinds: dict[str, Callable[[Session, random.Random], None]] = {"inventories": _inventory, "rounds": _round}
    for kind, work in kinds.items():
        for number in range(1, TASKS + 1):
            drawn = random.Random(f"{kind} {number}")
            session = Session(f"{kind[:-1]}_{number:02d}", _building(drawn, number), deployed=False, folder=kind)
            session.user(f"This is Harbour Street {2 * number + 1}. {WANTED[kind]}")
            session.reply("The model is open.")
            work(session, drawn)
            yield kind, session


def _building(drawn: random.Random, number: int) -> Engine:
    """An engine on a model with partitions of its own on each level."""
    engine = Engine(datetime(2026, 10, 1, 8, 0, 0) + timedelta(days=number))
    for level in LEVELS:
        for _ in range(drawn.randint(6, 16)):
            x, y = round(drawn.uniform(0.5, 22.0), 2), round(drawn.uniform(0.3, 11.0), 2)
            length = round(drawn.uniform(0.8, 6.5), 2)
            engine.model.add_wall(
                level, "Interior Stud 125", (x, y), (x, y + length), drawn.choice((2.6, 2.8, 3.2)), 0.125
            )
    return engine


def _walls(session: Session, level: str, answer: Callable[[Rows], str]) -> Rows:
    """The rows of the walls of one level, which the agent lists and answers about."""
    found = session.run(
        f"List the walls of {level}.", "List_Walls.cs", {"level": level}, lambda shown: answer(shown.rows)
    )
    assert found is not None
    return found.rows


def _inventory(session: Session, drawn: random.Random) -> None:
    """Lists the walls of three levels; later requests need rows from anywhere in them."""
    levels = drawn.sample(LEVELS, 3)
    listed = {
        level: _walls(session, level, lambda rows: f"{len(rows)} walls, the last is {rows[-1]['Id']}.")
        for level in levels
    }
    for level in levels:
        wall = drawn.choice(listed[level][5:])
        session.user(f"Which type, length and volume has wall {wall['Id']}?")
        session.reply(
            f"Wall {wall['Id']} on {level} is {wall['Type']}, {wall['Length_m']} m long, with {wall['Volume_m3']} m³."
        )
    longest = [max(rows, key=lambda row: (row["Length_m"], row["Id"])) for rows in listed.values()]
    session.user("Which wall is the longest on each of these levels, and how large is its face?")
    session.reply(
        "; ".join(f"{level}: {row['Id']}, {row['Area_m2']} m²" for level, row in zip(levels, longest, strict=True))
        + "."
    )


def _round(session: Session, drawn: random.Random) -> None:
    """Goes from level to level: lists the walls, raises the lowest, and never looks back."""
    for level in drawn.sample(LEVELS, 4):
        rows = _walls(session, level, lambda rows: f"{len(rows)} walls; the smallest face has {_smallest(rows)['Id']}.")
        wall = _smallest(rows)["Id"]
        height = drawn.choice((3.3, 3.4, 3.5))
        session.run(
            f"Raise wall {wall} to {height} m.",
            "Set_Wall_Height.cs",
            {"wallId": wall, "height": height},
            lambda shown: shown.lines[1].removeprefix("✅ ") + ".",
        )


def _smallest(rows: Rows) -> dict[str, Any]:
    return min(rows, key=lambda row: (row["Area_m2"], row["Id"]))
