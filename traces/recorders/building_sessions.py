"""Three conversations with the building agent: a survey on raw results, a construction on summarised ones, and one where things go wrong."""

from __future__ import annotations

from datetime import datetime

from .building_agent import Session, Shown
from .building_scripts import Engine


def survey() -> Session:
    """Recorded before summaries were deployed: the agent reads every row, and later requests need rows far down."""
    log = Session("survey", Engine(datetime(2026, 9, 14, 9, 0, 0)), deployed=False)
    log.run(
        "Which levels does the model have?",
        "List_Levels.cs",
        {},
        lambda s: (
            f"{len(s.rows)} levels, from {s.rows[0]['Name']} (id {s.rows[0]['Id']}) to {s.rows[-1]['Name']} at {s.rows[-1]['Elevation_m']} m."
        ),
    )
    log.parameters("I need the rooms with their areas.", "Room_Areas.cs")
    rooms = log.run(
        "Run it for all levels.",
        "Room_Areas.cs",
        {"level": ""},
        lambda s: (
            f"{s.lines[0]} The largest is {s.rows[0]['Number']} {s.rows[0]['Name']} with {s.rows[0]['Area_m2']} m², "
            f"the median room {s.rows[len(s.rows) // 2]['Number']} with {s.rows[len(s.rows) // 2]['Area_m2']} m², "
            f"the smallest {s.rows[-1]['Number']} {s.rows[-1]['Name']} with {s.rows[-1]['Area_m2']} m² (id {s.rows[-1]['Id']})."
        ),
    )
    all_rooms = rooms.rows if rooms else []
    walls = log.run(
        "List the walls of Level 2.",
        "List_Walls.cs",
        {"level": "Level 2"},
        lambda s: (
            f"{len(s.rows)} walls on Level 2. The shortest is {_shortest(s)['Id']} ({_shortest(s)['Length_m']} m, {_shortest(s)['Type']}), "
            f"the largest face has {_largest(s)['Id']} with {_largest(s)['Area_m2']} m² and {_largest(s)['Volume_m3']} m³."
        ),
    )
    last = walls.rows[-1]["Id"] if walls else 0
    parameters = log.run(
        "Show me everything about the last of them.",
        "Wall_Parameters.cs",
        {"wallId": last},
        lambda s: (
            f"Wall {last}: {_value(s, 'Start')} to {_value(s, 'End')}, {_value(s, 'Thickness')} m thick, volume {_value(s, 'Volume')} m³."
        ),
        thought=f"The last wall of that list is {last}.",
    )
    height = _value(parameters, "Unconnected Height") if parameters else ""
    changed = log.run(
        "Raise it to 3.45 m.",
        "Set_Wall_Height.cs",
        {"wallId": last, "height": 3.45},
        lambda s: f"Wall {last} went from {height} m to 3.45 m. {s.lines[1].removeprefix('✅ ')}.",
    )
    log.run(
        "Which door types are there, and which are fire rated?",
        "List_Door_Types.cs",
        {},
        lambda s: (
            f"{s.lines[0]} Fire rated: "
            + "; ".join(f"{r['Type']} ({r['Doors']} in use)" for r in s.rows if r["FireRating"] != "none")
            + f". The widest is {s.rows[-1]['Type']} with {s.rows[-1]['Width_m']} m."
        ),
    )
    checked = log.run(
        "Check the rooms against a ratio of 2.",
        "Check_Room_Boundaries.cs",
        {"maxRatio": 2.0},
        lambda s: f"{s.lines[-2]}. The first of them reads: {next(x for x in s.lines if x.endswith('too long'))}.",
    )
    summary = log.run(
        "Summarise the model.",
        "Model_Summary.cs",
        {},
        lambda s: (
            "Per level: "
            + ", ".join(f"{r['Level']} {r['Walls']} walls" for r in s.tables[0])
            + f". Most volume is in {s.tables[1][0]['Type']} with {s.tables[1][0]['Volume_m3']} m³; there are {len(s.tables[2])} warnings."
        ),
    )
    small = [row for row in all_rooms if row["Area_m2"] < 30.0]
    too_long = [x for x in checked.lines if x.endswith("too long")] if checked else []
    volumes = summary.tables[1] if summary else []
    log.user("Give me a final note: the small rooms, the room checks, and the changed wall with its figures.")
    log.reply(
        "Rooms below 30 m²: "
        + "; ".join(f"{r['Number']} {r['Name']} (id {r['Id']}, {r['Area_m2']} m², {r['Volume_m3']} m³)" for r in small)
        + ". Too long: "
        + "; ".join(x.split(",")[0] + "," + x.split(",")[1] for x in too_long)
        + f". Wall {last}: {changed.lines[1].removeprefix('✅ ') if changed else ''}. Wall volumes: "
        + "; ".join(f"{r['Type']} {r['Volume_m3']} m³" for r in volumes)
        + "."
    )
    return log


def construction() -> Session:
    """Recorded with the summary rule as first deployed: answers behind ✅ and rows beyond the fifth never reach the agent."""
    log = Session("construction", Engine(datetime(2026, 9, 15, 13, 30, 0)), deployed=True)
    log.parameters("Create a wall on Level 3.", "Create_Wall.cs")
    log.run(
        "7.2 m long, 2.8 m high, on Level 3.",
        "Create_Wall.cs",
        {"level": "Level 3", "length": 7.2, "height": 2.8},
        lambda s: f"Done: {s.lines[0]}; {s.lines[1].removeprefix('✅ ')}.",
    )
    log.parameters("Now a row of partitions on Level 4.", "Create_Partition_Row.cs")
    log.run(
        "Seven of them, 2.4 m apart.",
        "Create_Partition_Row.cs",
        {"level": "Level 4", "count": 7, "spacing": 2.4},
        lambda s: (
            f"{s.message} They begin with: {s.lines[0]}. I was not shown the ids of the new walls; the Console tab has them."
        ),
    )
    third = log.run(
        "What is the id of partition P-03?",
        "List_Walls.cs",
        {"level": "Level 4", "mark": "P-03"},
        lambda s: f"P-03 is wall {s.rows[0]['Id']} with {s.rows[0]['Area_m2']} m² and {s.rows[0]['Volume_m3']} m³.",
        thought="The log did not show me the ids, so I list the wall with that mark.",
    )
    wall = third.rows[0]["Id"] if third else 0
    log.run(
        "Make it 3.1 m high.",
        "Set_Wall_Height.cs",
        {"wallId": wall, "height": 3.1},
        lambda s: f"{s.lines[0]}. {s.lines[1].removeprefix('✅ ')}.",
    )
    log.run(
        "Tag the doors of Level 2.",
        "Tag_Doors.cs",
        {"level": "Level 2"},
        lambda s: (
            f"{len(s.lines) - 1} doors are tagged; the first: {s.lines[0].removeprefix('✅ ')}, the last: {s.lines[-2].removeprefix('✅ ')}."
        ),
    )
    listed = log.run(
        "List all walls of Level 4.",
        "List_Walls.cs",
        {"level": "Level 4"},
        lambda s: (
            f"{s.message} The first are {', '.join(str(r['Id']) for r in s.rows)}, of type {s.rows[0]['Type']} and others. See the Table tab."
        ),
    )
    types = log.run(
        "Which door types are there?",
        "List_Door_Types.cs",
        {},
        lambda s: f"{s.message} Shown are {', '.join(r['Type'] for r in s.rows)}.",
    )
    log.run(
        "And the levels?",
        "List_Levels.cs",
        {},
        lambda s: f"{len(s.rows)} levels: " + ", ".join(f"{r['Name']} ({r['Elevation_m']} m)" for r in s.rows) + ".",
    )
    first = listed.rows[0] if listed else {}
    log.run(
        "Show the parameters of the first wall you listed.",
        "Wall_Parameters.cs",
        {"wallId": first["Id"]},
        lambda s: (
            f"{s.message} Wall {s.rows[0]['Value']} is {s.rows[1]['Value']} on {s.rows[2]['Value']}, from {s.rows[3]['Value']} on."
        ),
    )
    log.user("Sum up what you built and changed, with ids.")
    log.reply(
        f"P-03 is wall {wall}, now 3.1 m high. Wall {first['Id']} ({first['Type']}) has {first['Area_m2']} m². "
        f"Door types seen: {types.rows[0]['Type'] if types else ''} to {types.rows[-1]['Type'] if types else ''}. "
        "The ids of the other partitions were in lines that I was not shown."
    )
    return log


def faults() -> Session:
    """Failures, malformed and empty tables, scripts without output, a rejection; the summary rule as first deployed."""
    log = Session("faults", Engine(datetime(2026, 9, 16, 16, 45, 0)), deployed=True)
    log.run("Refresh the view.", "Refresh_View.cs", {}, "Action completed successfully.")
    log.run(
        "Delete wall 3099999.",
        "Delete_Element.cs",
        {"elementId": 3099999},
        lambda s: f"That failed: {s.error}.",
    )
    walls = log.run(
        "Then list the walls of Level 1.",
        "List_Walls.cs",
        {"level": "Level 1"},
        lambda s: (
            f"{s.message} They start with {s.rows[0]['Id']} and {s.rows[1]['Id']}; {s.rows[4]['Id']} is {s.rows[4]['Length_m']} m long."
        ),
    )
    corridor = walls.rows[4]["Id"] if walls else 0
    log.run(
        f"Delete {corridor}.",
        "Delete_Element.cs",
        {"elementId": corridor},
        lambda s: f"That failed: {s.error}.",
    )
    log.run(
        "Delete all its doors as well, then.",
        "Delete_Element.cs",
        {"elementId": corridor},
        f"You did not approve it, so nothing was run and wall {corridor} stays.",
        thought=f"Deleting wall {corridor} with its doors cannot be undone; I ask for approval.",
        approved=False,
    )
    log.run(
        "Set its height to 9 m.",
        "Set_Wall_Height.cs",
        {"wallId": corridor, "height": 9.0},
        lambda s: f"That failed: {s.error}. Before that: {s.lines[0]}.",
    )
    log.run(
        "Create a wall on Level 7.",
        "Create_Wall.cs",
        {"level": "Level 7", "length": 4.0, "height": 3.0},
        lambda s: f"That failed: {s.error}.",
    )
    log.run(
        "Are there clashes?",
        "Find_Clashes.cs",
        {"tolerance": 0.01},
        lambda s: f"The table of clashes has {len(s.rows)} rows.",
    )
    log.run(
        "Export the door schedule.",
        "Export_Door_Schedule.cs",
        {"bufferChars": 1500},
        lambda s: f"{s.message} {s.lines[0]}; {s.lines[1]}; {s.lines[2]}. The table itself did not arrive whole.",
    )
    log.run(
        "Show the legend.",
        "Show_Legend.cs",
        {},
        lambda s: f"{s.lines[0]}. The legend is no table, so there are no rows to quote.",
    )
    log.run(
        "Check the rooms against a ratio of 2.2.",
        "Check_Room_Boundaries.cs",
        {"maxRatio": 2.2},
        lambda s: f"{s.message} The first: {s.lines[0]}. The verdict line was not shown to me.",
    )
    log.run(
        "Summarise the model.",
        "Model_Summary.cs",
        {},
        lambda s: (
            f"{s.tables[0][0]['Level']} has {s.tables[0][0]['Walls']} walls and {s.tables[0][0]['Rooms']} rooms; {len(s.tables[-1])} warnings."
        ),
    )
    log.run("Check what was collected.", "Refresh_View.cs", {}, "Action completed successfully.")
    log.user("Which of my requests failed, and on which element?")
    log.reply(
        f"Deleting 3099999 failed because no such element exists; deleting {corridor} failed because it hosts doors; setting it to 9 m failed "
        "because of the height limit; the wall on Level 7 failed because that level does not exist."
    )
    return log


def _value(shown: Shown, name: str) -> str:
    return next(str(row["Value"]) for row in shown.rows if row["Name"] == name)


def _shortest(shown: Shown) -> dict[str, object]:
    return min(shown.rows, key=lambda row: (row["Length_m"], row["Id"]))


def _largest(shown: Shown) -> dict[str, object]:
    return max(shown.rows, key=lambda row: (row["Area_m2"], row["Id"]))
