"""Session logs, counted by parsers that share no code with the readers: model calls, tool calls, results, usage."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.model import Trace
from bench.traces import load

FORMATS = Path(__file__).parents[1] / "data" / "formats"
BESIDE = FORMATS.parent / "beside"
Counts = dict[str, int]


def counted(trace: Trace) -> Counts:
    turns = trace.model_turns
    usages = [turn.usage for turn in turns if turn.usage is not None]
    return {
        "turns": len(turns),
        "calls": sum(len(turn.tool_calls) for turn in turns),
        "results": len(trace.results),
        "prompt": sum(usage.prompt_tokens for usage in usages),
        "completion": sum(usage.completion_tokens for usage in usages),
        "hour": sum(usage.cache_write_1h_tokens or 0 for usage in usages),
    }


def lines(path: Path) -> Iterator[dict[str, Any]]:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        yield from map(json.loads, text.splitlines())
    else:
        value = json.loads(text)
        yield from value if isinstance(value, list) else [value]


def claude_code(path: Path) -> Counts:
    own = {line.get("sessionId") for line in lines(path)} - {None}
    agents = [
        other for other in path.parent.glob("agent-*.jsonl") if {line.get("sessionId") for line in lines(other)} & own
    ]
    answers: dict[tuple[str, str], dict[str, Any]] = {}
    calls, results, seen = 0, 0, set()
    for file in [path, *agents]:
        for line in lines(file):
            if line.get("uuid") in seen or line.get("message", {}).get("model") == "<synthetic>":
                continue
            seen.add(line.get("uuid") or id(line))
            content = line.get("message", {}).get("content")
            blocks = content if isinstance(content, list) else []
            if line.get("type") == "assistant":
                calls += sum(block["type"] == "tool_use" for block in blocks)
                key = (file.name, line["message"]["id"])
                usage = line["message"].get("usage") or {}
                if usage.get("output_tokens", 0) >= answers.get(key, {}).get("output_tokens", 0):
                    answers[key] = usage
            elif line.get("type") == "user":
                results += sum(block["type"] == "tool_result" for block in blocks)
    inputs = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return {
        "turns": len(answers),
        "calls": calls,
        "results": results,
        "prompt": sum(usage.get(key) or 0 for usage in answers.values() for key in inputs),
        "completion": sum(usage.get("output_tokens", 0) for usage in answers.values()),
        "hour": sum(
            (usage.get("cache_creation") or {}).get("ephemeral_1h_input_tokens", 0) for usage in answers.values()
        ),
    }


def codex(path: Path) -> Counts:
    counts = dict.fromkeys(("turns", "calls", "results", "prompt", "completion", "hour"), 0)
    inside, totals = False, None
    for line in lines(path):
        payload = line.get("payload", {})
        kind = payload.get("type")
        if line["type"] == "event_msg" and kind == "token_count" and payload.get("info"):
            inside = False
            if payload["info"]["total_token_usage"] != totals:
                totals = payload["info"]["total_token_usage"]
                counts["prompt"] += payload["info"]["last_token_usage"]["input_tokens"]
                counts["completion"] += payload["info"]["last_token_usage"]["output_tokens"]
        if line["type"] != "response_item" or kind == "ghost_snapshot":
            inside = inside and line["type"] not in ("response_item", "compacted")
            continue
        spoken = kind == "reasoning" or kind.endswith("_call") or payload.get("role") == "assistant"
        counts["turns"] += spoken and not inside
        counts["calls"] += kind.endswith("_call")
        counts["results"] += kind.endswith("_output") or (kind.endswith("_call") and "output" in payload)
        inside = spoken
    return counts


def gemini_cli(path: Path) -> Counts:
    head = next(lines(path))
    messages = head.get("messages", [])
    spoken = [message for message in messages if message["type"] == "gemini"]
    calls = [call for message in spoken for call in message.get("toolCalls") or []]
    tokens = [message["tokens"] for message in spoken if message.get("tokens")]
    return {
        "turns": len(spoken),
        "calls": len(calls),
        "results": sum(bool(call.get("result")) for call in calls),
        "prompt": sum(token["input"] + token.get("tool", 0) for token in tokens),
        "completion": sum(token["total"] - token["input"] - token.get("tool", 0) for token in tokens),
        "hour": 0,
    }


def pi(path: Path) -> Counts:
    messages = [line["message"] for line in lines(path) if line["type"] == "message"]
    answers = [message for message in messages if message["role"] == "assistant"]
    usages = [answer["usage"] for answer in answers]
    return {
        "turns": len(answers),
        "calls": sum(block["type"] == "toolCall" for answer in answers for block in answer["content"]),
        "results": sum(message["role"] == "toolResult" for message in messages),
        "prompt": sum(usage["totalTokens"] - usage["output"] for usage in usages),
        "completion": sum(usage["output"] for usage in usages),
        "hour": sum(usage.get("cacheWrite1h", 0) for usage in usages),
    }


def opencode(path: Path) -> Counts:
    parts = [part for message in next(lines(path))["messages"] for part in message["parts"]]
    finished = [part["tokens"] for part in parts if part["type"] == "step-finish"]
    tools = [part for part in parts if part["type"] == "tool"]
    return {
        "turns": len(finished),
        "calls": len(tools),
        "results": len(tools),
        "prompt": sum(tokens["input"] + sum(tokens["cache"].values()) for tokens in finished),
        "completion": sum(tokens["output"] for tokens in finished),
        "hour": 0,
    }


def atif(path: Path) -> Counts:
    found: list[dict[str, Any]] = []

    def walk(trajectory: dict[str, Any]) -> None:
        found.extend(trajectory["steps"])
        for inner in trajectory.get("subagent_trajectories") or []:
            walk(inner)

    walk(next(lines(path)))
    agent = [step for step in found if step["source"] == "agent"]
    metrics = [step["metrics"] for step in agent if step.get("metrics")]
    observed = [
        (step, result) for step in found if step.get("observation") for result in step["observation"]["results"]
    ]
    extras = [(metric.get("extra") or {}).get("cache_creation") or {} for metric in metrics]
    return {
        "turns": len(agent),
        "calls": sum(len(step.get("tool_calls") or []) for step in agent),
        "results": sum(bool(step.get("tool_calls")) or bool(result.get("source_call_id")) for step, result in observed),
        "prompt": sum(metric.get("prompt_tokens") or 0 for metric in metrics),
        "completion": sum(metric.get("completion_tokens") or 0 for metric in metrics),
        "hour": sum(extra.get("ephemeral_1h_input_tokens", 0) for extra in extras),
    }


SAMPLES: list[tuple[Callable[[Path], Counts], Path]] = [
    (claude_code, next((FORMATS / "claude_code").glob("*cafe.jsonl"))),
    (codex, FORMATS / "codex" / "rollout.jsonl"),
    (gemini_cli, FORMATS / "gemini_cli" / "session.json"),
    (pi, next((FORMATS / "pi").glob("*.jsonl"))),
    (opencode, FORMATS / "opencode.json"),
    (atif, FORMATS / "atif.json"),
    (atif, FORMATS / "atif.harbor.json"),
]


@pytest.mark.parametrize(("count", "path"), SAMPLES, ids=lambda item: getattr(item, "name", None))
def test_a_second_count_of_a_sample_agrees(count: Callable[[Path], Counts], path: Path) -> None:
    assert counted(load([str(path)]).traces[0]) == count(path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("count", "pattern"),
    [
        (claude_code, "pool/claude-code/*.jsonl"),
        (claude_code, "scbench/trajectories/*/*/*/claude-code/*/harness_outputs.jsonl"),
        (codex, "pool/codex/*.jsonl"),
        (gemini_cli, "pool/gemini-cli/*.json"),
    ],
)
def test_a_second_count_of_published_sessions_agrees(
    count: Callable[[Path], Counts], pattern: str, shared_traces: Path
) -> None:
    paths = sorted(shared_traces.glob(pattern))
    assert paths
    assert [counted(load([str(path)]).traces[0]) for path in paths] == [count(path) for path in paths]
