"""Runs of a small service agent: structured results, a log with quantities, a failure, and turns that use what they said."""

from __future__ import annotations

import json

from bench.model import ModelTurn, Source, SystemTurn, ToolCall, ToolResult, Trace, UserTurn

POLICY = (
    "You help customers of a shop. An order can only be returned if its status is 'delivered'. "
    "Never cancel an order twice. Always ask for confirmation before a refund."
)
ASKED = "What did I order, and when does my flight leave? Don't commit anything and never push to main."
STATUSES = ["pending", "delivered", "returned", "available", "processing", "shipped"]
NAMES = ["Noah Brown", "Emma Kim", "Yusuf Rossi", "Ava Lopez", "Mia Garcia", "Liam Chen"]


def service(seed: int) -> Trace:
    """One run; another seed gives other orders, flights and names."""
    orders = [
        {
            "id": f"W{4410 + 137 * seed + 37 * n}",
            "status": STATUSES[(n + seed) % 6],
            "price": round(59.9 + 31.35 * ((n * 5 + seed) % 7) + n, 2),
            "paid": (n + seed) % 2 == 0,
            "ordered": f"2024-05-{11 + n + seed}",
        }
        for n in range(6)
    ]
    flights = [
        {
            "flight": f"HAT{130 + 31 * seed + 7 * n}",
            "available_seats": 13 + 2 * n + seed,
            "fare": 140.5 + 33.25 * ((n + seed) % 4),
            "departs": f"2024-06-2{n}T0{n + 1}:35:00",
            "pilot": NAMES[(n + seed) % 6],
        }
        for n in range(4)
    ]
    details = {
        "order": {
            "id": orders[1]["id"],
            "items": [
                {"item": f"LAMP-{71 + seed}", "label": "Desk Lamp", "cost": 45.25 + seed, "colour": "white"},
                {"item": f"SOFA-{88 + seed}", "label": "Corner Sofa", "cost": 812.4 + seed, "colour": "green"},
            ],
        },
        "gift": False,
        "customer": {"name": NAMES[seed % 6], "email": f"user{seed}17@example.com"},
    }
    log = "\n".join(
        [
            f"check payments PASSED in 3{seed}00 s",
            f"check stock FAILED in 17{seed} s",
            f"wall W{seed}1 is 12.{seed + 1} mm thick and not painted",
            f"disk sda{seed} has 5{seed} GB free",
            f"server web_0{seed} running since 2024-05-02T10:15:00 at 10.0.0.{seed + 12}",
            f"server web_1{seed} stopped since 2024-05-03T11:25:00 at 10.0.1.{seed + 12}",
        ]
    )
    error = f"Error: card ending in 42{seed}7 was declined"
    first, second, third = orders[0], orders[1], orders[2]
    lamp, sofa = details["order"]["items"]  # type: ignore[index]
    fly, other = flights[0], flights[2]
    steps: list[tuple[str, str, object]] = [
        ("Let me look.", "get_orders", {"orders": orders}),
        (
            f"{first['id']} is {first['status']} at {first['price']}, {second['id']} costs {second['price']}.",
            "pay",
            error,
        ),
        (f"The card ending in 42{seed}7 was declined.", "get_flights", {"rows": flights, "complete": True}),
        (f"{fly['flight']} with {fly['pilot']} leaves 2024-06-20 and costs {fly['fare']}.", "get_details", details),
        (f"{lamp['item']} costs {lamp['cost']} and {sofa['item']} is {sofa['colour']}.", "get_log", log),
        (f"web_0{seed} runs at 10.0.0.{seed + 12}, the wall is 12.{seed + 1} mm thick.", "get_time", "noon"),
        (f"{other['flight']} has {other['available_seats']} seats at {other['fare']}.", "get_time", "one"),
        (f"Payments took 3{seed}00 s; sda{seed} has 5{seed} GB.", "get_time", "two"),
        (
            f"{third['id']} was ordered on {third['ordered']} for {third['price']}; it is {third['status']}.",
            "get_time",
            "three",
        ),
    ]
    found: list[SystemTurn | UserTurn | ModelTurn | ToolResult] = [
        SystemTurn(index=0, content=POLICY),
        UserTurn(index=1, content=ASKED),
    ]
    for words, function, value in steps:
        call = ToolCall(id=f"c{len(found)}", name=function, arguments={})
        found.append(ModelTurn(index=len(found), content=words, tool_calls=(call,), model="gpt-4o"))
        text = value if isinstance(value, str) else json.dumps(value)
        result = ToolResult(
            index=len(found),
            call_id=call.id,
            function=function,
            seen=text,
            data=None if isinstance(value, str) else value,
            success=value != error,
        )
        found.append(result)
    last = f"{second['id']} of {details['customer']['name']} has status {second['status']}."  # type: ignore[index]
    found.append(ModelTurn(index=len(found), content=last, model="gpt-4o"))
    return Trace(id=f"service {seed}", source=Source(format="native"), steps=tuple(found), labels={"task": f"{seed}"})
