"""The policies that `bench run` tries without a strategy, and the lines that put them to use: what is pasted does what was measured."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import jinja2
import pytest
import yaml
from bench.evidence.of_run import prompts_sent
from bench.evidence.of_trace import TraceEvidence
from bench.plugins.how_to import PYTHON, how_to, place_of

from bench.model import ModelTurn, Source, ToolCall, ToolResult, Trace, UserTurn, as_text
from bench.replayer.loop import Replayer
from bench.strategies import Strategy, parse_strategy, strategy_of
from bench.strategies.portfolio import PORTFOLIO
from bench.traces import load

LOG = "\n".join(f"row {number}: wall {number * 37} is {number / 3:.2f} m long" for number in range(400))
TABLE = as_text({"rows": [{"id": number, "mark": f"W{number}"} for number in range(60)], "total": 60})
SEEN = (LOG, TABLE, "short", LOG, '{"a": 1,  "b": [1, 2]}', TABLE, "[]", LOG[:9_000], "", "one\n\ntwo", LOG, "end")
SHIPPED = Path(__file__).parents[2] / "traces" / "building_model" / "survey.jsonl"


def long_run() -> Trace:
    steps: list[Any] = [UserTurn(index=0, content="Look at the walls.")]
    for number, text in enumerate(SEEN):
        call = ToolCall(id=f"c{number}", name="read", arguments={"page": number})
        steps += [
            ModelTurn(index=2 * number + 1, tool_calls=(call,)),
            ToolResult(index=2 * number + 2, call_id=call.id, function="read", seen=text),
        ]
    return Trace(id="long", source=Source(format="native"), steps=(*steps, ModelTurn(index=99, content="Done.")))


def pasted(lines: str) -> Any:
    """The function that some lines define."""
    names: dict[str, Any] = {}
    exec(compile(lines, "pasted", "exec"), names)
    (found,) = [item for name, item in names.items() if callable(item) and f"def {name}(" in lines]
    return found


def python_of(strategy: Strategy) -> Any:
    (lines,) = how_to(strategy.spec, (PYTHON,))
    found = pasted(lines)
    found.mode = "per_call"  # what it returns is sent, and the messages stay
    return found


@pytest.mark.parametrize("name", PORTFOLIO)
def test_every_policy_says_how_it_is_put_to_use(name: str) -> None:
    strategy = parse_strategy(f"{name}={PORTFOLIO[name]}")
    lines = how_to(strategy.spec, (PYTHON,))
    assert len(lines) == len(strategy.everything)
    for text in lines:
        assert callable(pasted(text))
        assert "$" not in text
        assert max(map(len, text.splitlines())) <= 100
    for format in ("claude_code", "codex", "langgraph", "swe", "openai"):
        assert all("$" not in text for text in how_to(strategy.spec, place_of(format, "anthropic")))


def test_lines_for_a_configuration_are_valid_and_name_keys_that_the_program_has() -> None:
    def lines(spec: str, place: str) -> str:
        return how_to(spec, (place,))[0]

    assert tomllib.loads(lines("summarizer=mini_swe_agent.output", "codex")) == {"tool_output_token_limit": 2500}
    assert tomllib.loads(lines("compactor=summarize_old", "codex")) == {}
    agent = yaml.safe_load(lines("summarizer=mini_swe_agent.output", "swe"))
    assert "9999" in jinja2.Template(agent["model"]["observation_template"]).render(output={"output": "x" * 19999})
    assert list(yaml.safe_load(lines("compactor=mask_observations", "swe"))) == ["agent"]
    for place in ("anthropic", "langchain"):
        assert "None" not in lines("compactor=clear_tool_uses", place)


@pytest.mark.parametrize(
    "spec", ["compactor=clear_tool_uses:trigger=9", "compactor=summarize_old", "summarizer=deepagents.output"]
)
def test_the_lines_for_langchain_make_an_agent(spec: str) -> None:
    pytest.importorskip("deepagents" if "deepagents" in spec else "langchain")
    from langchain_core.language_models.fake_chat_models import FakeListChatModel

    model = FakeListChatModel(responses=["x"], profile={"max_input_tokens": 100_000})
    names: dict[str, Any] = {"model": model, "tools": []}
    exec(how_to(spec, ("langchain",))[0], names)
    assert names["agent"] is not None
    if "deepagents" not in spec:  # its agent binds tools, which a fake model cannot
        assert names["agent"].invoke({"messages": [("user", "a long question " * 9)]})["messages"][-1].content == "x"


def test_nothing_is_said_of_somebodys_own_code() -> None:
    assert how_to("summarizer=no_such_file.py:f:chars=3", (PYTHON,)) == ()


@pytest.mark.parametrize("name", ["repeats", "mask-5", "mask-10", "mask-5-by-10", "mask-10-by-10"])
@pytest.mark.parametrize("trace", [long_run(), *load([str(SHIPPED)]).traces], ids=lambda trace: trace.id)
def test_the_lines_for_histories_send_what_the_policy_sends(name: str, trace: Trace) -> None:
    replayer = Replayer(TraceEvidence(trace))
    policy = parse_strategy(f"{name}={PORTFOLIO[name]}")
    theirs = replayer.run(strategy_of({"compactor": python_of(policy)}, name))
    assert theirs.failure is None
    assert prompts_sent(theirs) == prompts_sent(replayer.run(policy))


def test_the_lines_for_clearing_send_what_the_policy_sends() -> None:
    replayer = Replayer(TraceEvidence(long_run()))
    policy = parse_strategy("clear=compactor=clear_tool_uses:trigger=9000,keep=2,clear_at_least=500")
    lines = python_of(policy)

    def clear(messages: list[dict[str, Any]], tokens: int, count: Any) -> list[dict[str, Any]]:
        return list(lines(messages, tokens, lambda text: count(text)))

    clear.form, clear.mode = ["openai", "tokens", "count"], "per_call"  # type: ignore[attr-defined]
    theirs = replayer.run(strategy_of({"compactor": clear}, "clear"))
    assert theirs.failure is None
    assert prompts_sent(theirs) == prompts_sent(replayer.run(policy))
    assert prompts_sent(theirs) != prompts_sent(replayer.run(parse_strategy("keep_all")))


@pytest.mark.parametrize("name", ["cut-4k", "cut-10k", "ends-40", "csv", "compact-json", "file-8k", "file-20k"])
def test_the_lines_for_results_show_what_the_policy_shows(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    policy = parse_strategy(f"{name}={PORTFOLIO[name]}")
    shorten = python_of(policy)
    run = Replayer(TraceEvidence(long_run())).run(policy)
    for outcome, text in zip(run.results, SEEN, strict=True):
        if name == "ends-40" and text[:1] in ("{", "["):
            continue  # the policy counts the values of JSON, and says so
        given = (text, outcome.call_id) if name.startswith("file") else (text,)
        assert shorten(*given) == run.messages[outcome.shown].text


def test_the_lines_for_a_summary_keep_the_system_messages_and_the_last_ones() -> None:
    compact = python_of(parse_strategy(f"s={PORTFOLIO['summary-80']}"))
    messages = [{"role": "system", "content": "s"}, *({"role": "user", "content": str(at)} for at in range(30))]
    assert compact(messages, 79, 100, len) is messages
    assert compact(messages, 80, 100, lambda old: f"{len(old)} messages") == [
        messages[0],
        {"role": "user", "content": "10 messages"},
        *messages[11:],
    ]
