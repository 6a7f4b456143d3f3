"""The scripts of the building-model session as Python functions, and the engine that runs one and gives its raw execution result.

A script prints lines and shows tables; what it raises becomes `error_message` and `error_details`. The names end in .cs because the agent of
documents 000, 001 and 003 runs C# scripts; the work is done here, in Python, on `building_model.BuildingModel`.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from .building_model import DOOR_TYPES, BuildingModel, Door, Level, Room, Wall

Rows = list[dict[str, Any]]


@dataclass
class Output:
    """What a script printed and showed. Tables are JSON text, as the real engine writes them: indented, with `\\r\\n`."""

    lines: list[str] = field(default_factory=list)
    items: list[dict[str, str]] = field(default_factory=list)

    def println(self, line: str) -> None:
        self.lines.append(line)

    def show(self, rows: Any, buffer_chars: int | None = None) -> None:
        """Show a table. `buffer_chars`: what the channel takes; the rest is lost, as with a real fixed buffer."""
        text = json.dumps(rows, indent=2, ensure_ascii=False).replace("\n", "\r\n")
        self.items.append({"type": "table", "data": text[:buffer_chars]})


Script = Callable[..., None]


@dataclass(frozen=True)
class Registered:
    name: str
    run: Script
    description: str
    categories: tuple[str, ...]
    examples: tuple[str, ...]
    parameters: tuple[tuple[str, str, Any], ...]
    newline: str


SCRIPTS: dict[str, Registered] = {}


def script(
    name: str, categories: tuple[str, ...], examples: tuple[str, ...], newline: str = "\n", **parameters: Any
) -> Callable[[Script], Script]:
    """Register a script under its file name; its parameters are given with their defaults."""

    def add(run: Script) -> Script:
        kinds = {int: "number", float: "number", str: "string"}
        listed = tuple((key, kinds[type(value)], value) for key, value in parameters.items())
        SCRIPTS[name] = Registered(name, run, (run.__doc__ or "").strip(), categories, examples, listed, newline)
        return run

    return add


class Engine:
    """Runs scripts on one model and stamps each run from a fixed clock, 41 seconds apart."""

    def __init__(self, start: datetime) -> None:
        self.model = BuildingModel()
        self.clock = start

    def run(self, name: str, parameters: dict[str, Any]) -> dict[str, Any]:
        """The raw execution result of one script."""
        self.clock += timedelta(seconds=41)
        stamp = self.clock.strftime("%A %d, %B %Y | %I:%M:%S %p")
        registered, output = SCRIPTS[name], Output()
        values = {key: default for key, _, default in registered.parameters} | parameters
        message = details = ""
        try:
            registered.run(self.model, output, **values)
            status = f"✅ Code executed successfully | {stamp}"
        except Exception as error:
            message = str(error.args[0]) if error.args else str(error)
            frame = traceback.extract_tb(error.__traceback__)[-1]
            details = f"{type(error).__name__} in {frame.name}: {frame.line}"
            status = f"❌ Code execution failed | {stamp}"
        return {
            "is_success": not message,
            "output": registered.newline.join([*output.lines, status]),
            "error_message": message,
            "error_details": details,
            "structured_output": output.items,
        }


def manifest() -> list[dict[str, Any]]:
    """What the agent knows of each script before it runs one, in the look of the recorded `rap` session."""
    return [
        {
            "id": f"agent-scripts/{entry.name}",
            "name": entry.name,
            "type": "single-file",
            "absolutePath": f"agent-scripts/{entry.name}",
            "sourcePath": f"agent-scripts/{entry.name}",
            "metadata": {
                "description": entry.description,
                "author": "bench recorder",
                "categories": list(entry.categories),
                "dependencies": ["traces/recorders/building_model.py"],
                "document_type": "Project",
                "usage_examples": list(entry.examples),
                "dateCreated": "2026-09-01T08:00:00",
                "dateModified": "2026-09-01T08:00:00",
            },
        }
        for entry in SCRIPTS.values()
    ]


def parameters_of(name: str) -> Rows:
    """The parameters of a script as the parameter tool gives them; `[]` where it takes none."""
    return [{"name": key, "type": kind, "default": default} for key, kind, default in SCRIPTS[name].parameters]


def _wall_row(wall: Wall) -> dict[str, Any]:
    return {
        "Id": wall.id,
        "Type": wall.type,
        "Level": wall.level,
        "Length_m": round(wall.length_m, 3),
        "Area_m2": round(wall.area_m2, 3),
        "Volume_m3": round(wall.volume_m3, 3),
        "Mark": wall.mark,
    }


def _room_row(room: Room) -> dict[str, Any]:
    return {
        "Id": room.id,
        "Number": room.number,
        "Name": room.name,
        "Level": room.level,
        "Area_m2": round(room.area_m2, 3),
        "Volume_m3": round(room.volume_m3, 3),
    }


@script(
    "Create_Wall.cs", ("Architectural",), ("create a 7 m wall on Level 3",), level="Level 1", length=6.0, height=3.0
)
def create_wall(model: BuildingModel, out: Output, level: str, length: float, height: float) -> None:
    """Creates one straight stud wall on a level, with a given length and height in metres."""
    out.println(f"Preparing a wall of {length:g} m x {height:g} m on '{level}'")
    wall = model.add_wall(level, "Interior Stud 125", (1.5, 6.0), (1.5 + length, 6.0), height, 0.125)
    out.println(f"✅ Wall created: id {wall.id}")


@script(
    "Create_Partition_Row.cs",
    ("Architectural",),
    ("create 7 partitions 2.4 m apart",),
    level="Level 1",
    count=6,
    spacing=2.5,
)
def create_partition_row(model: BuildingModel, out: Output, level: str, count: int, spacing: float) -> None:
    """Creates a row of partition walls on a level, at a fixed spacing in metres, and reports the new ids."""
    for number in range(1, count + 1):
        x = round(spacing * number, 3)
        out.println(f"Preparing partition {number} of {count} at x = {x:g} m")
        wall = model.add_wall(level, "Interior Stud 125", (x, 7.1), (x, 7.1 + 1.25 * (number % 3 + 1)), 2.75, 0.125)
        wall.mark = f"P-{number:02d}"
        out.println(f"✅ Wall created: id {wall.id} ({wall.area_m2:.3f} m²), mark {wall.mark}")


@script("Tag_Doors.cs", ("Architectural", "Annotation"), ("tag the doors of Level 2",), level="Level 1")
def tag_doors(model: BuildingModel, out: Output, level: str) -> None:
    """Tags every door of a level and prints one line per tag, nothing else."""
    for number, door in enumerate(model.of(Door, level), 1):
        out.println(f"✅ Door {door.id} tagged D-{level[-1]}{number:02d} ({door.type.name})")


@script("List_Levels.cs", ("General",), ("list levels",))
def list_levels(model: BuildingModel, out: Output) -> None:
    """Lists the levels of the document with their elevations."""
    out.show([{"Id": x.id, "Name": x.name, "Elevation_m": round(x.elevation_m, 2)} for x in model.levels.values()])


@script("List_Door_Types.cs", ("General",), ("list door types",))
def list_door_types(model: BuildingModel, out: Output) -> None:
    """Lists the door types with their sizes, fire ratings and how many doors use them."""
    used = [door.type.name for door in model.of(Door)]
    rows = [
        {
            "Type": t.name,
            "Width_m": t.width_m,
            "Height_m": t.height_m,
            "FireRating": t.fire_rating,
            "Doors": used.count(t.name),
        }
        for t in DOOR_TYPES
    ]
    out.println(f"{len(rows)} door types, {len(used)} doors.")
    out.show(rows)


@script("List_Walls.cs", ("Architectural",), ("list walls on Level 2", "list all walls"), level="", mark="")
def list_walls(model: BuildingModel, out: Output, level: str, mark: str) -> None:
    """Lists walls with length, area and volume, of one level or with one mark where these are given."""
    walls = [wall for wall in model.of(Wall, level) if mark in ("", wall.mark)]
    out.show([_wall_row(wall) for wall in walls])


@script("Wall_Parameters.cs", ("General",), ("list wall parameters",), newline="\r\n", wallId=0)
def wall_parameters(model: BuildingModel, out: Output, wallId: int) -> None:  # noqa: N803 — the script's own parameter name
    """Lists all parameters of one wall, the first of the document where no id is given."""
    out.println("Searching for a wall...")
    wall = model.get(wallId, Wall) if wallId else model.of(Wall)[0]
    values: list[tuple[str, Any, str]] = [
        ("Id", wall.id, "ElementId"),
        ("Type", wall.type, "ElementId"),
        ("Base Constraint", wall.level, "ElementId"),
        ("Start", f"({wall.start[0]:g}, {wall.start[1]:g})", "XYZ"),
        ("End", f"({wall.end[0]:g}, {wall.end[1]:g})", "XYZ"),
        ("Length", round(wall.length_m, 3), "Double"),
        ("Unconnected Height", wall.height_m, "Double"),
        ("Thickness", wall.thickness_m, "Double"),
        ("Area", round(wall.area_m2, 3), "Double"),
        ("Volume", round(wall.volume_m3, 3), "Double"),
        ("Mark", wall.mark, "String"),
        ("Hosted Doors", ", ".join(str(door.id) for door in wall.doors), "ElementId"),
    ]
    out.show([{"Name": name, "Value": str(value), "Type": kind} for name, value, kind in values])
    out.println(f"✅ Listed {len(values)} parameters of wall {wall.id}.")


@script("Room_Areas.cs", ("Architectural",), ("list rooms with areas", "how large are the rooms"), level="")
def room_areas(model: BuildingModel, out: Output, level: str) -> None:
    """Lists the rooms with area and volume, largest first."""
    rooms = sorted(model.of(Room, level), key=lambda room: (-room.area_m2, room.id))
    out.println(f"{len(rooms)} rooms, {sum(room.area_m2 for room in rooms):.2f} m² in all.")
    for name in [level] if level else model.levels:
        on = model.of(Room, name)
        out.println(f"{name}: {len(on)} rooms, {sum(room.volume_m3 for room in on):.2f} m³")
    out.show([_room_row(room) for room in rooms])


@script("Check_Room_Boundaries.cs", ("Architectural", "Quality"), ("check the rooms",), newline="\r\n", maxRatio=2.0)
def check_room_boundaries(model: BuildingModel, out: Output, maxRatio: float) -> None:  # noqa: N803
    """Checks that each room's sides stay within a ratio, one line per room, and prints the verdict last."""
    bad = []
    for room in model.of(Room):
        (x1, y1), (x2, y2) = room.boundary[0], room.boundary[2]
        ratio = max(x2 - x1, y2 - y1) / min(x2 - x1, y2 - y1)
        bad += [room] if ratio > maxRatio else []
        verdict = "too long" if ratio > maxRatio else "ok"
        out.println(f"Room {room.number} {room.name}: {x2 - x1:.2f} x {y2 - y1:.2f} m, ratio {ratio:.3f}, {verdict}")
    out.println(
        f"{len(bad)} of {len(model.of(Room))} rooms exceed {maxRatio:g}: {', '.join(room.number for room in bad)}"
    )


@script("Set_Wall_Height.cs", ("Architectural",), ("set the height of wall 3010",), wallId=0, height=3.0)
def set_wall_height(model: BuildingModel, out: Output, wallId: int, height: float) -> None:  # noqa: N803
    """Sets the height of one wall and prints its area before and after."""
    wall = model.get(wallId, Wall)
    before = wall.area_m2
    out.println(f"Wall {wall.id} on '{wall.level}': height {wall.height_m:g} m, area {before:.3f} m²")
    if not 0.5 <= height <= 6.0:
        raise ValueError(f"Height {height:g} m is outside 0.5 to 6 m")
    wall.height_m = height
    out.println(f"✅ Height set to {height:g} m, area {wall.area_m2:.3f} m² (change {wall.area_m2 - before:+.3f})")


@script("Delete_Element.cs", ("General",), ("delete element 3020",), elementId=0)
def delete_element(model: BuildingModel, out: Output, elementId: int) -> None:  # noqa: N803
    """Deletes one wall or door by id."""
    element = model.delete(elementId)
    out.println(f"✅ {type(element).__name__} {element.id} deleted")


@script("Model_Summary.cs", ("General",), ("summarise the model",))
def model_summary(model: BuildingModel, out: Output) -> None:
    """Shows three tables: element counts per level, wall volume per type, and open warnings."""
    for level in model.of(Level):
        out.println(f"Collected {level.name}")
    counts = [
        {
            "Level": name,
            "Walls": len(model.of(Wall, name)),
            "Doors": len(model.of(Door, name)),
            "Rooms": len(model.of(Room, name)),
        }
        for name in model.levels
    ]
    out.show(counts)
    volumes: dict[str, float] = {}
    for wall in model.of(Wall):
        volumes[wall.type] = volumes.get(wall.type, 0.0) + wall.volume_m3
    out.show([{"Type": kind, "Volume_m3": round(volume, 3)} for kind, volume in volumes.items()])
    out.show([])


@script("Find_Clashes.cs", ("Quality",), ("find clashes",), tolerance=0.01)
def find_clashes(model: BuildingModel, out: Output, tolerance: float) -> None:
    """Shows the pairs of walls that lie on each other, within a tolerance in metres."""
    walls = model.of(Wall)
    ends = [{(round(p[0] / tolerance), round(p[1] / tolerance)) for p in (w.start, w.end)} for w in walls]
    pairs = [
        (a, b)
        for i, a in enumerate(walls)
        for j, b in enumerate(walls[i + 1 :], i + 1)
        if a.level == b.level and ends[i] == ends[j]
    ]
    out.show([{"A": a.id, "B": b.id, "Level": a.level} for a, b in pairs])


@script("Export_Door_Schedule.cs", ("Documentation",), ("export the door schedule",), bufferChars=1500)
def export_door_schedule(model: BuildingModel, out: Output, bufferChars: int) -> None:  # noqa: N803
    """Shows the door schedule through a channel with a fixed buffer, and prints one line per level."""
    doors = model.of(Door)
    rows = [
        {"Id": d.id, "Type": d.type.name, "Host": d.host, "Level": d.level, "Fire": d.type.fire_rating} for d in doors
    ]
    for name in list(model.levels)[:-1]:
        on = model.of(Door, name)
        out.println(f"{name}: {len(on)} doors, ids {on[0].id} to {on[-1].id}")
        out.println(f"{name}: {sum(d.type.fire_rating != 'none' for d in on)} fire doors")
    out.println(f"Schedule of {len(rows)} doors sent in {bufferChars} characters")
    out.show(rows, buffer_chars=bufferChars)


@script("Show_Legend.cs", ("Documentation",), ("show the legend",))
def show_legend(model: BuildingModel, out: Output) -> None:
    """Shows the colour legend: one object instead of a list of rows."""
    out.show(
        {kind: f"#{index * 37 % 256:02x}a0c8" for index, kind in enumerate(sorted({w.type for w in model.of(Wall)}), 1)}
    )
    out.println("Legend of wall types placed at (25.5, 0)")


@script("Refresh_View.cs", ("General",), ("refresh the view",))
def refresh_view(model: BuildingModel, out: Output) -> None:
    """Refreshes the active view; prints and shows nothing."""
    for wall in model.of(Wall):
        wall.doors.sort(key=lambda door: door.id)
