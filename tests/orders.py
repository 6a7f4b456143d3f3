"""A recording of three turns whose tool lists orders, one of which the model names: the smallest trace that a gate can lose something of."""

from __future__ import annotations

import json

FACTS = "; ".join(f"order W{number} ships to gate G{number} for {number}.25 EUR" for number in range(100, 130))
STEPS = (
    {
        "bench_trace": 1,
        "id": "orders",
        "source": {"format": "native", "path": "orders.jsonl"},
        "labels": {},
        "meta": {},
    },
    {"kind": "user", "index": 0, "content": "Which orders ship?"},
    {"kind": "model", "index": 1, "content": "", "tool_calls": [{"id": "a", "name": "orders", "arguments": {}}]},
    {"kind": "result", "index": 2, "call_id": "a", "function": "orders", "seen": FACTS},
    {"kind": "model", "index": 3, "content": "Order W128 ships to gate G128 for 128.25 EUR."},
)
ORDERS = "".join(json.dumps(step) + "\n" for step in STEPS)
"""The lines of its file."""
