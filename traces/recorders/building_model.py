"""A small building model in memory: levels, walls, doors and rooms with computed areas and volumes. Lengths in metres, ids from 3001."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

Point = tuple[float, float]
FIRST_ID = 3001


@dataclass(frozen=True)
class DoorType:
    name: str
    width_m: float
    height_m: float
    fire_rating: str


DOOR_TYPES = (
    DoorType("Single-Flush 0.8 x 2.1", 0.8, 2.1, "none"),
    DoorType("Single-Flush 0.9 x 2.1", 0.9, 2.1, "none"),
    DoorType("Single-Flush 1.0 x 2.1 T30", 1.0, 2.1, "T30"),
    DoorType("Double-Flush 1.6 x 2.1", 1.6, 2.1, "none"),
    DoorType("Double-Glass 1.8 x 2.4", 1.8, 2.4, "none"),
    DoorType("Sliding-Steel 2.4 x 2.5 T90", 2.4, 2.5, "T90"),
)


@dataclass
class Level:
    id: int
    name: str
    elevation_m: float


@dataclass
class Wall:
    """A straight wall; its area is the face without the doors in it."""

    id: int
    level: str
    type: str
    start: Point
    end: Point
    height_m: float
    thickness_m: float
    mark: str = ""
    doors: list[Door] = field(default_factory=list)

    @property
    def length_m(self) -> float:
        return math.dist(self.start, self.end)

    @property
    def area_m2(self) -> float:
        return self.length_m * self.height_m - sum(door.type.width_m * door.type.height_m for door in self.doors)

    @property
    def volume_m3(self) -> float:
        return self.area_m2 * self.thickness_m


@dataclass
class Door:
    id: int
    type: DoorType
    host: int
    level: str


@dataclass
class Room:
    """A room bounded by a polygon; its area is the polygon's, by the shoelace formula."""

    id: int
    number: str
    name: str
    level: str
    boundary: tuple[Point, ...]
    height_m: float

    @property
    def area_m2(self) -> float:
        pairs = zip(self.boundary, self.boundary[1:] + self.boundary[:1], strict=True)
        return abs(sum(x1 * y2 - x2 * y1 for (x1, y1), (x2, y2) in pairs)) / 2

    @property
    def perimeter_m(self) -> float:
        return sum(math.dist(a, b) for a, b in zip(self.boundary, self.boundary[1:] + self.boundary[:1], strict=True))

    @property
    def volume_m3(self) -> float:
        return self.area_m2 * self.height_m


# Where the cross walls stand on each storey, and what the rooms between them are called: south side, then north side.
_PLAN: dict[str, tuple[tuple[float, ...], tuple[str, ...], tuple[float, ...], tuple[str, ...]]] = {
    "Level 1": (
        (6.4, 15.1),
        ("Lobby", "Reception", "Archive"),
        (9.2, 17.65),
        ("Plant Room", "Server Room", "Loading Bay"),
    ),
    "Level 2": (
        (7.3, 12.9),
        ("Office North-West", "Office 2.02", "Print Room"),
        (8.45, 19.3),
        ("Meeting 2", "Open Plan East", "Kitchen"),
    ),
    "Level 3": ((5.85, 16.2), ("Studio A", "Studio B", "Model Workshop"), (11.75,), ("Library", "Quiet Room")),
    "Level 4": ((10.35,), ("Board Room", "Terrace Lounge"), (7.9, 14.55), ("Office 4.03", "Office 4.04", "Store 4.05")),
}
_WIDTH_M, _DEPTH_M, _SOUTH_M, _NORTH_M = 24.0, 12.5, 5.2, 7.1


class BuildingModel:
    """All elements of one document, by id. Every change is checked and raises ValueError or KeyError where it makes no sense."""

    def __init__(self) -> None:
        self._next_id = FIRST_ID
        self.levels: dict[str, Level] = {}
        self.elements: dict[int, Any] = {}
        for number, name in enumerate(("Level 1", "Level 2", "Level 3", "Level 4", "Roof")):
            self.levels[name] = Level(self._take_id(), name, 3.6 * number)
            self.elements[self.levels[name].id] = self.levels[name]
        for storey, name in enumerate(_PLAN):
            self._build_storey(name, storey + 1)

    def _take_id(self) -> int:
        self._next_id += 1
        return self._next_id - 1

    def _build_storey(self, level: str, storey: int) -> None:
        south, south_names, north, north_names = _PLAN[level]
        corners = ((0.0, 0.0), (_WIDTH_M, 0.0), (_WIDTH_M, _DEPTH_M), (0.0, _DEPTH_M))
        for start, end in zip(corners, corners[1:] + corners[:1], strict=True):
            self.add_wall(level, "Exterior Brick 365", start, end, 3.6, 0.365)
        corridor = [
            self.add_wall(level, "Interior Block 200", (0.0, y), (_WIDTH_M, y), 3.2, 0.2) for y in (_SOUTH_M, _NORTH_M)
        ]
        for positions, low, high in ((south, 0.0, _SOUTH_M), (north, _NORTH_M, _DEPTH_M)):
            for x in positions:
                self.add_wall(level, "Interior Stud 125", (x, low), (x, high), 3.2, 0.125)
        number = 0
        for positions, names, low, high, host in (
            (south, south_names, 0.0, _SOUTH_M, corridor[0]),
            (north, north_names, _NORTH_M, _DEPTH_M, corridor[1]),
        ):
            edges = (0.0, *positions, _WIDTH_M)
            for left, right, name in zip(edges[:-1], edges[1:], names, strict=True):
                number += 1
                boundary = ((left, low), (right, low), (right, high), (left, high))
                self._add(Room(self._take_id(), f"{storey}.{number:02d}", name, level, boundary, 3.2))
                self.add_door(host.id, DOOR_TYPES[(storey * 3 + number * 5) % len(DOOR_TYPES)])

    def _add(self, element: Any) -> Any:
        self.elements[element.id] = element
        return element

    def of(self, kind: type, level: str | None = None) -> list[Any]:
        """The elements of one class in order of their ids, of one level where it is named. KeyError for an unknown level."""
        if level and level not in self.levels:
            raise KeyError(f"Level '{level}' does not exist; levels are {', '.join(self.levels)}")
        return [
            e for e in self.elements.values() if isinstance(e, kind) and level in (None, "", getattr(e, "level", None))
        ]

    def get(self, element_id: int, kind: type) -> Any:
        found = self.elements.get(element_id)
        if not isinstance(found, kind):
            raise KeyError(f"No {kind.__name__.lower()} with id {element_id} in the document")
        return found

    def add_wall(
        self, level: str, type_name: str, start: Point, end: Point, height_m: float, thickness_m: float
    ) -> Wall:
        if level not in self.levels:
            raise KeyError(f"Level '{level}' does not exist; levels are {', '.join(self.levels)}")
        if math.dist(start, end) < 0.01:
            raise ValueError(f"The wall from {start} to {end} is shorter than 0.01 m")
        wall: Wall = self._add(Wall(self._take_id(), level, type_name, start, end, height_m, thickness_m))
        return wall

    def add_door(self, host: int, door_type: DoorType) -> Door:
        wall = self.get(host, Wall)
        door: Door = self._add(Door(self._take_id(), door_type, host, wall.level))
        wall.doors.append(door)
        return door

    def delete(self, element_id: int) -> Any:
        """Take a wall or a door out of the model. KeyError for an unknown id, ValueError for what must stay."""
        element = self.elements.get(element_id)
        if element is None:
            raise KeyError(f"No element with id {element_id} in the document")
        if isinstance(element, Wall) and element.doors:
            raise ValueError(f"Wall {element_id} hosts {len(element.doors)} doors; delete them first")
        if not isinstance(element, Wall | Door):
            raise ValueError(f"A {type(element).__name__} cannot be deleted by this script")
        return self.elements.pop(element_id)
