"""A trace without its text measures nearly the same, and holds no word of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from examples import some
from handmade import opened, result
from planted import secrets

import bench
from bench.cli import main
from bench.model import ContextReset, ImagePart, ModelTurn, Outcome, Source, ToolCall, Trace, Usage, UserTurn
from bench.recording.redaction import texts_in
from bench.recording.shape import KEPT, StandIns, shape_only
from bench.text.common_words import COMMON_WORDS
from bench.tokens.counting import TokenCounter
from bench.traces import load
from bench.traces.formats.native import encode_trace

ROOT = Path(__file__).parents[2]
STRATEGIES = {
    "masked": "compactor=mask_observations",
    "window": "compactor=sliding_window",
    "summary": "compactor=summarize_old",
    "cleared": "compactor=clear_tool_uses:trigger=5000",
    "events": "compactor=openhands.amortized:max_size=20",
    "last_n": "compactor=swe_agent.last_n",
    "cut": "summarizer=truncate",
    "ends": "summarizer=head_tail",
    "table": "summarizer=table_console",
    "commands": "compactor=separate_commands:max_tokens=4000",
}
SHIPPED = [
    path for folder in ("analysis", "building_model") for path in sorted((ROOT / "traces" / folder).glob("*.jsonl"))
]
SHIPPED += sorted((ROOT / "traces" / "terminal_beginnings").glob("0*.json"))
COMPARED = [path for path in SHIPPED if path.stem == "survey"] + some(SHIPPED, 2)


@pytest.mark.parametrize(
    "path",
    [path if path.stem == "survey" else pytest.param(path, marks=pytest.mark.slow) for path in COMPARED],
    ids=lambda path: f"{path.stem}-by-ten-strategies",
)
def test_tokens_and_recall_differ_by_less_than_two_percent(path):
    (trace,) = load([str(path)]).traces
    before, after = bench.compare([trace], STRATEGIES), bench.compare([shape_only(trace)], STRATEGIES)
    compared = 0
    for name in (*STRATEGIES, "keep_all", "recorded", "drop_all"):
        for metric in ("cost.prompt_tokens", "needed.recall", "needed.recall.far"):
            was, now = before.value(name, metric), after.value(name, metric)
            assert (was is None) == (now is None), (name, metric)
            if was is not None:
                compared += 1
                assert abs(now - was) <= 0.02 * was, (name, metric, was, now)
    assert compared >= 12


def words(text: str) -> list[str]:
    bare = re.sub(r'\\(?:u[0-9a-fA-F]{4}|[nrtbf"\\/])', " ", text)
    return re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", bare)


def test_what_a_reset_kept_are_still_the_same_steps():
    reset = ContextReset(index=2, summary="471 walls", kept=(0, 1))
    told = (UserTurn(index=0, content="Count 471 walls"), ModelTurn(index=1, content="471"), reset)
    shape = shape_only(Trace(id="t", source=Source(format="native"), steps=told))
    assert shape.steps[2].kept == (0, 1)
    assert "471" not in shape.steps[2].summary


def test_a_command_is_still_a_command():
    call = ToolCall(id="c", name="bash", arguments={"command": "ls walls"})
    (turn,) = shape_only(
        Trace(id="t", source=Source(format="native"), steps=(ModelTurn(index=0, tool_calls=(call,)),))
    ).steps
    assert turn.tool_calls[0].command == turn.tool_calls[0].arguments["command"] != "ls walls"


@pytest.mark.slow
@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_no_word_stays_where_it_was(path):
    (trace,) = load([str(path)]).traces
    shape = shape_only(trace)
    assert [type(step) for step in shape.steps] == [type(step) for step in trace.steps]
    kept = set()
    for (name, was), (_, now) in zip(texts_in(trace.steps), texts_in(shape.steps), strict=True):
        assert len(now) == len(was)
        if name not in ("role", "model", "thread", "agent", "media_type", "kind"):
            kept |= {a.lower() for a, b in zip(words(was), words(now), strict=True) if a == b and len(a) > 1}
    assert kept - KEPT == set()


def test_what_is_alike_stays_alike_and_what_differs_differs():
    stand_ins = StandIns(TokenCounter(), "o200k_base")
    texts = [
        f"Gene_{number} of {word}, {number}.5 and {number * 1000:,}"
        for number in range(100, 400)
        for word in ("Berlin", "berlin")
    ]
    stand_ins.learn(texts)
    made = [stand_ins.text(text) for text in texts]
    assert len(set(made)) == len(texts)
    assert len({re.split(r"[_,. ]", text)[0] for text in made}) == 1
    assert all(one.lower() == other.lower() for one, other in zip(made[::2], made[1::2], strict=True))


def test_a_rounded_number_begins_like_the_one_it_came_from():
    stand_ins = StandIns(TokenCounter(), "o200k_base")
    long, short = stand_ins.text("0.82347"), stand_ins.text("0.823")
    assert long.startswith(short)
    assert long != "0.82347"


def test_secrets_names_and_labels_are_gone():
    told = [(secret, text) for _, secret, text in secrets(3)]
    steps = [result(text, index=at + 2, data={text: [secret, 4711.25]}) for at, (secret, text) in enumerate(told)]
    image = ImagePart(media_type="image/png", size_bytes=9, sha256="ab" * 32)
    call = ToolCall(id="call_9f", name="query_customers", arguments={"customer": "Pietro Murano"})
    turn = ModelTurn(
        index=90,
        agent="Murano",
        content="Größe 東京",
        reasoning="Pietro",
        tool_calls=(call,),
        usage=Usage(prompt_tokens=7),
    )
    trace = Trace(id="murano", source=Source(format="openai", path="murano/x", sha256="cd" * 32), labels={"who": "murano"},
                  steps=(*opened(steps).steps[:-1], turn, UserTurn(index=91, content=(image,))), meta={"user": "murano"},
                  outcome=Outcome(success=True, said_by="murano"), left_out={"murano": 2})  # fmt: skip
    shape = shape_only(trace, 7)
    said = encode_trace(shape).decode()
    assert [secret for secret, _ in told if secret in said] == []
    gone = ("murano", "pietro", "4711", "query", "customers", "call_9f", "abab", "cdcd", "größe", "東京")
    assert [word for word in gone if word in said.lower() and word not in COMMON_WORDS] == []
    assert shape.id == "shape-7"
    assert shape.steps[-2].usage == Usage(prompt_tokens=7)
    assert shape.outcome == Outcome(success=True)
    assert sum(shape.left_out.values()) == 2


def test_the_command_writes_shapes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    source = str(ROOT / "traces" / "building_model")
    main(["import", source, "-o", "shapes.jsonl.gz", "--shape-only"])
    out = capsys.readouterr().out
    shapes = load(["shapes.jsonl.gz"]).traces
    assert [shape.id for shape in shapes] == ["shape-1", "shape-2", "shape-3"]
    assert shapes[0] == shape_only(load([source]).traces[0])
    assert "shape-1 (native): " in out
    with pytest.raises(SystemExit):
        main(["import", source, "-o", "x.jsonl", "--shape-only", "--no-redact"])
