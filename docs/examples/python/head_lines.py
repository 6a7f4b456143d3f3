"""A summarizer and a compactor as a process: the protocol in the fewest lines. Run as `command:"python3 head_lines.py"`."""

import json
import sys

LINES, KEPT = 5, 10


def summarize(result: dict) -> str | None:
    """The first lines of a long text; None: as it is."""
    lines = result["text"].splitlines()
    if len(lines) <= LINES:
        return None
    return "\n".join([*lines[:LINES], f"[Showing {LINES} of {len(lines)} lines]"])


def compact(messages: list) -> list:
    """All but the newest tool results as one line each."""
    results = [message for message in messages if message["role"] == "tool"]
    for message in results[:-KEPT]:
        message["content"] = f"[{len(message['content'])} characters left out]"
    return messages


for line in sys.stdin:
    request = json.loads(line)
    answer = (
        compact(request["messages"])
        if request["slot"] == "compactor"
        else summarize(request["result"])
    )
    print(json.dumps({"answer": answer}), flush=True)
