"""Secrets are removed wherever a trace holds them, one placeholder each, and ordinary text stays as it is."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import msgspec
import pytest
from planted import ORDINARY, secrets
from readers import WHO_AND_WHEN

from bench.cli import main
from bench.model import (
    ModelTurn,
    RouteDecision,
    Source,
    SystemTurn,
    ToolCall,
    ToolResult,
    ToolsChanged,
    Trace,
    UserTurn,
)
from bench.traces import TraceSource, load
from bench.traces.formats.native import write_traces
from bench.traces.redaction import Redactor

PLANTED = secrets(0)


def redacted(trace: Trace) -> Trace:
    return Redactor().trace(trace)


def trace_of(*steps) -> Trace:
    return Trace(id="t", source=Source(format="native"), steps=steps)


def places(text: str) -> dict[str, Trace]:
    """A trace for each place in which a text may stand."""
    call = ToolCall(id="c", name="http", arguments={"request": {"lines": [text]}})
    return {
        "system": trace_of(SystemTurn(index=0, content=text)),
        "answer": trace_of(ModelTurn(index=0, content=text)),
        "reasoning": trace_of(ModelTurn(index=0, reasoning=text)),
        "arguments": trace_of(ModelTurn(index=0, tool_calls=(call,))),
        "arguments as text": trace_of(ModelTurn(index=0, tool_calls=(ToolCall(id="c", name="sh", arguments=text),))),
        "seen": trace_of(ToolResult(index=0, call_id="c", function="f", seen=text)),
        "full": trace_of(ToolResult(index=0, call_id="c", function="f", seen="cut", full=text)),
        "error": trace_of(ToolResult(index=0, call_id="c", function="f", error=text, success=False)),
        "data": trace_of(ToolResult(index=0, call_id="c", function="f", data={"rows": [{"note": text}]})),
        "key of data": trace_of(ToolResult(index=0, call_id="c", function="f", data={text: 1})),
        "JSON in text": trace_of(ToolResult(index=0, call_id="c", function="f", seen=json.dumps({"body": text}))),
        "JSON in JSON": trace_of(ToolResult(index=0, call_id="c", function="f", seen=json.dumps({"body": json.dumps([text])}))),
        "cut JSON": trace_of(ToolResult(index=0, call_id="c", function="f", seen=json.dumps({"body": f"so:\n{text}"})[:-2])),
        "base64": trace_of(ToolResult(index=0, call_id="c", function="f", seen="x " + base64.b64encode(text.encode()).decode())),
        "route": trace_of(RouteDecision(index=0, at="x", taken="y", state={"note": text})),
        "tools": trace_of(ToolsChanged(index=0, tools=({"name": "f", "description": text},))),
        "meta": msgspec.structs.replace(trace_of(), meta={"env": [text]}),
        "labels": msgspec.structs.replace(trace_of(), labels={"note": text}),
        "left out": msgspec.structs.replace(trace_of(), left_out={text: 1}),
    }  # fmt: skip


def texts_in(value) -> list[str]:
    """Every text and key in a value."""
    value = msgspec.to_builtins(value)
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    inside = value if isinstance(value, list | tuple) else ()
    return [value] if isinstance(value, str) else [text for item in inside for text in texts_in(item)]


def everything(trace: Trace) -> str:
    """All that a trace says, with what base64 hides."""
    said = "\n".join(texts_in(trace))
    hidden = [base64.b64decode(run + "=" * (-len(run) % 4)).decode("utf-8", "replace") for run in re.findall(r"[\w+/]{24,}", said)
              if len(run) % 4 != 1 and "_" not in run]  # fmt: skip
    return "\n".join((said, *hidden)).replace("\\", "")


@pytest.mark.parametrize(("kind", "secret", "text"), PLANTED, ids=[kind for kind, _, _ in PLANTED])
def test_a_secret_is_found_in_every_place(kind, secret, text):
    bare = secret.replace("\n", "n")
    missed = []
    for place, trace in places(text).items():
        clean = redacted(trace)
        if bare in everything(clean).replace("\n", "n") or not clean.meta.get("redacted"):
            missed.append(place)
    assert missed == []


def test_ordinary_text_is_unchanged():
    redactor = Redactor()
    assert redactor.value(ORDINARY) == ORDINARY
    assert not redactor.removed
    trace = trace_of(UserTurn(index=0, content=ORDINARY))
    assert redacted(trace) is trace


@pytest.mark.slow
def test_almost_nothing_is_removed_from_shipped_traces(shared_traces: Path):
    """The traces were published; whatever is removed from them was looked at: values of real cookies."""
    removed, count, size = {}, 0, 0
    for trace in TraceSource([f"{WHO_AND_WHEN}:{shared_traces / 'who-and-when' / 'Algorithm-Generated'}"]):
        count += 1
        size += sum(len(text.encode("utf-8", "replace")) for text in texts_in(trace))
        if found := redacted(trace).meta.get("redacted"):
            removed[trace.id] = found
    print(f"{count} traces, {size / 1e6:.1f} MB of text; removed: {removed}")
    assert count == 90
    assert removed == {"20": {"cookie": 3}}


def test_a_secret_has_the_same_placeholder_everywhere():
    _, password, text = next(item for item in PLANTED if item[0] == "url_password")
    clean = redacted(trace_of(
        UserTurn(index=0, content=f"the word is {password}"),
        ToolResult(index=1, call_id="c", function="f", data={"password": password, "log": text}),
        ModelTurn(index=2, tool_calls=(ToolCall(id="d", name="sh", arguments={"command": text}),)),
    ))  # fmt: skip
    placeholders = re.findall(r"REDACTED_\w+", everything(clean))
    assert len(placeholders) == 4
    assert len(set(placeholders)) == 1
    assert sum(clean.meta["redacted"].values()) == 4


def test_two_secrets_have_two_placeholders_and_a_second_pass_changes_nothing():
    both = trace_of(UserTurn(index=0, content=f"{PLANTED[3][1]} and {PLANTED[4][1]} and {PLANTED[3][1]}"))
    clean = redacted(both)
    assert clean.steps[0].content == "REDACTED_MODEL_KEY_1 and REDACTED_MODEL_KEY_2 and REDACTED_MODEL_KEY_1"
    assert redacted(clean) == clean
    assert redacted(both) == clean


def test_secret_headers_are_recognised_by_their_names():
    token, session = "k3yW1thoutForm4t", "s3ss10nvalue"
    value = {
        "headers": [["X-Api-Key", token], ["Accept", "text/html"]],
        "har": [{"name": "Cookie", "value": f"a={session}; Path=/"}],
        "json": json.dumps({"authorization": f"Token {token}", "password": "correct-horse", "discord_id": 10**17}),
        "odd": '{"api_key": "' + "".join(f"\\u{ord(char):04x}" for char in token) + '"}',
    }
    clean = Redactor().value(value)
    assert token not in everything(clean)
    assert json.loads(clean["json"])["password"].startswith("REDACTED_")
    assert session not in everything(clean)
    assert json.loads(clean["odd"])["api_key"].startswith("REDACTED_")
    assert clean["headers"][1] == ["Accept", "text/html"]
    assert clean["har"][0]["value"].endswith("; Path=/")
    assert value["headers"][0][1] == token, "what was given is not changed"


def test_emails_and_home_folders_are_removed_only_on_request():
    text = "bob@example.org works in /home/bob/src and C:\\Users\\bob\\x and /Users/ann/y"
    assert Redactor().value(text) == text
    clean = Redactor(emails=True, homes=True).value(text)
    assert clean == (
        "REDACTED_EMAIL_1 works in /home/REDACTED_USER_1/src and C:\\Users\\REDACTED_USER_1\\x and /Users/REDACTED_USER_2/y"
    )


def test_traces_of_one_import_share_the_names_of_secrets(tmp_path, monkeypatch):
    """Two secrets in two records of a log are two names; the same secret again is the same name."""
    monkeypatch.chdir(tmp_path)
    first, second = (secrets(seed)[3][1] for seed in (0, 1))
    Path("runs").mkdir()
    for name, secret in (("a", first), ("b", second), ("c", first)):
        step = UserTurn(index=0, content=f"{secret} of bob@example.org")
        write_traces([msgspec.structs.replace(trace_of(step), id=name)], f"runs/{name}.jsonl")
    main(["import", "runs", "-o", "clean.jsonl"])
    contents = [trace.steps[0].content.split()[0] for trace in load(["clean.jsonl"]).traces]
    assert contents == ["REDACTED_MODEL_KEY_1", "REDACTED_MODEL_KEY_2", "REDACTED_MODEL_KEY_1"]
    main(["import", "runs/a.jsonl", "-o", "more.jsonl", "--redact-personal"])
    assert load(["more.jsonl"]).traces[0].steps[0].content == "REDACTED_MODEL_KEY_1 of REDACTED_EMAIL_1"
