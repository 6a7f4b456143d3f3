"""Markers of truncated and cleared results, as agents and libraries write them, are recognised in any format."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bench.traces import load
from bench.traces.markers import cut_in, markers

EXAMPLES = {
    "Claude Code": [
        "line 1\n\n... [212 lines truncated] ...\n\nline 300",
        "<persisted-output>\nOutput too large (51 KB). Full output saved to: /t/x.txt",
        "[Output truncated: 60000 characters]",
    ],
    "Claude Code, opencode, OpenClaw, Qwen Code": ["[Old tool result content cleared]"],
    "Codex": [
        "begin…812 tokens truncated…end",
        "a\n[... omitted 12 of 300 lines ...]\nb",
        "Warning: truncated output (original token count: 6615)\nTotal output lines: 564\n\nx",
        "Exit code: 0\nOutput:\nTotal output lines: 157\n\nx",
    ],
    "Anthropic (context editing)": ["[tool result cleared]"],
    "OpenAI Agents SDK": ["[Trimmed: search output — 5000 chars → 200 char preview]\nabc..."],
    "opencode": [
        "a\n\n...4123 bytes truncated...\n\nThe tool call succeeded but the output was truncated. Full output saved to: /t",
        "a\n(Output capped at 50 KB. Use offset to read on)",
    ],
    "OpenHands": ["a\n[... Observation truncated due to length ...]\nb", "a<response clipped><NOTE>Due to</NOTE>"],
    "SWE-agent": ["Old environment output: (101 lines omitted)", "Old output omitted (12 lines)"],
    "mini-swe-agent": [
        "<output_head>\na\n</output_head>\n<elided_chars>\n9000 characters elided",
        '{"elided_chars": 812}',
    ],
    "LangChain": ["[cleared]"],
    "Deep Agents": [
        "Tool result too large, the result of this tool call c1 was saved in the filesystem at this path: /x"
    ],
    "Gemini CLI": [
        "Tool output was too large and has been truncated.\nThe full output has been saved to: /t",
        "a\n... [CONTENT TRUNCATED] ...\nb",
        "<tool_output_masked>\n[Tool output (1.20MB, 900 lines) masked to preserve context window.]",
    ],
    "pi, OpenClaw": ["a\n\n[Showing lines 1-2000 of 5120. Use offset=2001 to continue]"],
    "Inspect": ["The output of your call to bash was too long to be displayed.\nHere is a truncated version:"],
}
PLAIN = [
    "36 walls",
    "see line 3 of 12 lines truncated by hand",
    "The file says: print('[cleared] ' + name)",
    "Showing lines 1-3 of 40",
    "the output was truncated on purpose",
    '{"elided_chars": 0}',
    "git log: remove old tool result content",
]


def test_every_marker_has_a_source_and_an_example() -> None:
    assert {marker.by for marker in markers()} == EXAMPLES.keys()
    for marker in markers():
        assert marker.source
        assert any(re.search(marker.regex, text, re.MULTILINE) for text in EXAMPLES[marker.by]), marker


@pytest.mark.parametrize("text", PLAIN)
def test_other_words_are_not_a_marker(text: str) -> None:
    assert not cut_in(text)


@pytest.mark.parametrize(("by", "text"), [(by, text) for by, texts in EXAMPLES.items() for text in texts])
def test_a_marked_result_is_read_as_truncated_in_any_format(by: str, text: str, tmp_path: Path) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [call, {**call, "id": "d"}]},
        {"role": "tool", "tool_call_id": "c", "content": text},
        {"role": "tool", "tool_call_id": "d", "content": "36 walls"},
    ]
    (tmp_path / "run.json").write_text(json.dumps(messages), encoding="utf-8")
    (trace,) = load([str(tmp_path / "run.json")]).traces
    assert [result.truncated_at_source for result in trace.results] == [True, False]
    assert cut_in(trace.results[0].seen or "") == by
