"""Dependencies: what turns took from earlier messages, by origin, distance and form; and what only looks like it."""

from __future__ import annotations

from pathlib import Path

import pytest
from generated import traces
from handmade import SMALL, result, trace
from hypothesis import given, strategies as st
from measured import dependencies_of
from reference.dependencies import dependencies

from bench.evidence.dependencies import significant, suffixes
from bench.model import (
    AnyStep,
    ModelTurn,
    RouteDecision,
    SystemTurn,
    ToolCall,
    ToolResult,
    ToolsChanged,
    Trace,
    UserTurn,
)
from bench.text.common_words import COMMON_WORDS
from bench.traces import load


def said(index: int, text: str, **fields: object) -> ModelTurn:
    return ModelTurn(index=index, content=text, **fields)  # type: ignore[arg-type]


def called(index: int, **arguments: object) -> ModelTurn:
    return ModelTurn(index=index, tool_calls=(ToolCall(id=f"c{index}", name="run", arguments=arguments),))


def in_short(recording: Trace) -> list[tuple[str, int, str, int, int]]:
    return [(item.fact, item.turn, item.origin, item.origin_step, item.distance) for item in dependencies_of(recording)]


def spans(recording: Trace) -> list[str]:
    return [item.fact for item in dependencies_of(recording) if item.kind == "span"]


def forms(recording: Trace) -> list[tuple[str, str, str]]:
    return [(item.said, item.fact, item.form) for item in dependencies_of(recording)]


# ---------------------------------------------------------------- origin and distance


def test_who_said_it_first() -> None:
    recording = trace(
        SystemTurn(index=0, content="work in /srv/a.csv"),
        UserTurn(index=1, content="look at /data/b.csv"),
        result("471 rows", index=2),
        said(3, "I call it run_7"),
        said(4, "/srv/a.csv /data/b.csv 471 run_7"),
    )
    assert in_short(recording) == [
        ("/srv/a.csv", 4, "system", 0, 1),
        ("/data/b.csv", 4, "user", 1, 1),
        ("471", 4, "result", 2, 1),
        ("run_7", 4, "model", 3, 1),
    ]


# ---------------------------------------------------------------- forms


@pytest.mark.parametrize(
    ("told", "turn", "found"),
    [
        ("total 1,250.50 $", "it is 1250.5", [("1250.5", "1250.5", "verbatim")]),
        ("/data/run:\nx.h5ad", "open /data/run/x.h5ad", [("/data/run/x.h5ad", "x.h5ad", "composed")]),
        ("run/x.h5ad and x.h5ad", "open /data/run/x.h5ad", [("/data/run/x.h5ad", "run/x.h5ad", "composed")]),
        ("score 0.873214", "about 0.873", [("0.873", "0.873214", "rounded")]),
        ("0.8732 or 0.873214", "about 0.873", [("0.873", "0.873214", "rounded")]),  # the longest
        ("score 0.8732", "about 0.873", [("0.873", "0.8732", "rounded")]),
        ("score 999.7", "about 1000", []),  # as many digits: another number
        ("score 0.873214", "about 0.87", []),  # too few digits to be sure
        ("score 0.873214", "about 0.874", []),  # another number
        ("score 0.873214", "about 0.8732149", []),  # more digits than were told
        ("nothing", "open /data/x.h5ad", []),
    ],
)
def test_forms(told: str, turn: str, found: list[tuple[str, str, str]]) -> None:
    assert forms(trace(result(told, index=0), said(1, turn))) == found


def test_a_number_in_code_is_not_looked_for_rounded() -> None:
    recording = trace(result("score 0.873214", index=0), said(1, "```python\nlimit = 0.873\n```"))
    assert forms(recording) == []


def test_ends_of_paths_and_digits() -> None:
    assert suffixes("/data/x.h5ad") == ["data/x.h5ad", "x.h5ad"]
    assert suffixes("/data/plain") == ["data/plain"]  # `plain` alone means nothing
    assert suffixes("/data/a.b") == ["data/a.b"]  # three characters mean too much
    assert suffixes("/data/a.bc") == ["data/a.bc", "a.bc"]
    assert suffixes("x.h5ad") == suffixes("") == []  # a path is no end of itself
    assert suffixes("a//b_2/") == ["a/b_2"]
    assert [suffixes(f"/data/{end}")[1:] for end in ("run7", "run_a", "run-a")] == [["run7"], ["run_a"], ["run-a"]]
    long = "/".join(f"part{number}" for number in range(26))
    assert [len(suffixes(long)), suffixes(long)[0][:6]] == [24, "part2/"]  # of more all ends would be its square
    assert [significant(text) for text in ("0.0120", "1500", "1.5e-9", "0")] == [3, 4, 2, 0]


@pytest.mark.parametrize(
    ("steps", "origin", "step", "distance"),
    [
        ([UserTurn(index=0, content="score 0.873214"), said(1, "so"), said(2, "about 0.873")], "user", 0, 1),
        (
            [SystemTurn(index=0, content="0.873214"), result("0.873214", index=1), said(2, "about 0.873")],
            "system",
            0,
            0,
        ),
        ([result("0.873214", index=0), said(1, "0.873214"), said(2, "so"), said(3, "about 0.873")], "result", 0, 2),
    ],
)
def test_a_rounded_number_has_the_origin_and_distance_of_the_one_it_rounds(
    steps: list[AnyStep], origin: str, step: int, distance: int
) -> None:
    rounded = [item for item in dependencies_of(trace(*steps)) if item.form == "rounded"]
    assert [(item.origin, item.origin_step, item.distance) for item in rounded] == [(origin, step, distance)]


def test_an_exponent_that_no_number_has_is_rounded_by_none() -> None:
    assert forms(trace(result("id 12345e99999999999999999999 and 471.25", index=0), said(1, "it is 471.3"))) == [
        ("471.3", "471.25", "rounded")
    ]


# ---------------------------------------------------------------- copied spans


def test_a_run_of_words_is_a_copied_span() -> None:
    recording = trace(
        result("They found it at the bottom of the marianas trench in spring", index=0),
        said(1, "it lay at the Bottom of the Marianas  trench"),
    )
    assert "at the bottom of the marianas trench" in spans(recording)


def test_a_run_may_begin_within_one_that_says_nothing() -> None:
    recording = trace(
        result("it was in the of", index=0), result("of Marianas trench", index=1), said(2, "in the of marianas trench")
    )
    assert spans(recording) == ["of marianas trench"]


@pytest.mark.parametrize("turn", ["it is in the of", "marianas trench", "trench marianas the of bottom"])
def test_what_is_no_copied_span(turn: str) -> None:
    recording = trace(result("the bottom of the marianas trench it is in the of", index=0), said(1, turn))
    assert spans(recording) == []


def test_a_hexadecimal_number_is_said_without_its_prefix_too() -> None:
    recording = trace(result("pubkey: CE3205AEFBF19FB8", index=0), said(1, "I use 0xCE3205AEFBF19FB8 and 0xFFFF"))
    assert forms(recording) == [("0xCE3205AEFBF19FB8", "CE3205AEFBF19FB8", "composed")]


def test_a_program_that_the_system_prompt_describes_is_a_tool() -> None:
    """One that a result told of is none: the agent found it there."""

    def command(index: int, text: str) -> ModelTurn:
        call = ToolCall(id="c", name="bash", arguments={"command": text}, in_text=True)
        return said(index, f"```\n{text}\n```", tool_calls=(call,))

    recording = trace(
        SystemTurn(index=0, content="Use open_file and RsaTool.py; read notes_7 first."), command(1, "open_file notes_7"),
        result("there is get_flag.sh", index=2), command(3, "get_flag.sh --key notes_7"), command(4, "RsaTool.py"),
    )  # fmt: skip
    assert [(item.turn, item.fact) for item in dependencies_of(recording)] == [
        (1, "notes_7"),
        (3, "get_flag.sh"),
        (3, "notes_7"),
    ]


SPAN = "the bottom of the marianas trench expedition"


@pytest.mark.parametrize(
    ("later", "distance"),
    [
        ("Nothing new.", 2),
        ("Again: the bottom of the Marianas Trench expedition.", 0),
        ("Of the Marianas Trench nothing new.", 2),  # a part of it only
    ],
)
def test_a_span_is_as_far_as_the_message_that_said_all_of_it_last(later: str, distance: int) -> None:
    recording = trace(
        UserTurn(index=0, content="Find the bottom of the Marianas Trench expedition"), said(1, "Yes."), said(2, "Wait."),
        UserTurn(index=3, content=later), said(4, "I describe the bottom of the Marianas Trench expedition"),
    )  # fmt: skip
    found = [(item.fact, item.origin_step, item.distance) for item in dependencies_of(recording) if item.kind == "span"]
    assert found == [(SPAN, 0, distance)]


def test_the_paragraph_of_the_first_message_that_goes_furthest_is_followed() -> None:
    """A later message that goes further is not: how a table was written once more would then be part of what is needed."""
    first = UserTurn(index=0, content="the marianas trench\n\nthe marianas trench expedition")
    recording = trace(
        first,
        result("the marianas trench expedition of Piccard", index=1),
        said(2, "the marianas trench expedition of Piccard"),
    )
    assert spans(recording) == ["the marianas trench expedition"]


@pytest.mark.parametrize("padding", [0, 2000])
def test_a_span_ends_with_its_paragraph_however_long_the_text_is(padding: int) -> None:
    """Short texts are looked through as a whole and long ones by paragraph: what they hold must not depend on it."""
    text = f"Seamless conversion of semantic conventions\n\nReal-time trace collection\n\n{'x ' * padding}"
    turn = said(1, "Seamless conversion of semantic conventions, real-time trace collection")
    recording = trace(UserTurn(index=0, content=text), turn)
    assert spans(recording) == [
        "seamless conversion of semantic conventions", "real time trace collection",
    ]  # fmt: skip


def test_what_an_agent_said_itself_is_no_copied_span() -> None:
    recording = trace(said(0, "let me compare several wooden walls"), said(1, "let me compare several wooden walls"))
    assert dependencies_of(recording) == ()


# ---------------------------------------------------------------- what only looks like it


def test_habits_are_none() -> None:
    ledger = [said(number, "ledger_v2: nothing new") for number in range(8)]
    assert in_short(trace(*ledger)) == in_short(trace(*ledger[:4])) == []
    assert [item[1] for item in in_short(trace(*ledger[:3]))] == [1, 2]  # three turns tell of no habit
    told = trace(UserTurn(index=0, content="use ledger_v2"), *(said(number + 1, "ledger_v2") for number in range(3)))
    assert [item[0] for item in in_short(told)] == ["ledger_v2"] * 3  # somebody else's word


PATH = {"type": "object", "properties": {"file_path": {"type": "string"}}}


@pytest.mark.parametrize(
    "tools",
    [
        ({"name": "read_file", "parameters": PATH},),
        ({"functions": [{"name": "read_file", "parameters": {"anyOf": [[PATH], {"type": "null"}]}}]},),
        (),  # not declared, but called
    ],
)
def test_names_of_tools_and_parameters_are_none(tools: tuple[dict[str, object], ...]) -> None:
    call = ToolCall(id="c", name="read_file", arguments={"file_path": "x"})
    recording = trace(
        ToolsChanged(index=0, tools=tools),
        UserTurn(index=1, content="use read_file with file_path and run_7"),
        said(2, "read_file takes file_path, run_7", tool_calls=() if tools else (call,)),
    )
    assert [item[0] for item in in_short(recording)] == ["run_7"]


def test_names_in_code_that_the_agent_made_up_are_none() -> None:
    code = "```python\nmy_frame = load('a')\n```"
    assert in_short(trace(said(0, code), said(1, code))) == []
    theirs = trace(result("my_frame", index=0), said(1, code))
    assert [item[0] for item in in_short(theirs)] == ["my_frame"]


def test_arguments_count_unless_the_text_already_holds_them() -> None:
    in_text = ToolCall(id="d", name="bash", arguments={"command": "cat /data/b.csv"}, in_text=True)
    recording = trace(
        result("/data/a.csv /data/b.csv 4711", index=0),
        called(1, path="/data/a.csv", count=4711),
        ModelTurn(index=2, content="nothing here", tool_calls=(in_text,)),
    )
    assert [(item[0], item[1]) for item in in_short(recording)] == [("/data/a.csv", 1), ("4711", 1)]


# ---------------------------------------------------------------- the slow way


def check(recording: Trace) -> None:
    ours = [
        (item.turn, item.fact, item.said, item.kind, item.form, item.origin, item.origin_step, item.distance)
        for item in dependencies_of(recording)
    ]
    assert ours == [tuple(item) for item in dependencies(recording, COMMON_WORDS)]
    for item in dependencies_of(recording):
        assert item.turn_number == sum(
            turn.thread == item.thread and turn.index < item.turn for turn in recording.model_turns
        )


@given(traces(extras=True))
def test_as_looking_through_everything(recording: Trace) -> None:
    check(recording)


WORDS = ("bottom", "of", "the", "marianas", "trench", "in", "470.25", "470.3", "471", "/data/run_7/x.csv", "x.csv", "run_7",
         "Pietro", "Murano", "was", "execute:", "```", "my_frame", "'so it is'", "ValueError:", "no", "0.8735", "0.87", "0.874")  # fmt: skip
TEXTS = st.lists(st.sampled_from((*WORDS, "\n", ". ")), max_size=14).map(" ".join)


@st.composite
def talks(draw: st.DrawFn) -> Trace:
    """Steps of two threads whose words are few, so that much of what turns say was said before."""
    steps: list[AnyStep] = []
    for index in range(draw(st.integers(2, 9))):
        thread = draw(st.sampled_from(("main", "main", "main", "other")))
        kind, text = draw(st.sampled_from(("user", "model", "model", "call", "result"))), draw(TEXTS)
        if kind == "user":
            steps.append(UserTurn(index=index, thread=thread, content=text))
        elif kind == "result":
            steps.append(result(text, index=index, thread=thread))
        else:
            call = ToolCall(id=f"c{index}", name="run", arguments={"x.csv": [text, 470.25, True], "run_7": None})
            calls = (call,) if kind == "call" else ()
            steps.append(ModelTurn(index=index, thread=thread, content=draw(TEXTS), tool_calls=calls))
    return trace(*steps)


@given(talks())
def test_as_looking_through_everything_where_much_is_said_again(recording: Trace) -> None:
    check(recording)


@pytest.mark.parametrize("name", SMALL)
def test_as_looking_through_everything_on_traces_written_by_hand(name: str) -> None:
    check(SMALL[name])


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["building_model/survey.jsonl", "building_model/faults.jsonl", "analysis/aborted.jsonl"]
)
def test_as_looking_through_everything_on_recorded_runs(name: str) -> None:
    for recording in load([str(Path(__file__).parents[2] / "traces" / name)]).traces:
        assert dependencies_of(recording), "a run without any would show nothing"
        check(recording)


def test_as_looking_through_everything_on_a_recorded_group_chat(shared_traces: Path) -> None:
    for recording in load([str(shared_traces / "who-and-when" / "Hand-Crafted" / "12.json")]).traces:
        check(recording)


def test_a_ledger_is_what_its_turn_says() -> None:
    ledger = {"next_speaker": {"reason": "survey_12.csv was found, WebSurfer goes on", "answer": "WebSurfer"}}
    steps = (
        UserTurn(index=0, content="Look for the survey."),
        ToolResult(index=1, call_id="a", function="f", seen="found survey_12.csv"),
        RouteDecision(index=2, at="before_model", router="ledger", taken="next", state={"ledger": ledger}),
        ModelTurn(index=3, content="Open it."),
        ModelTurn(index=4, content="Done."),
    )
    assert [(item.turn, item.fact) for item in dependencies_of(trace(*steps))] == [(3, "survey_12.csv")]
